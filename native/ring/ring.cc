#include "ring/ring.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "file/anchor.h"
#include "process/process_identity.h"
#include "ring/big_endian_words.h"
#include "ring/drainer.h"
#include "ring/ring_sink.h"

namespace tracewright {

namespace {

// Should the signal not end the process after all.
constexpr unsigned kLongestEndSeconds = 3;

bool may_have_open_records(const RingOptions& options) {
  const OpenRecordOptions& open = options.open_records;
  if (open.places == 0) return true;
  return options.target_kind != TargetKind::own_file && open.places <= OpenRecords::kMostPlaces &&
         open.most <= OpenRecords::kMostPlaces && open.longest <= OpenRecords::kLongest &&
         OpenRecords::bytes(open, open.places) <= options.capacity &&
         OpenRecords::most_bytes(open) <= 2 * options.capacity;
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

std::shared_ptr<Ring> Ring::open(const RingOptions& wanted, std::shared_ptr<RingSink> sink,
                                 Drainer& drainer, Failure* failure) {
  std::shared_ptr<Ring> ring(new (std::nothrow) Ring());
  if (!ring) {
    failure->set("allocate", "a ring", ENOMEM);
    return nullptr;
  }
  ring->options_ = wanted;
  ring->first_path_ = wanted.path;
  ring->sink_ = std::move(sink);
  ring->drainer_ = &drainer;
  ring->sink_->locate(&ring->options_);
  const RingOptions& options = ring->options_;
  ring->capacity_ = options.capacity;
  ring->mask_ = options.capacity - 1;
  if (!may_have_open_records(options)) {
    failure->set("open", "a table of open records", EINVAL);
    return nullptr;
  }
  if (!ring->map(failure)) return nullptr;

  ControlPage& control = *ring->control_;
  control.version = kRingVersion;
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
  if (!drainer.add(ring)) {
    failure->set("start", "the drain thread");
    if (!options.path.empty()) unlink_file(options.path);
    return nullptr;
  }
  ring->sink_->reserve(options.capacity);
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
  ring->drainer_ = feeds->drainer_;
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

void Ring::put_words() {
  const auto at = static_cast<uint32_t>(control_->words_at);
  const auto count = static_cast<uint32_t>(control_->words);
  const size_t from = (size_t{at} + 3) & ~size_t{3};
  // JavaScript's mistake must not become the service's.
  if (from + size_t{count} * sizeof(uint32_t) > 2 * capacity_) return;
  put_big_endian_words(data_ + at, data_ + from, count);
}

bool Ring::commit_explicit(uint32_t last_record, bool unordered) {
  const uint8_t* const first = data_ + (head_ & mask_);
  if (!unordered && !stamp_.is_in_order(stamp_.of(first))) {
    // After the epilogue of a stream that has been finished meanwhile it is only too late.
    return finished();
  }
  stamp_.note_latest(stamp_.of(first + last_record));
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
  note_commits(0, static_cast<int32_t>(size));
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
  if (!complete) return;
  note_commits(1, static_cast<int32_t>(bytes));
  publish(bytes);
}

void Ring::wake() {
  if (drainer_->holds_producers()) {
    wait_for_process_end();
    return;
  }
  // Not again at every event: the drain thread sets this anew when it has come round.
  set_wake_at(head_ + capacity_ / 8);
  drainer_->wake();
}

void Ring::attend() {
  if (finished()) return;
  if (drainer_->holds_producers()) wait_for_process_end();
  open_.ask_for_call(false);
  if (wants_file_.load(std::memory_order_relaxed)) restore_file();
  open_.beat(now());
  drainer_->wake();
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

bool Ring::flush() {
  control_->stalled = 0;
  if (finished()) return true;
  const uint64_t from = stamp_.not_before_last();
  const bool complete = sink_->patient() ? wait_drained(head_, kNoLimitMs) : drain();
  note_stall(from);
  return complete;
}

bool Ring::write_through(uint8_t* record_head, size_t head_bytes, const uint8_t* body,
                         size_t body_bytes, bool stamped, Failure* failure, bool unordered) {
  control_->stalled = 0;
  // Before the lock: what comes before the record goes through the ring.
  if (!stamped && !finished() && !stamp_.put(record_head)) {
    const bool complete = put_prefaces(record_head, 0);
    stamp_.note_preface(complete);
    if (!complete) {
      *failure = sink_->refusal();
      return false;
    }
  }
  std::lock_guard<std::mutex> lock(consumer_);
  if (finished()) {
    failure->set("write", "a finished stream", EPIPE);
    return false;
  }
  if (stamped && !unordered && !stamp_.is_in_order(stamp_.of(record_head))) {
    failure->set("stamp", "a record before its predecessor", ERANGE);
    return false;
  }
  const uint64_t from = stamp_.not_before_last();
  if (sink_->spent()) {
    *failure = sink_->refusal();
    return false;
  }
  if (!sink_->drain(*this, head_)) {
    *failure = sink_->refusal();
    return false;
  }
  if (!sink_->admit(head_bytes + body_bytes, failure)) return false;
  if (!sink_->append(*this, record_head, head_bytes, body, body_bytes, failure)) {
    sink_->give_back(head_bytes + body_bytes);
    return false;
  }
  if (stamped) stamp_.note_latest(stamp_.of(record_head));
  head_ += head_bytes + body_bytes;
  // Tail first: between the two stores a reader may see a ring that is ahead of its producer, never
  // one that claims bytes it does not hold.
  release(head_);
  control_->head.store(head_, std::memory_order_release);
  note_commits(0, 0);
  drained_commits_ = commits_.load(std::memory_order_relaxed);
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
    uint64_t commits = 0;
    const uint64_t to = head_with_count(&commits);
    complete = sink_->drain(*this, to);
    if (tail() == to) drained_commits_ = commits;
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

}  // namespace tracewright
