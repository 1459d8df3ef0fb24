// Where the bytes of a ring lie in memory: control page, table of open records, what waits, and the
// data twice in a row.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>

#include "file/anchor.h"
#include "file/file_descriptor.h"
#include "ring/drainer.h"
#include "ring/ring.h"
#include "ring/ring_file.h"

namespace tracewright {

namespace {

size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::atomic<bool> pages_late{false};

}  // namespace

void Ring::map_pages_late() {
  pages_late = true;
}

bool Ring::map(Failure* failure) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  control_bytes_ = round_up(kControlBytes + OpenRecords::most_bytes(options_.open_records), page);
  const size_t waiting_at = control_bytes_;
  control_bytes_ += waiting_bytes();
  const uint32_t places = options_.open_records.places;
  const std::string name = options_.path.empty() ? "anonymous memory" : options_.path;
  FileDescriptor fd =
      options_.path.empty() ? anonymous_ring_file() : named_ring_file(options_.path);
  if (!fd) {
    failure->set("create the ring", name);
    return false;
  }
  if (!allocate_file(fd.get(), places)) {
    failure->set("allocate the ring", name);
    if (!options_.path.empty()) unlink_file(options_.path);
    return false;
  }
  // Reserve the whole range first, then lay the file over it.
  void* const mapped =
      mmap(nullptr, mapping_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint8_t* const base = static_cast<uint8_t*>(mapped);
  int now = 0;
#if defined(MAP_POPULATE)
  if (!pages_late) now = MAP_POPULATE;  // page faults now rather than under the first events
#endif
  if (mapped == MAP_FAILED || !lay_file(base, fd.get(), places, now)) {
    failure->set("map the ring", name);
    if (mapped != MAP_FAILED) munmap(mapped, mapping_bytes());
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

// What the table may grow to has no blocks yet.
bool Ring::allocate_file(int fd, uint32_t places) const {
  return allocate_ring_blocks(fd, 0, table_end(places)) &&
         allocate_ring_blocks(fd, control_bytes_ - waiting_bytes(), control_bytes_ + capacity_);
}

// Control page, data, data again.
bool Ring::lay_file(uint8_t* base, int fd, uint32_t places, int flags) const {
  const size_t front = table_end(places);
  const auto lay = [&](size_t at, size_t bytes, size_t from, int more) {
    if (bytes == 0) return true;
    void* const laid = mmap(base + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | more,
                            fd, static_cast<off_t>(from));
    if (laid == MAP_FAILED) return false;
    // Else the first byte that is written would have the kernel clear and map 32 pages.
    if (more == 0) madvise(laid, bytes, MADV_RANDOM);
    return true;
  };
  return lay(0, front, 0, flags) && lay(front, control_bytes_ - front, front, 0) &&
         lay(control_bytes_, capacity_, control_bytes_, flags) &&
         lay(control_bytes_ + capacity_, capacity_, control_bytes_, flags);
}

void Ring::ask_for_file() {
  if (options_.path.empty() || has_file()) return;
  wants_file_.store(true);
  if (open_.exist()) open_.ask_for_call(true);
}

// All of the ring into a new file. What says that it is one comes last.
bool Ring::copy_to(int fd) const {
  const auto* const from = reinterpret_cast<const uint8_t*>(control_);
  const auto copy = [&](size_t begin, size_t end) {
    while (begin < end) {
      const ssize_t written = pwrite(fd, from + begin, end - begin, static_cast<off_t>(begin));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      begin += static_cast<size_t>(written);
    }
    return true;
  };
  return copy(sizeof kRingMagic, table_end(open_.places())) &&
         copy(control_bytes_ - waiting_bytes(), control_bytes_ + capacity_) &&
         copy(0, sizeof kRingMagic);
}

void Ring::restore_file() {
  // The consumer stands still, and nobody else writes to the ring.
  std::lock_guard<std::mutex> lock(consumer_);
  if (!wants_file_.exchange(false) || finished() || has_file()) return;
  const FileDescriptor fd = named_ring_file(options_.path);
  if (!fd) return;
  const uint32_t places = open_.places();
  if (!allocate_file(fd.get(), places) || !copy_to(fd.get())) {
    unlink_file(options_.path);
    return;
  }
  // Each range is exchanged for one of the same size.
  if (lay_file(mapping(), fd.get(), places, 0) &&
      (waiting_ == nullptr || lay_waiting_file(waiting_, fd.get()))) {
    identity_ = FileIdentity(fd.get());
  }
  // What another thread has set between the copy and the exchange is lost: it sets it again.
  if (drainer_->holds_producers()) hold_producer();
  drainer_->wake();
}

// Their pages come with their first use.
bool Ring::map_waiting(int fd) {
  void* const mapped = mmap(nullptr, waiting_bytes() + options_.waiting_capacity, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return false;
  waiting_ = static_cast<uint8_t*>(mapped);
  return lay_waiting_file(waiting_, fd);
}

bool Ring::lay_waiting_file(uint8_t* base, int fd) const {
  const size_t front = waiting_front(options_.waiting_groups);
  const size_t capacity = options_.waiting_capacity;
  const auto lay = [&](size_t at, size_t bytes, size_t from) {
    return mmap(base + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                static_cast<off_t>(control_->waiting_at + from)) != MAP_FAILED;
  };
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
  return fd && FileIdentity(fd.get()) == identity_ && allocate_ring_blocks(fd.get(), from, to);
}

uint32_t Ring::grow_open_records() {
  // The drain thread may be moving the file.
  std::lock_guard<std::mutex> lock(consumer_);
  const uint32_t next = open_.next_places();
  if (!finished() && next > open_.places() && allocate_table(next)) open_.grow(next);
  return open_.places();
}

Ring* Ring::closed_ring() {
  static Ring* const ring = [] {
    Ring* closed = new Ring();
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    closed->capacity_ = page;
    closed->mask_ = 0;  // every record lands at the start of the page
    closed->control_bytes_ = round_up(kControlBytes, page);
    // Without a file, so that a process without a descriptor left has it too.
    void* const mapped = mmap(nullptr, closed->mapping_bytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Without it there is nowhere to be harmless.
    if (mapped == MAP_FAILED) std::abort();
    closed->control_ = new (mapped) ControlPage();
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

}  // namespace tracewright
