// What JavaScript does with the table of open records: src/core/ring/open-records.ts.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "record.h"
#include "ring/ring.h"

namespace tracewright {
namespace test {

constexpr uint32_t kLongestOpen = 100;

inline OpenRecordOptions open_record_options(uint32_t places) {
  OpenRecordOptions options;
  options.places = places;
  options.longest = kLongestOpen;
  return options;
}

class Opener {
 public:
  explicit Opener(Ring& ring) : ring_(ring), control_(ring.control()) {
    for (uint32_t i = 0; i < control_.open_places; ++i) free_.push_back(i);
  }

  // Opens record `number` of `producer`; -1 when no place is free.
  int32_t open(uint32_t producer, uint64_t number, uint32_t bytes = kLongestOpen) {
    if (free_.empty()) return -1;
    const uint32_t place = free_.back();
    free_.pop_back();
    control_.open_records.fetch_add(1, std::memory_order_relaxed);
    call_if_asked();
    encode_record(record(place), bytes, producer, number, 0);
    head(place).state.store(bytes, std::memory_order_release);
    return static_cast<int32_t>(place);
  }

  // Lets the table grow by a step; false: it is as it was.
  bool grow() {
    const uint32_t before = control_.open_places;
    const uint32_t now = ring_.grow_open_records();
    for (uint32_t i = before; i < now; ++i) free_.push_back(i);
    return now > before;
  }

  // The next commit is its final record's.
  void ending(int32_t place) {
    OpenRecord& each = head(static_cast<uint32_t>(place));
    each.mark.store(static_cast<uint32_t>(control_.head.load(std::memory_order_relaxed)),
                    std::memory_order_relaxed);
    each.state.fetch_or(OpenRecord::kCommitting, std::memory_order_release);
  }

  // Publishes the open record of `bytes` bytes, with `word` at `word_at`.
  void commit(int32_t place, uint32_t bytes, uint32_t word_at, uint32_t word) {
    end(place, bytes, word_at, word);
    ring_.commit_open<Stamp::big>();
    release(place);
  }

  // Adds bytes to an open record.
  void append(int32_t place, const std::string& more) {
    OpenRecord& each = head(static_cast<uint32_t>(place));
    const uint32_t bytes = each.state.load(std::memory_order_relaxed) & OpenRecord::kLength;
    std::memcpy(record(static_cast<uint32_t>(place)) + bytes, more.data(), more.size());
    each.state.fetch_add(static_cast<uint32_t>(more.size()), std::memory_order_release);
  }

  void release(int32_t place) {
    call_if_asked();
    head(static_cast<uint32_t>(place)).state.store(0, std::memory_order_release);
    control_.open_records.fetch_sub(1, std::memory_order_relaxed);
    free_.push_back(static_cast<uint32_t>(place));
  }

  uint8_t* record(uint32_t place) { return reinterpret_cast<uint8_t*>(&head(place) + 1); }

 private:
  void end(int32_t place, uint32_t bytes, uint32_t word_at, uint32_t word) {
    ending(place);
    control_.pending = static_cast<int32_t>(bytes);
    control_.ending_at = static_cast<int32_t>(static_cast<uint32_t>(place) * control_.open_stride +
                                              sizeof(OpenRecord));
    control_.final_word_at = static_cast<int32_t>(word_at);
    control_.final_word = word;
  }
  OpenRecord& head(uint32_t place) {
    return *reinterpret_cast<OpenRecord*>(ring_.mapping() + kControlBytes +
                                          size_t{place} * control_.open_stride);
  }
  void call_if_asked() {
    if (control_.attention.load(std::memory_order_relaxed) != 0) ring_.attend();
  }

  Ring& ring_;
  ControlPage& control_;
  std::vector<uint32_t> free_;
};

}  // namespace test
}  // namespace tracewright
