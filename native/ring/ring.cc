#include "ring/ring.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>

#include "drain/drain_thread.h"
#include "file/anchor.h"
#include "file/file_descriptor.h"
#include "process/process_end.h"
#include "process/process_identity.h"
#include "ring/big_endian_words.h"
#include "sink/sink.h"

namespace tracewright {

namespace {

// For who looks at a ring in the very moment in which it is made.
constexpr uint64_t kHoldLimitNs = 100000000;
constexpr useconds_t kHoldAgainUs = 500;
// Should the signal not end the process after all.
constexpr unsigned kLongestEndSeconds = 3;
// What a socket gets at least for the records that are open at its end.
constexpr uint64_t kShortestSendNs = 20000000;
constexpr useconds_t kSendAgainUs = 1000;

size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// For file systems that cannot allocate ahead.
bool write_zeros(int fd, size_t from, size_t to) {
  static const char zeros[1 << 16] = {};
  while (from < to) {
    const ssize_t written =
        pwrite(fd, zeros, std::min(to - from, sizeof zeros), static_cast<off_t>(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += static_cast<size_t>(written);
  }
  return true;
}

std::atomic<bool> pages_late{false};

// Allocates the blocks of [from, to) for real: a full disk must be found here, not by a fault in
// the middle of a record.
bool allocate(int fd, size_t from, size_t to) {
  if (from == to) return true;
#if defined(__APPLE__)
  fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, static_cast<off_t>(to - from), 0};
  if (fcntl(fd, F_PREALLOCATE, &store) == -1) {
    return errno == ENOTSUP && write_zeros(fd, from, to);
  }
  return ftruncate(fd, static_cast<off_t>(to)) == 0;
#else
  int error;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (error == EINTR);
  if (error == 0) return true;
  errno = error;
  // glibc does the same by itself, musl does not.
  return (error == EOPNOTSUPP || error == EINVAL) && write_zeros(fd, from, to);
#endif
}

FileDescriptor anonymous_file() {
#if defined(__linux__)
  return FileDescriptor(memfd_create("tracewright-ring", MFD_CLOEXEC));
#else
  char path[] = "/tmp/tracewright-ring-XXXXXX";
  FileDescriptor fd(mkstemp(path));
  if (fd) unlink(path);
  return fd;
#endif
}

// Writes which process owns the ring, at its place in a file that has nothing else yet.
bool write_identity(int fd) {
  const ProcessIdentity& identity = ProcessIdentity::current();
  char boot_id[sizeof ControlPage::boot_id] = {};
  std::memcpy(boot_id, identity.boot_id.c_str(),
              std::min(identity.boot_id.size(), sizeof boot_id - 1));
  char bytes[sizeof identity.pid + sizeof identity.start + sizeof boot_id];
  static_assert(offsetof(ControlPage, boot_id) - offsetof(ControlPage, pid) ==
                sizeof bytes - sizeof boot_id);
  std::memcpy(bytes, &identity.pid, sizeof identity.pid);
  std::memcpy(bytes + sizeof identity.pid, &identity.start, sizeof identity.start);
  std::memcpy(bytes + sizeof bytes - sizeof boot_id, boot_id, sizeof boot_id);
  return pwrite(fd, bytes, sizeof bytes, offsetof(ControlPage, pid)) == sizeof bytes;
}

// A new file that says whose it is from the moment at which it has a name, where the file system
// can: a process may die before its ring is ready, and what it leaves then must be nobody's.
FileDescriptor named_file(const std::string& path) {
  const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
#if defined(O_TMPFILE)
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const Place place(path);
  FileDescriptor nameless(open_file(directory + ".", flags | O_TMPFILE, 0600));
  if (nameless && write_identity(nameless.get())) {
    Ring::hold(nameless.get());
    const std::string self = "/proc/self/fd/" + std::to_string(nameless.get());
    if (linkat(AT_FDCWD, self.c_str(), place.directory(), place.name(), AT_SYMLINK_FOLLOW) == 0) {
      return nameless;
    }
  }
#endif
  FileDescriptor fd(open_file(path, flags | O_CREAT | O_EXCL, 0600));
  if (fd && !write_identity(fd.get())) {
    const int error = errno;
    unlink_file(path);
    fd.reset();
    errno = error;
  }
  if (fd) Ring::hold(fd.get());
  return fd;
}

bool may_have_open_records(const RingOptions& options) {
  const OpenRecordOptions& open = options.open_records;
  if (open.places == 0) return true;
  return options.target_kind != TargetKind::own_file && open.places <= OpenRecords::kMostPlaces &&
         open.most <= OpenRecords::kMostPlaces && open.longest <= OpenRecords::kLongest &&
         OpenRecords::bytes(open, open.places) <= options.capacity &&
         OpenRecords::most_bytes(open) <= 2 * options.capacity;
}

uint32_t big_endian_at(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  value = __builtin_bswap32(value);
#endif
  return value;
}

// On a producing thread whose traces the drain thread completes: it has nothing to add to them.
void wait_for_process_end() {
  sleep(kLongestEndSeconds);
}

template <size_t kBytes>
void copy_text(char (&to)[kBytes], const std::string& from) {
  const size_t bytes = std::min(from.size(), kBytes - 1);
  std::memcpy(to, from.data(), bytes);
  to[bytes] = '\0';
}

}  // namespace

std::shared_ptr<Ring> Ring::open(const RingOptions& wanted, std::shared_ptr<Sink> sink,
                                 Failure* failure) {
  std::shared_ptr<Ring> ring(new (std::nothrow) Ring());
  if (!ring) {
    failure->set("allocate", "a ring", ENOMEM);
    return nullptr;
  }
  ring->options_ = wanted;
  ring->first_path_ = wanted.path;
  ring->sink_ = std::move(sink);
  ring->sink_->place(&ring->options_);
  const RingOptions& options = ring->options_;
  ring->capacity_ = options.capacity;
  ring->mask_ = options.capacity - 1;
  if (!may_have_open_records(options)) {
    failure->set("open", "a table of open records", EINVAL);
    return nullptr;
  }
  if (!ring->map(failure)) return nullptr;

  ControlPage& control = *ring->control_;
  control.version = options.waiting_capacity == 0 ? kRingVersion : kWaitingRingVersion;
  control.control_bytes = static_cast<uint32_t>(ring->control_bytes_);
  control.capacity = ring->capacity_;
  copy_text(control.format, options.format);
  control.target_kind = options.target_kind;
  control.base_offset = options.base_offset;
  ring->stamp_.open(options, &control);
  ring->open_.open(options.open_records, &control, ring->mapping() + kControlBytes);
  const ProcessIdentity& identity = ProcessIdentity::current();
  control.pid = identity.pid;
  control.process_start = identity.start;
  copy_text(control.boot_id, identity.boot_id);
  copy_text(control.target, options.target);
  ring->note_target(options.target_identity);
  copy_text(control.finish_from, options.finish_from);
  copy_text(control.finish_to, options.finish_to);
  ring->wake_at_next_commit();
  // Last: a ring whose process died before this line has nothing to recover.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(control.magic, kRingMagic, sizeof control.magic);
  if (!DrainThread::instance().add(ring)) {
    failure->set("start", "the drain thread");
    if (!options.path.empty()) unlink_file(options.path);
    return nullptr;
  }
  if (TargetGroup* const group = ring->sink_->group()) group->reserve(options.capacity);
  return ring;
}

std::shared_ptr<Ring> Ring::open_waiting(const std::shared_ptr<Ring>& feeds) {
  if (feeds->waiting_ == nullptr || feeds->finished()) return nullptr;
  std::shared_ptr<Ring> ring(new (std::nothrow) Ring());
  if (!ring) return nullptr;
  ring->options_ = feeds->options_;
  ring->options_.path.clear();
  ring->options_.waiting_capacity = 0;
  ring->sink_ = feeds->sink_;
  ring->feeds_ = feeds;
  ring->capacity_ = feeds->options_.waiting_capacity;
  ring->mask_ = ring->capacity_ - 1;
  ring->control_ = reinterpret_cast<ControlPage*>(feeds->waiting_);
  ring->control_bytes_ = waiting_front(feeds->options_.waiting_groups);
  ring->data_ = ring->mapping() + ring->control_bytes_;
  ring->stamp_.open(ring->options_, ring->control_);
  ring->open_.share(feeds->open_);
  ring->set_wake_at(UINT64_MAX);
  ring->retired_ = true;
  return ring;
}

bool Ring::move_to(const std::string& path, const std::string& target) {
  // A missing file is no reason to stop: the ring was removed, and recovery cannot find it.
  if (has_file() && rename_file(options_.path, path) != 0 && errno != ENOENT) {
    return false;
  }
  options_.path = path;
  // A kill from here on finds no file that goes with the wrong path.
  note_target({});
  // A ring that lies elsewhere is found by what it says here. The paths of two pieces differ in a
  // few digits, which one store of eight bytes replaces: a kill finds the old path or the new one.
  char* const stated = control_->target;
  const size_t bytes = std::min(target.size() + 1, kPathBytes - 8);
  size_t at = 0;
  while (at < bytes && stated[at] == target.c_str()[at]) ++at;
  for (; at < bytes; at += 8) {
    char word[8] = {};
    std::memcpy(word, target.c_str() + at,
                std::min<size_t>(8, target.size() - std::min(target.size(), at)));
    std::memcpy(stated + at, word, sizeof word);
  }
  options_.target = target;
  return true;
}

void Ring::note_target(const FileIdentity& identity) {
  // A kill finds the whole of one or none: the number says that there is one.
  control_->target_inode.store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  control_->target_born.store(identity.born(), std::memory_order_release);
  control_->target_inode.store(identity.inode(), std::memory_order_release);
}

void Ring::follow() {
  std::unique_lock<std::mutex> lock(consumer_, std::try_to_lock);
  if (lock && !retired_) sink_->follow(*this);
}

void Ring::map_pages_late() {
  pages_late = true;
}

bool Ring::map(Failure* failure) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  control_bytes_ = round_up(kControlBytes + OpenRecords::most_bytes(options_.open_records), page);
  const size_t front = table_end(options_.open_records.places);
  const size_t waiting_at = control_bytes_;
  control_bytes_ += waiting_bytes();
  const size_t file_bytes = control_bytes_ + capacity_;
  const std::string name = options_.path.empty() ? "anonymous memory" : options_.path;
  FileDescriptor fd = options_.path.empty() ? anonymous_file() : named_file(options_.path);
  if (!fd) {
    failure->set("create the ring", name);
    return false;
  }
  if (!allocate(fd.get(), 0, front) || !allocate(fd.get(), waiting_at, file_bytes)) {
    failure->set("allocate the ring", name);
    if (!options_.path.empty()) unlink_file(options_.path);
    return false;
  }
  // Reserve the whole range first, then lay the file over it: control page, data, data again.
  void* const place = mmap(nullptr, mapping_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint8_t* const base = static_cast<uint8_t*>(place);
  const auto lay = [&](size_t at, size_t bytes, size_t from, int more) {
    return bytes == 0 ||
           mmap(base + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | more, fd.get(),
                static_cast<off_t>(from)) != MAP_FAILED;
  };
  int now = 0;
#if defined(MAP_POPULATE)
  if (!pages_late) now = MAP_POPULATE;  // page faults now rather than under the first events
#endif
  // What the table may grow to has no blocks yet.
  if (place == MAP_FAILED || !lay(0, front, 0, now) ||
      !lay(front, control_bytes_ - front, front, 0) ||
      !lay(control_bytes_, capacity_, control_bytes_, now) ||
      !lay(file_bytes, capacity_, control_bytes_, now)) {
    failure->set("map the ring", name);
    if (place != MAP_FAILED) munmap(place, mapping_bytes());
    if (!options_.path.empty()) unlink_file(options_.path);
    return false;
  }
  identity_ = FileIdentity(fd.get());
  // A new file is all zeros but for the identity, which must not be away for a moment.
  control_ = reinterpret_cast<ControlPage*>(base);
  data_ = base + control_bytes_;
  if (options_.waiting_capacity == 0) return true;
  control_->waiting_at = waiting_at;
  control_->waiting_capacity = options_.waiting_capacity;
  control_->waiting_groups = options_.waiting_groups;
  control_->group_at = options_.group_at;
  if (map_waiting(fd.get())) return true;
  failure->set("map the ring", name);
  if (!options_.path.empty()) unlink_file(options_.path);
  return false;
}

// Their pages come with their first use.
bool Ring::map_waiting(int fd) {
  const size_t front = waiting_front(options_.waiting_groups);
  const size_t capacity = options_.waiting_capacity;
  void* const place =
      mmap(nullptr, front + 2 * capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return false;
  uint8_t* const base = static_cast<uint8_t*>(place);
  const auto lay = [&](size_t at, size_t bytes, size_t from) {
    return mmap(base + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                static_cast<off_t>(control_->waiting_at + from)) != MAP_FAILED;
  };
  waiting_ = base;
  return lay(0, front + capacity, 0) && lay(front + capacity, capacity, front);
}

size_t Ring::table_end(uint32_t places) const {
#if defined(__APPLE__)
  // It allocates at the end of a file only, so all of the table has its blocks from the start.
  static_cast<void>(places);
  return control_bytes_;
#else
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return round_up(kControlBytes + OpenRecords::bytes(options_.open_records, places), page);
#endif
}

bool Ring::allocate_table(uint32_t places) {
  const size_t from = table_end(open_.places());
  const size_t to = table_end(places);
  // Anonymous memory comes with its first use.
  if (from == to || options_.path.empty()) return true;
  // The ring holds no descriptor: a process may have few.
  const FileDescriptor fd(open_file(options_.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return fd && FileIdentity(fd.get()) == identity_ && allocate(fd.get(), from, to);
}

uint32_t Ring::grow_open_records() {
  // The drain thread may be moving the file.
  std::lock_guard<std::mutex> lock(consumer_);
  const uint32_t next = open_.next_places();
  if (!finished() && next > open_.places() && allocate_table(next)) open_.grow(next);
  return open_.places();
}

void Ring::hold(int fd) {
  const uint64_t limit = Clock::monotonic() + kHoldLimitNs;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    // A recovery that looks whether it is held has it for an instant.
    if (errno == EWOULDBLOCK && Clock::monotonic() < limit) {
      usleep(kHoldAgainUs);
    } else if (errno != EINTR) {
      return;
    }
  }
}

bool Ring::is_held(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

Ring* Ring::closed_ring() {
  static Ring* const ring = [] {
    Ring* closed = new Ring();
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    closed->capacity_ = page;
    closed->mask_ = 0;  // every record lands at the start of the page
    closed->control_bytes_ = round_up(kControlBytes, page);
    // Without a file, so that a process without a descriptor left has it too.
    void* const place = mmap(nullptr, closed->mapping_bytes(), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Without the mapping there is nowhere to be harmless.
    if (place == MAP_FAILED) std::abort();
    closed->control_ = new (place) ControlPage();
    closed->stamp_.open({}, closed->control_);
    closed->data_ = closed->mapping() + closed->control_bytes_;
    closed->set_wake_at(UINT64_MAX);
    closed->finished_.store(true);
    closed->retired_ = true;
    return closed;
  }();
  return ring;
}

Ring::~Ring() {
  if (waits()) return;
  if (control_ != nullptr) munmap(control_, mapping_bytes());
  if (waiting_ != nullptr) munmap(waiting_, waiting_bytes() + options_.waiting_capacity);
}

void Ring::put_words() {
  const auto at = static_cast<uint32_t>(control_->words_at);
  const auto count = static_cast<uint32_t>(control_->words);
  const size_t from = (size_t{at} + 3) & ~size_t{3};
  // JavaScript's mistake must not become the service's.
  if (from + size_t{count} * sizeof(uint32_t) > 2 * capacity_) return;
  put_big_endian_words(data_ + at, data_ + from, count);
}

bool Ring::commit_explicit(uint32_t last_record) {
  const uint8_t* const first = data_ + (head_ & mask_);
  if (!stamp_.is_in_order(stamp_.of(first))) {
    // After the epilogue of a stream that has been finished meanwhile it is only too late.
    return finished();
  }
  stamp_.note_last(stamp_.of(first + last_record));
  publish(static_cast<uint32_t>(control_->pending));
  return true;
}

bool Ring::put_preface(const uint8_t* record, uint32_t bytes) {
  const size_t size = stamp_.preface_bytes();
  // Later records mean something else without it, so it goes out whatever the policy.
  if (free_bytes() < size + bytes) drain();
  if (free_bytes() < size + bytes || sink_->spent()) return false;
  uint8_t* const at = data_ + (head_ & mask_);
  std::memmove(at + size, at, bytes);
  stamp_.write_preface(at, bytes == 0 ? record : at + size);
  publish(static_cast<uint32_t>(size));
  return true;
}

bool Ring::put_prefaces(uint8_t* record, uint32_t bytes) {
  do {
    while (stamp_.preface_bytes() > 0) {
      if (!put_preface(record, bytes)) return false;
    }
    if (bytes > 0) record = data_ + (head_ & mask_);
  } while (!stamp_.put_after_preface(record));
  return true;
}

void Ring::commit_after_preface() {
  const auto bytes = static_cast<uint32_t>(control_->pending);
  const bool complete = put_prefaces(data_ + (head_ & mask_), bytes);
  stamp_.note_preface(complete);
  if (complete) publish(bytes);
}

void Ring::wake() {
  if (DrainThread::instance().holds_producers()) {
    wait_for_process_end();
    return;
  }
  // Not again at every event: the drain thread sets this anew when it has come round.
  set_wake_at(head_ + capacity_ / 8);
  DrainThread::instance().wake();
}

void Ring::attend() {
  if (finished()) return;
  if (DrainThread::instance().holds_producers()) wait_for_process_end();
  open_.ask_for_call(false);
  open_.beat(now());
  DrainThread::instance().wake();
}

bool Ring::beat() {
  if (!open_.any() || finished()) return false;
  open_.beat(now());
  return true;
}

void Ring::hold_producer() {
  if (!open_.exist()) return;
  set_wake_at(0);
  open_.ask_for_call(true);
}

void Ring::note_stall(uint64_t from) {
  control_->stalled = 1;
  control_->stall_from = from;
  control_->stall_to = std::max(now(), from);
}

int64_t Ring::make_room(uint32_t bytes) {
  control_->stalled = 0;
  if (finished()) return static_cast<int64_t>(Room::closed);
  // What the ring holds still goes out; its size is set aside.
  if (sink_->spent()) return static_cast<int64_t>(Room::full);
  if (free_bytes() < bytes) {
    if (options_.full == FullPolicy::drop || bytes > capacity_ || sink_->failing()) {
      wake();
      return static_cast<int64_t>(Room::full);
    }
    const uint64_t from = stamp_.not_before_last();
    if (sink_->slow()) {
      wake();
      // After a wait in vain there is no other until something moves: a peer that does not read
      // costs one wait, not one for each event.
      if (tail() == waited_at_) return static_cast<int64_t>(Room::full);
      if (!wait_drained(head_ - capacity_ + bytes, options_.block_limit_ms)) waited_at_ = tail();
    } else {
      drain();
    }
    note_stall(from);
    if (free_bytes() < bytes) return static_cast<int64_t>(Room::full);
  }
  const uint64_t room = free_bytes();
  // After the room: the thread that made it has charged the budget before.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (sink_->spent()) return static_cast<int64_t>(Room::full);
  control_->position = static_cast<int32_t>(head_ & mask_);
  return static_cast<int64_t>(room);
}

bool Ring::flush() {
  control_->stalled = 0;
  if (finished()) return true;
  const uint64_t from = stamp_.not_before_last();
  const bool complete = drain();
  note_stall(from);
  return complete;
}

bool Ring::write_through(uint8_t* record_head, size_t head_bytes, const uint8_t* body,
                         size_t body_bytes, bool stamped, Failure* failure) {
  control_->stalled = 0;
  // Before the lock: what comes before the record goes through the ring.
  if (!stamped && !finished() && !stamp_.put(record_head)) {
    const bool complete = put_prefaces(record_head, 0);
    stamp_.note_preface(complete);
    if (!complete) {
      *failure = sink_->last_failure();
      return false;
    }
  }
  std::lock_guard<std::mutex> lock(consumer_);
  if (finished()) {
    failure->set("write", "a finished stream", EPIPE);
    return false;
  }
  if (stamped && !stamp_.is_in_order(stamp_.of(record_head))) {
    failure->set("stamp", "a record before its predecessor", ERANGE);
    return false;
  }
  const uint64_t from = stamp_.not_before_last();
  if (sink_->spent()) {
    *failure = sink_->group()->state().failure;
    return false;
  }
  if (!sink_->drain(*this, head_)) {
    *failure = sink_->last_failure();
    return false;
  }
  TargetGroup* const group = sink_->group();
  if (group && !group->admit(head_bytes + body_bytes, failure)) return false;
  if (!sink_->append(*this, record_head, head_bytes, body, body_bytes, failure)) {
    if (group) group->give_back(head_bytes + body_bytes);
    return false;
  }
  if (stamped) stamp_.note_last(stamp_.of(record_head));
  head_ += head_bytes + body_bytes;
  // Tail first: between the two stores a reader may see a ring that is ahead of its producer, never
  // one that claims bytes it does not hold.
  release(head_);
  control_->head.store(head_, std::memory_order_release);
  wake_when_half_full();
  control_->position = static_cast<int32_t>(head_ & mask_);
  note_stall(from);
  return true;
}

bool Ring::drain() {
  bool complete;
  {
    std::lock_guard<std::mutex> lock(consumer_);
    if (finished()) return true;
    complete = sink_->drain(*this, head());
  }
  notify_waiters();
  return complete;
}

void Ring::add_backlog(Backlog* backlog) {
  if (retired_) return;
  const uint64_t to = head();
  backlog->records += count_records(tail(), to);
  backlog->bytes += to - tail();
  backlog->dropped += control_->dropped_events;
  backlog->refused += control_->refused_events;
  backlog->unkept += control_->unkept_records;
  if (open_.exist()) {
    const int32_t open = control_->open_records.load(std::memory_order_relaxed);
    backlog->open += static_cast<uint64_t>(std::max(open, 0));
  }
}

void Ring::notify_waiters() {
  if (waiters_.load() == 0) return;
  std::lock_guard<std::mutex> lock(waiters_lock_);
  drained_.notify_all();
}

bool Ring::wait_drained(uint64_t position, uint32_t limit_ms) {
  waiters_.fetch_add(1);
  DrainThread::instance().hurry();
  bool reached;
  {
    std::unique_lock<std::mutex> lock(waiters_lock_);
    reached = drained_.wait_for(lock, std::chrono::milliseconds(limit_ms), [&] {
      return finished() || control_->tail.load(std::memory_order_acquire) >= position;
    });
  }
  waiters_.fetch_sub(1);
  return reached;
}

// Notes where the stream ends, and what ends it.
void Ring::lay_end() {
  end_ = head();
  control_->ended_at.store(end_ + 1, std::memory_order_release);
  if (waiting_ != nullptr) lay_waiting();
  if (open_.exist()) open_.close(end_, stamp_.not_before_last(), stamp_, at(end_));
  const uint32_t chosen = static_cast<uint32_t>(control_->epilogue);
  if (chosen == 0 || chosen >= kEpilogues) return;
  const Epilogue epilogue = control_->epilogues[chosen];
  const size_t bytes = static_cast<size_t>(epilogue.records) * epilogue.record_bytes;
  if (bytes == 0 || bytes > kEpilogueBytes) return;
  ending_ = epilogue;
  for (uint32_t i = 0; i < ending_.records; ++i) {
    stamp_.put(ending_.bytes + i * ending_.record_bytes);
  }
}

void Ring::lay_waiting() {
  auto& page = *reinterpret_cast<ControlPage*>(waiting_);
  const auto* const groups = reinterpret_cast<const WaitingGroup*>(waiting_ + kWaitingPage);
  uint8_t* const data = waiting_ + waiting_front(options_.waiting_groups);
  const size_t capacity = options_.waiting_capacity;
  const uint64_t to = page.head.load(std::memory_order_acquire);
  uint64_t from = page.tail.load(std::memory_order_acquire);
  // What JavaScript had for a length is in the mapping as it was stored.
  if (from > to || to - from > capacity || options_.length_offset < 0) return;
  // Where the records of each undecided group begin to wait, by the group's bytes.
  std::unordered_map<uint64_t, uint32_t> undecided;
  for (uint32_t i = 0; i < options_.waiting_groups; ++i) {
    const WaitingGroup& group = groups[i];
    const uint32_t state = group.state.load(std::memory_order_acquire);
    if (state == 0) continue;
    const auto copied_at = static_cast<uint32_t>(state == WaitingGroup::kCopying ? head() : to);
    const bool is_over = state != WaitingGroup::kUndecided && group.mark.load() != copied_at;
    const uint32_t since = is_over ? group.upto.load() : group.from.load();
    undecided[uint64_t{group.high} << 32 | group.low] = since;
  }
  page.ended_at.store(1, std::memory_order_release);
  while (from < to && !undecided.empty()) {
    uint8_t* const record = data + (from & (capacity - 1));
    const uint32_t bytes = big_endian_at(record + options_.length_offset);
    if (bytes < options_.group_at + sizeof(uint64_t) || bytes > to - from) return;
    const auto found = undecided.find(uint64_t{big_endian_at(record + options_.group_at)} << 32 |
                                      big_endian_at(record + options_.group_at + 4));
    const auto position = static_cast<uint32_t>(from);
    if (found != undecided.end() && static_cast<int32_t>(position - found->second) >= 0) {
      open_.add_waiting(record, bytes);
    }
    from += bytes;
  }
}

// False when they found no room.
bool Ring::write_open_records() {
  if (!open_.exist()) return true;
  const OpenRecords::Closed closed = open_.closed();
  if (closed.records == 0) return true;
  if (sink_->slow()) {
    send_open_records(closed);
    open_.discard_closed();
    return true;
  }
  if (!sink_->append_open(*this, end_, closed)) return false;
  end_ += closed.bytes.size();
  // In this order: to recovery, a tail after the end is the end.
  release(end_);
  control_->ended_at.store(end_ + 1, std::memory_order_release);
  control_->head.store(end_, std::memory_order_release);
  open_.discard_closed();
  return true;
}

// A socket takes records from a ring. They get one of their own, because the producer may still be
// about to write to this one.
void Ring::send_open_records(const OpenRecords::Closed& closed) {
  Ring last;
  last.options_.length_offset = options_.length_offset;
  last.sink_ = sink_;
  last.capacity_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  while (last.capacity_ < closed.bytes.size()) last.capacity_ *= 2;
  last.mask_ = last.capacity_ - 1;
  Failure failure;
  if (!last.map(&failure)) {
    sink_->counts().lost_records.fetch_add(closed.records);
    return;
  }
  std::memcpy(last.data_, closed.bytes.data(), closed.bytes.size());
  last.control_->head.store(closed.bytes.size(), std::memory_order_release);
  const uint64_t limit = std::max(socket_limit_, Clock::monotonic() + kShortestSendNs);
  while (!sink_->drain(last, closed.bytes.size()) && Clock::monotonic() < limit) {
    usleep(kSendAgainUs);
  }
  sink_->leave(last);
}

// False when it found no room.
bool Ring::write_end() {
  const size_t bytes = static_cast<size_t>(ending_.records) * ending_.record_bytes;
  if (bytes == 0) return true;
  Failure failure;
  if (!sink_->append(*this, ending_.bytes, bytes, nullptr, 0, &failure)) return false;
  if (sink_->group()) sink_->group()->charge(bytes);
  ending_.records = 0;
  return true;
}

// What a call has done the next one does not do again.
bool Ring::complete_stream() {
  // With nothing to drain the target would seem to work.
  if ((!kept() || tail() < end_) && !sink_->drain(*this, end_)) {
    if (sink_->slow()) write_open_records();
    return false;
  }
  if (!write_open_records() || !write_end()) return false;
  if (!sink_->in_place()) return true;
  if (end_ == 0 && options_.remove_if_empty) {
    remove_stream();
    return true;
  }
  // Without its end the stream is not complete.
  return options_.finish_to.empty() || rename_file(options_.finish_from, options_.finish_to) == 0 ||
         errno == ENOENT;
}

void Ring::remove_file() {
  if (has_file()) unlink_file(options_.path);
}

void Ring::remove_stream() {
  unlink_file(options_.target);
  // The ring may lie in the directory that goes away with the stream.
  remove_file();
  if (options_.finish_to.empty()) return;
  unlink_file(options_.finish_from);
  unlink_file(options_.finish_to);
  const size_t slash = options_.finish_to.rfind('/');
  if (slash != std::string::npos) remove_directory(options_.finish_to.substr(0, slash));
}

void Ring::finish(uint32_t socket_limit_ms) {
  if (waits()) return;
  if (sink_ && sink_->slow()) {
    const uint32_t limit_ms = ProcessEnd::socket_limit_ms(socket_limit_ms);
    socket_limit_ = Clock::monotonic() + uint64_t{1000000} * limit_ms;
    wait_drained(head(), limit_ms);
  }
  bool retired;
  {
    std::lock_guard<std::mutex> lock(consumer_);
    if (retired_) return;
    // The producer may still be at work when a signal ends the process: what is committed by now is
    // the stream, and its end comes after it.
    if (!finished_.exchange(true)) lay_end();
    const bool complete = complete_stream();
    // What the format still has to add only its writer or a recovery can; nobody writes any more.
    const bool unfinished = control_->unfinished != 0;
    retired = complete || unfinished || !DrainThread::instance().keep(this);
    if (retired) {
      retired_ = true;
      sink_->retire(*this);
      if (kept()) sink_->count_kept(-1);
      sink_->let_go();
      if (unfinished) {
        control_->claim_behind(head(), kAnyBytes);
        control_->pid = 0;
      }
      // What could not be written stays in the ring's file for recovery.
      if (complete && !unfinished) remove_file();
      // Last: a ring that is no longer kept has no file left to delete.
      kept_.store(false, std::memory_order_release);
    }
  }
  notify_waiters();
  if (retired) DrainThread::instance().remove(this);
}

uint32_t Ring::record_bytes(uint64_t position) const {
  return big_endian_at(at(position) + options_.length_offset);
}

uint64_t Ring::count_records(uint64_t from, uint64_t to) const {
  if (options_.length_offset < 0) return 0;
  uint64_t records = 0;
  while (from < to) {
    from += record_bytes(from);
    ++records;
  }
  return records;
}

}  // namespace tracewright
