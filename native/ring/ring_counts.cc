// How many records a ring holds.
#include <algorithm>

#include "ring/big_endian_words.h"
#include "ring/ring.h"

namespace tracewright {

namespace {

constexpr int kCountReadings = 100;

}  // namespace

// The producer stores the head a moment after the count that goes with it.
uint64_t Ring::head_with_count(uint64_t* commits) const {
  for (int i = 0;; ++i) {
    const uint64_t to = head();
    *commits = commits_.load(std::memory_order_acquire);
    const bool fits = static_cast<uint32_t>(*commits) == static_cast<uint32_t>(to);
    if (fits || options_.stamp != Stamp::interval || i == kCountReadings) return to;
  }
}

bool Ring::count_left(uint64_t* records) const {
  const uint64_t from = tail();
  const uint64_t to = std::max(head(), from);
  if (options_.length_offset >= 0) {
    *records = count_records(from, to);
    return true;
  }
  if (options_.shape.kind != RecordShape::Kind::unknown) {
    *records = options_.shape.count_in(at(from), to - from);
    return true;
  }
  const uint64_t commits = commits_.load(std::memory_order_acquire);
  const bool is_exact = options_.stamp == Stamp::interval &&
                        static_cast<uint32_t>(drained_commits_) == static_cast<uint32_t>(from) &&
                        static_cast<uint32_t>(commits) == static_cast<uint32_t>(to);
  *records = (commits >> 32) - (drained_commits_ >> 32);
  return is_exact;
}

uint32_t Ring::record_bytes(uint64_t position) const {
  return big_endian_word(at(position) + options_.length_offset);
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
