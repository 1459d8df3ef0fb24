#include "sink/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "file/anchor.h"

namespace tracewright {

namespace {

// One write at a time, so that a producer which waits for room gets it in steps.
constexpr uint64_t kWriteBytes = 1 << 20;

bool write_at(int fd, const uint8_t* bytes, size_t count, uint64_t offset) {
  while (count > 0) {
    const ssize_t written =
        pwrite(fd, bytes, std::min<size_t>(count, 1 << 30), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes += written;
    offset += static_cast<uint64_t>(written);
    count -= static_cast<size_t>(written);
  }
  return true;
}

// Whether the file, or its directory, was removed: what is written to it now
// nobody will ever read.
bool was_removed(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && about.st_nlink == 0;
}

// Takes a plain file's name away, never what it holds: that may have another name, or readers. What
// else is there stays: a pipe, a device, a link.
bool remove_file(const std::string& path) {
  struct stat about {};
  if (status_of(path, &about) != 0 || !S_ISREG(about.st_mode)) return true;
  return unlink_file(path) == 0 || errno == ENOENT;
}

FileDescriptor create_file(const std::string& path, const std::string& preamble, bool replace,
                           mode_t mode, Failure* failure) {
  FileDescriptor fd;
  if (replace && !remove_file(path)) {
    failure->set("replace", path);
    return fd;
  }
  fd = FileDescriptor(open_file(path, O_WRONLY | O_CREAT | O_EXCL, mode));
  if (!fd) {
    failure->set("create", path);
    return fd;
  }
  if (!write_at(fd.get(), reinterpret_cast<const uint8_t*>(preamble.data()), preamble.size(), 0)) {
    failure->set("write", path);
    unlink_file(path);
    fd.reset();
  }
  return fd;
}

#if defined(TRACEWRIGHT_FAULT_TAIL_BEFORE_WRITE)
// Wrong on purpose: npm run torture -- --fault must find it. A thread can be preempted between any
// two lines; here it always is, so that a few kills are enough to meet the moment.
void release_too_early(Ring& ring, uint64_t to) {
  ring.release(to);
  usleep(200);
}
#endif

}  // namespace

std::shared_ptr<OwnFileSink> OwnFileSink::create(const std::string& path,
                                                 const std::string& preamble, Failure* failure,
                                                 mode_t mode) {
  FileDescriptor fd = create_file(path, preamble, false, mode, failure);
  if (!fd) return nullptr;
  std::shared_ptr<OwnFileSink> sink(new (std::nothrow) OwnFileSink());
  if (!sink) return nullptr;
  sink->identity_ = FileIdentity(fd.get());
  sink->fd_ = std::move(fd);
  sink->path_ = path;
  sink->base_ = preamble.size();
  return sink;
}

bool OwnFileSink::in_place() const {
  return identity_.lies_at(path_);
}

bool OwnFileSink::drain(Ring& ring, uint64_t to) {
  uint64_t from = ring.tail();
  if (from < to && was_removed(fd_.get())) {
    Failure failure;
    failure.set("write", path_, ENOENT);
    fail(failure);
    return false;
  }
  while (from < to) {
    const uint64_t bytes = std::min(to - from, kWriteBytes);
#if defined(TRACEWRIGHT_FAULT_TAIL_BEFORE_WRITE)
    release_too_early(ring, from + bytes);
#endif
    if (!write_at(fd_.get(), ring.at(from), bytes, base_ + from)) {
      Failure failure;
      failure.set("write", path_);
      fail(failure);
      return false;
    }
    from += bytes;
    // First: a producer that has got room must find that the budget is spent, if it is.
    count_bytes(bytes);
    // Only what is in the file is released: a kill between the two loses nothing.
    ring.release(from);
  }
  recovered();
  return true;
}

bool OwnFileSink::append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
                         size_t body_bytes, Failure* failure) {
  const uint64_t offset = base_ + ring.tail();
  ControlPage& control = ring.control();
  control.claim_behind(ring.tail(), head_bytes + body_bytes);
  if (!write_at(fd_.get(), head, head_bytes, offset) ||
      !write_at(fd_.get(), body, body_bytes, offset + head_bytes)) {
    failure->set("write", path_);
    fail(*failure);
    // Half a record must not remain after the last whole one.
    if (ftruncate(fd_.get(), static_cast<off_t>(offset)) == 0) {
      control.claim_to.store(0, std::memory_order_release);
    } else {
      failure->action += " (cut short)";
    }
    return false;
  }
  counts_.bytes.fetch_add(head_bytes + body_bytes, std::memory_order_relaxed);
  recovered();
  return true;
}

std::shared_ptr<SharedFileSink> SharedFileSink::create(const std::string& path,
                                                       const std::string& preamble, bool replace,
                                                       const SizeLimits& limits, Failure* failure,
                                                       mode_t mode) {
  std::shared_ptr<SharedFileSink> sink(new (std::nothrow) SharedFileSink());
  if (!sink) {
    failure->set("allocate", "a sink", ENOMEM);
    return nullptr;
  }
  sink->limits_ = limits;
  sink->preamble_ = preamble;
  if (limits.rotate_bytes > 0) {
    sink->series_ = std::make_unique<PieceSeries>(limits.pieces, mode);
    if (limits.keep_bytes > 0) {
      sink->series_->shrink_others_to(limits.keep_bytes - limits.rotate_bytes, UINT64_MAX);
    }
    sink->piece_ = sink->series_->create_next(preamble, failure);
  } else {
    FileDescriptor fd = create_file(path, preamble, replace, mode, failure);
    if (fd) {
      sink->piece_ = std::make_shared<FilePiece>();
      sink->piece_->fd = std::move(fd);
      sink->piece_->path = path;
    }
  }
  if (!sink->piece_) return nullptr;
  sink->number_.store(sink->piece_->number);
  sink->end_ = preamble.size();
  sink->piece_begin_ = sink->end_;
  sink->counts_.bytes.fetch_add(preamble.size(), std::memory_order_relaxed);
  return sink;
}

// Deletes pieces, the oldest first, until there is room for `bytes` next to all but the last; under
// the lock.
bool SharedFileSink::make_room_beside(uint64_t bytes) {
  if (limits_.keep_bytes == 0) return true;
  const uint64_t rest = limits_.keep_bytes - std::min(limits_.keep_bytes, bytes);
  const bool shrunk = series_->shrink_others_to(rest, piece_->number);
  counts_.deleted_records.store(series_->removed_records(), std::memory_order_relaxed);
  return shrunk && bytes <= limits_.keep_bytes;
}

// Where `bytes` can go in one place, under the lock: in the last piece, or in a new one.
bool SharedFileSink::take_place(uint64_t bytes, Failure* failure) {
  const bool removed = was_removed(piece_->fd.get());
  if (!series_) {
    if (removed) failure->set("write", piece_->path, ENOENT);
    return !removed;
  }
  const bool full = end_ + bytes > limits_.rotate_bytes && !is_empty();
  if (!full && !removed) return true;
  const uint64_t next_bytes = std::max(limits_.rotate_bytes, preamble_.size() + bytes);
  const bool shrunk = make_room_beside(end_ + next_bytes);
  shrink_again_.store(!shrunk, std::memory_order_relaxed);
  auto next = series_->create_next(preamble_, failure);
  if (!next) {
    // Where no descriptor is left, say, the piece goes on beyond its size, as far as the budget
    // allows.
    return !removed && make_room_beside(end_ + bytes);
  }
  piece_ = std::move(next);
  end_ = preamble_.size();
  piece_begin_ = end_;
  counts_.bytes.fetch_add(preamble_.size(), std::memory_order_relaxed);
  number_.store(piece_->number, std::memory_order_release);
  return true;
}

// Makes the ring one of the last piece, under the lock. It has nothing on the way to an earlier
// one.
bool SharedFileSink::go_along(Ring& ring, Failure* failure) {
  if (ring.piece() == piece_) return true;
  // Its last place was one of the earlier piece. Recovery takes a place for one of the ring's file.
  ControlPage& control = ring.control();
  if (control.claim_to.load(std::memory_order_relaxed) <= ring.tail()) {
    control.claim_offset.store(0, std::memory_order_release);
  }
  if (series_ && ring.options().target != piece_->path &&
      !ring.move_to(series_->ring_path_of(ring.first_path(), piece_->number), piece_->path)) {
    failure->set("rename the ring of", piece_->path);
    return false;
  }
  if (series_) ring.ask_for_file();
  ring.note_target(FileIdentity(piece_->fd.get()));
  ring.set_piece(piece_);
  return true;
}

bool SharedFileSink::drain(Ring& ring, uint64_t to) {
  ControlPage& control = ring.control();
  Failure failure;
  while (ring.tail() < to) {
    const uint64_t tail = ring.tail();
    uint64_t claimed_to = control.claim_to.load(std::memory_order_relaxed);
    // A place that was taken and could not be filled is filled first: nobody else will.
    if (claimed_to <= tail) {
      claimed_to = to;
      std::lock_guard<std::mutex> lock(end_lock_);
      if (!take_place(to - tail, &failure) || !go_along(ring, &failure)) {
        fail(failure);
        return false;
      }
      control.claim_offset.store(end_, std::memory_order_relaxed);
      end_ += to - tail;
      control.claim_from.store(tail, std::memory_order_relaxed);
      control.claim_to.store(to, std::memory_order_release);
    }
    const uint64_t bytes = claimed_to - tail;
    const uint64_t offset = control.claim_offset.load(std::memory_order_relaxed);
#if defined(TRACEWRIGHT_FAULT_TAIL_BEFORE_WRITE)
    release_too_early(ring, claimed_to);
#endif
    const FilePiece& piece = *ring.piece();
    if (!write_at(piece.fd.get(), ring.at(tail), bytes, offset)) {
      failure.set("write", piece.path);
      fail(failure);
      return false;
    }
    const uint64_t records = ring.count_records(tail, claimed_to);
    // Before the release, as above.
    count_bytes(bytes);
    ring.release(claimed_to);
    count_records(piece, records);
  }
  recovered();
  return true;
}

void SharedFileSink::locate(RingOptions* options) {
  std::lock_guard<std::mutex> lock(end_lock_);
  options->target_identity = FileIdentity(piece_->fd.get());
  if (!series_) return;
  options->target = piece_->path;
  options->path = series_->ring_path_of(options->path, piece_->number);
}

void SharedFileSink::follow(Ring& ring) {
  if (!series_) return;
  const auto& piece = ring.piece();
  if (piece && piece->number == number_.load(std::memory_order_acquire)) return;
  ControlPage& control = ring.control();
  if (control.claim_to.load(std::memory_order_relaxed) > ring.tail()) return;
  std::lock_guard<std::mutex> lock(end_lock_);
  Failure failure;
  go_along(ring, &failure);
}

void SharedFileSink::tick(uint64_t) {
  if (!shrink_again_.load(std::memory_order_relaxed)) return;
  std::lock_guard<std::mutex> lock(end_lock_);
  const bool shrunk = make_room_beside(std::max(limits_.rotate_bytes, end_));
  shrink_again_.store(!shrunk, std::memory_order_relaxed);
}

void SharedFileSink::discard_unused() {
  std::lock_guard<std::mutex> lock(end_lock_);
  if (is_empty()) unlink_file(piece_->path);
}

void SharedFileSink::extend_preamble(const std::string& packets) {
  std::lock_guard<std::mutex> lock(end_lock_);
  preamble_ += packets;
}

bool SharedFileSink::may_take_more() const {
  std::lock_guard<std::mutex> lock(end_lock_);
  // A series goes on with its next piece.
  return series_ != nullptr || !was_removed(piece_->fd.get());
}

void SharedFileSink::leave(Ring& ring) {
  counts_.lost_records.fetch_add(ring.count_records(ring.tail(), ring.head()),
                                 std::memory_order_relaxed);
}

bool SharedFileSink::append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
                            size_t body_bytes, Failure* failure) {
  ControlPage& control = ring.control();
  const uint64_t bytes = head_bytes + body_bytes;
  std::lock_guard<std::mutex> lock(end_lock_);
  const bool bounded = limits_.keep_bytes > 0;
  const auto too_long = [&] {
    failure->set("write a record of", std::to_string(bytes) + " bytes within the budget", EDQUOT);
    return false;
  };
  if (bounded && preamble_.size() + bytes > limits_.keep_bytes) return too_long();
  if (!take_place(bytes, failure) || !go_along(ring, failure)) {
    fail(*failure);
    return false;
  }
  // Longer than a piece: now that this ring has gone along, its last piece may go, too.
  if (bounded && end_ + bytes > limits_.rotate_bytes && !make_room_beside(end_ + bytes)) {
    return too_long();
  }
  // A claim of nothing: should the process die here, recovery cuts the file at this place.
  control.claim_offset.store(end_, std::memory_order_relaxed);
  control.claim_from.store(ring.tail(), std::memory_order_relaxed);
  control.claim_to.store(ring.tail(), std::memory_order_release);
  const int fd = piece_->fd.get();
  if (!write_at(fd, head, head_bytes, end_) || !write_at(fd, body, body_bytes, end_ + head_bytes)) {
    failure->set("write", piece_->path);
    fail(*failure);
    // No other ring has a later place.
    if (ftruncate(fd, static_cast<off_t>(end_)) != 0) failure->action += " (cut short)";
    control.claim_offset.store(0, std::memory_order_release);
    return false;
  }
  control.claim_offset.store(0, std::memory_order_release);
  end_ += bytes;
  count_records(*piece_, 1);
  counts_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  recovered();
  return true;
}

bool SharedFileSink::append_open(Ring& ring, uint64_t end, const OpenRecords::Closed& closed) {
  ControlPage& control = ring.control();
  const uint64_t bytes = closed.bytes.size();
  Failure failure;
  // A place that was taken and could not be filled is filled first, as above.
  if (control.claim_to.load(std::memory_order_relaxed) <= end) {
    std::lock_guard<std::mutex> lock(end_lock_);
    if (!take_place(bytes, &failure) || !go_along(ring, &failure)) {
      fail(failure);
      return false;
    }
    control.claim_offset.store(end_, std::memory_order_relaxed);
    end_ += bytes;
    control.claim_from.store(end, std::memory_order_relaxed);
    control.claim_to.store(end + bytes, std::memory_order_release);
  }
  const FilePiece& piece = *ring.piece();
  const uint64_t offset = control.claim_offset.load(std::memory_order_relaxed);
  if (!write_at(piece.fd.get(), closed.bytes.data(), bytes, offset)) {
    failure.set("write", piece.path);
    fail(failure);
    return false;
  }
  count_bytes(bytes);
  count_records(piece, closed.records);
  recovered();
  return true;
}

}  // namespace tracewright
