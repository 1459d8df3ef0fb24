#include "ring/waiting_index.h"

namespace tracewright {

namespace {

uint32_t power_of_two_from(uint32_t count) {
  uint32_t power = 1;
  while (power < count) power *= 2;
  return power;
}

}  // namespace

WaitingIndex::WaitingIndex(const WaitingShared& all, const WaitingFormat& form, WaitingGroup* words,
                           uint32_t count, size_t capacity)
    : shared(all),
      format(form),
      groups(words),
      bucket_mask_(power_of_two_from(count) - 1),
      ring_mask_(static_cast<uint32_t>(capacity - 1)),
      buckets_(size_t{bucket_mask_} + 1),
      waits_(count),
      marks_(capacity >> kRecordBits),
      kinds_(size_t{2} * kMostWriters << kVariantBits),
      counts_(kMostKinds) {}

uint32_t WaitingIndex::begin(uint32_t high, uint32_t low, uint32_t from) {
  uint32_t group = free_;
  if (group != 0) {
    free_ = waits_[group].next;
  } else if (unused_ < waits_.size()) {
    group = unused_++;
  } else {
    return 0;
  }
  uint32_t& bucket = buckets_[low & bucket_mask_];
  waits_[group] = {};
  waits_[group].next = bucket;
  bucket = group;
  shared.flags[group] = 0;
  shared.roots[group] = 1;
  WaitingGroup& words = groups[group];
  words.high = high;
  words.low = low;
  words.from.store(from, std::memory_order_relaxed);
  words.state.store(WaitingGroup::kUndecided, std::memory_order_release);
  return group;
}

void WaitingIndex::forget(uint32_t group, uint16_t reason, uint64_t time) {
  const uint32_t low = groups[group].low;
  (reason == 0 ? released : kept).add(groups[group].high, low, time, reason);
  uint32_t* to = &buckets_[low & bucket_mask_];
  while (*to != group) to = &waits_[*to].next;
  *to = waits_[group].next;
  waits_[group] = {};
  waits_[group].next = free_;
  free_ = group;
}

void WaitingIndex::append(uint32_t group, uint32_t at, uint32_t bytes, uint32_t kind) {
  Waits& waits = waits_[group];
  if (waits.records++ == 0) waits.first = at;
  waits.last = at;
  mark(at) = static_cast<uint16_t>(kind);
  linked = at + bytes;
}

}  // namespace tracewright
