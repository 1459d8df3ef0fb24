// The end of a ring's stream: what is open and what waits is laid down, the target gets it, and the
// trace is completed on disk.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "file/anchor.h"
#include "file/replace_file.h"
#include "process/process_end.h"
#include "process/shared_list_file.h"
#include "ring/big_endian_words.h"
#include "ring/drainer.h"
#include "ring/ring.h"
#include "ring/ring_sink.h"

namespace tracewright {

namespace {

// What a socket gets at least for the records that are open at its end.
constexpr uint64_t kShortestSendNs = 20000000;
constexpr useconds_t kSendAgainUs = 1000;

}  // namespace

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
    const uint32_t bytes = big_endian_word(record + options_.length_offset);
    if (bytes < options_.group_at + sizeof(uint64_t) || bytes > to - from) return;
    const auto found = undecided.find(uint64_t{big_endian_word(record + options_.group_at)} << 32 |
                                      big_endian_word(record + options_.group_at + 4));
    const auto position = static_cast<uint32_t>(from);
    if (found != undecided.end() && static_cast<int32_t>(position - found->second) >= 0) {
      open_.add_waiting(record, bytes);
    }
    from += bytes;
    if (from == to) open_.set_last_waiting(record, bytes);
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
    sink_->count_lost(closed.records);
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
  sink_->charge(bytes);
  ending_.records = 0;
  return true;
}

void Ring::set_end_metadata(std::map<double, std::string> pieces, bool whole, bool due) {
  std::lock_guard<std::mutex> lock(end_metadata_lock_);
  if (whole) end_metadata_.clear();
  for (auto& [key, piece] : pieces) end_metadata_[key] = std::move(piece);
  end_metadata_due_ = due;
}

// False when it found no room.
bool Ring::write_end_metadata() {
  std::lock_guard<std::mutex> lock(end_metadata_lock_);
  if (!end_metadata_due_) return true;
  std::string content;
  for (const auto& [_, piece] : end_metadata_) content += piece;
  Failure failure;
  const bool written =
      options_.end_list.empty()
          ? replace_file(options_.finish_from, content, &failure, options_.file_mode)
          : renew_list_entry(options_.end_list, options_.end_key, content, &failure,
                             options_.file_mode);
  // Where its directory was deleted there is nothing to complete.
  end_metadata_due_ = !written && failure.error != ENOENT;
  return !end_metadata_due_;
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
  if (!write_end_metadata()) return false;
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
    const uint32_t limit_ms = sink_->patient() && !ProcessEnd::hastened()
                                  ? kNoLimitMs
                                  : ProcessEnd::socket_limit_ms(socket_limit_ms);
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
    retired = complete || unfinished || !drainer_->keep(this);
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
  if (retired) drainer_->remove(this);
}

}  // namespace tracewright
