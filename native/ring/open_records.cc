#include "ring/open_records.h"

#include <algorithm>
#include <cstring>

#include "ring/big_endian_words.h"

namespace tracewright {

namespace {

constexpr uint32_t kCacheLine = 64;

}  // namespace

uint32_t OpenRecords::stride(const OpenRecordOptions& options) {
  const auto head = static_cast<uint32_t>(sizeof(OpenRecord));
  return (head + options.longest + kCacheLine - 1) / kCacheLine * kCacheLine;
}

size_t OpenRecords::bytes(const OpenRecordOptions& options, uint32_t places) {
  return size_t{places} * stride(options);
}

size_t OpenRecords::most_bytes(const OpenRecordOptions& options) {
  return bytes(options, std::max(options.places, options.most));
}

void OpenRecords::open(const OpenRecordOptions& options, ControlPage* control, uint8_t* first) {
  options_ = options;
  control_ = control;
  first_ = first;
  if (options.places == 0) return;
  stride_ = stride(options);
  control->open_stride = stride_;
  control->number_at = options.number_at;
  control->length_at = options.length_at;
  grow(options.places);
}

void OpenRecords::share(const OpenRecords& other) {
  options_ = other.options_;
  options_.number_at = -1;
  control_ = other.control_;
  first_ = other.first_;
  stride_ = other.stride_;
  places_.store(other.places(), std::memory_order_release);
}

void OpenRecords::add_waiting(uint8_t* record, size_t bytes) {
  waiting_.push_back({record, bytes});
}

// All up to the stamp agrees: the copy has its link and its stamp, and the open one does not.
bool OpenRecords::waits(const uint8_t* open, size_t length, size_t stamp_at) const {
  const auto from = static_cast<size_t>(options_.number_at + 8);
  if (last_waiting_.record == nullptr || from > stamp_at) return false;
  if (stamp_at > std::min(length, last_waiting_.bytes)) return false;
  return std::memcmp(open + from, last_waiting_.record + from, stamp_at - from) == 0;
}

uint32_t OpenRecords::number_waiting(uint32_t number) {
  const int32_t at = options_.number_at;
  for (const Waiting& each : waiting_) {
    if (at >= 0) put_big_endian(each.record + at + 4, number++);
  }
  return number;
}

uint32_t OpenRecords::next_places() const {
  return std::max(places(), std::min(2 * places(), options_.most));
}

void OpenRecords::grow(uint32_t places) {
  control_->open_places.store(places, std::memory_order_release);
  places_.store(places, std::memory_order_release);
}

uint32_t OpenRecords::length_of(uint32_t state) const {
  const uint32_t length = state & OpenRecord::kLength;
  return length <= stride_ - sizeof(OpenRecord) ? length : 0;
}

void OpenRecords::put_copied() {
  if (!exist() || control_->copied_bytes == 0) return;
  std::memcpy(first_ + control_->ending_at, first_ + control_->copied_from, control_->copied_bytes);
  control_->copied_bytes = 0;
}

void OpenRecords::put_ended(uint8_t* to, size_t bytes) {
  // Commits that come after the end of the ring.
  if (!exist()) return;
  std::memcpy(to, first_ + control_->ending_at, bytes);
  put_number(to, 0);
  take_numbers(1);
  put_length(to, bytes);
  put_big_endian(to + control_->final_word_at, control_->final_word);
}

void OpenRecords::put_number(uint8_t* to, uint32_t before) const {
  const int32_t at = options_.number_at;
  if (at < 0) return;
  const uint32_t number = control_->next_number.load(std::memory_order_relaxed);
  put_big_endian(to + at + 4, number + before);
}

void OpenRecords::take_numbers(uint32_t count) {
  if (options_.number_at < 0) return;
  const uint32_t number = control_->next_number.load(std::memory_order_relaxed);
  control_->next_number.store(number + count, std::memory_order_release);
}

OpenRecord* OpenRecords::prepared_at(uint32_t at) const {
  const uint32_t index = stride_ == 0 ? 0 : at / stride_;
  if (index >= places() || at != index * stride_ + sizeof(OpenRecord)) return nullptr;
  return &place(index);
}

void OpenRecords::begin_prepared(uint32_t at, uint32_t state, uint32_t start_at, uint64_t ns,
                                 uint32_t word_at, uint32_t word) {
  OpenRecord* const head = prepared_at(at);
  const uint32_t length = length_of(state);
  if (head == nullptr || start_at + sizeof ns > length || word_at + sizeof word > length) return;
  auto* const record = reinterpret_cast<uint8_t*>(head + 1);
  ns -= std::min(ns, control_->epoch);
  put_big_endian(record + start_at, ns);
  put_big_endian(record + word_at, word);
  head->state.store(state, std::memory_order_release);
}

void OpenRecords::put_word(uint32_t at, uint32_t word_at, uint32_t word) {
  OpenRecord* const head = prepared_at(at);
  if (head == nullptr || word_at + sizeof word > stride_ - sizeof(OpenRecord)) return;
  put_big_endian(reinterpret_cast<uint8_t*>(head + 1) + word_at, word);
}

void OpenRecords::put_text(uint32_t at, uint32_t state, uint32_t text_at, std::string_view text) {
  OpenRecord* const head = prepared_at(at);
  const size_t room = stride_ - sizeof(OpenRecord);
  if (head == nullptr || text_at < length_of(state) || text_at + sizeof(uint16_t) > room) return;
  if (text.empty()) return;
  const size_t most = room - text_at - sizeof(uint16_t);
  while (text.size() > most) {
    const size_t line = text.rfind('\n');
    if (line == std::string_view::npos) return;
    text = text.substr(0, line);
  }
  head->state.store(state, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  auto* const to = reinterpret_cast<uint8_t*>(head + 1) + text_at;
  put_big_endian(to, static_cast<uint16_t>(text.size()));
  std::memcpy(to + sizeof(uint16_t), text.data(), text.size());
  const auto length = static_cast<uint32_t>(text_at + sizeof(uint16_t) + text.size());
  head->state.store((state & ~OpenRecord::kLength) | length, std::memory_order_release);
}

void OpenRecords::free_prepared(uint32_t at) {
  OpenRecord* const head = prepared_at(at);
  if (head != nullptr) head->state.store(0, std::memory_order_release);
}

void OpenRecords::close(uint64_t end, uint64_t ns, const CommitStamp& stamp,
                        const uint8_t* uncommitted) {
  if (!exist()) return;
  const auto mark = static_cast<uint32_t>(end);
  const int32_t at = options_.number_at;
  const uint32_t series = control_->series;
  uint32_t number = control_->next_number.load(std::memory_order_relaxed);
  // Its number was taken, but its commit was not to be. A record begins with no zero word: memory
  // that was never written is none of series 0.
  if (at >= 0 && big_endian_word(uncommitted) != 0 && big_endian_word(uncommitted + at) == series &&
      big_endian_word(uncommitted + at + 4) == number - 1) {
    --number;
  }
  number = number_waiting(number);
  for (uint32_t i = 0, count = places(); i < count; ++i) {
    OpenRecord& each = place(i);
    const uint32_t state = each.state.load(std::memory_order_acquire);
    const uint32_t length = length_of(state);
    if (length == 0) continue;
    const bool committing = (state & OpenRecord::kCommitting) != 0;
    if (committing && each.mark.load(std::memory_order_relaxed) != mark) continue;
    auto* const record = reinterpret_cast<uint8_t*>(&each + 1);
    if (committing && waits(record, length, stamp.offset())) continue;
    if (at >= 0 && static_cast<uint32_t>(at) + 8 <= length &&
        big_endian_word(record + at) == series) {
      put_big_endian(record + at + 4, number++);
    }
    put_length(record, length);
    if ((state & OpenRecord::kEnded) == 0) stamp.raise(record, length, ns);
    each.mark.store(mark, std::memory_order_relaxed);
    each.closing.store(1, std::memory_order_release);
  }
}

OpenRecords::Closed OpenRecords::closed() const {
  Closed all;
  for (const Waiting& each : waiting_) {
    all.bytes.insert(all.bytes.end(), each.record, each.record + each.bytes);
    ++all.records;
  }
  for (uint32_t i = 0, count = places(); i < count; ++i) {
    const OpenRecord& each = place(i);
    if (each.closing.load(std::memory_order_relaxed) == 0) continue;
    const auto* const record = reinterpret_cast<const uint8_t*>(&each + 1);
    const uint32_t length = length_of(each.state.load(std::memory_order_relaxed));
    all.bytes.insert(all.bytes.end(), record, record + length);
    ++all.records;
  }
  return all;
}

void OpenRecords::discard_closed() {
  waiting_.clear();
  for (uint32_t i = 0, count = places(); i < count; ++i) {
    OpenRecord& each = place(i);
    if (each.closing.load(std::memory_order_relaxed) == 0) continue;
    // In this order: what is free is never looked at.
    each.state.store(0, std::memory_order_release);
    each.closing.store(0, std::memory_order_release);
  }
}

}  // namespace tracewright
