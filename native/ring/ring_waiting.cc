#include <algorithm>
#include <cstring>

#include "ring/big_endian_words.h"
#include "ring/ring.h"
#include "ring/waiting_index.h"

namespace tracewright {

namespace {

uint64_t big_endian_number(const uint8_t* bytes) {
  return uint64_t{big_endian_word(bytes)} << 32 | big_endian_word(bytes + 4);
}

void put_big_endian_word(uint8_t* to, uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  std::memcpy(to, &word, sizeof word);
}

uint64_t elapsed(uint64_t from, uint64_t to) {
  return to - std::min(from, to);
}

uint8_t* end_of_name(const WaitingIndex& index, uint8_t* record) {
  uint8_t* const name = record + index.name_at;
  return name + 2 + (big_endian_word(name) >> 16);
}

// The group with these words; 0: there is none.
uint32_t find_group(const WaitingIndex& index, const WaitingGroup* groups, uint32_t high,
                    uint32_t low) {
  auto group = static_cast<uint32_t>(index.buckets[low & index.bucket_mask]);
  while (group != 0 && (groups[group].low != low || groups[group].high != high)) {
    group = static_cast<uint32_t>(index.nexts[group]);
  }
  return group;
}

void remember(const WaitingIndex& index, uint32_t high, uint32_t low) {
  const uint32_t set = low & index.set_mask;
  const uint32_t oldest = index.oldest[set];
  index.oldest[set] = static_cast<uint8_t>((oldest + 1) & (index.of_a_set - 1));
  int32_t* const at = index.released + 2 * (set * index.of_a_set + oldest);
  at[0] = static_cast<int32_t>(high);
  at[1] = static_cast<int32_t>(low);
}

// As `forget` of src/spans/keep/undecided-traces.ts.
void forget_group(const WaitingIndex& index, uint32_t group, uint32_t low) {
  index.records[group] = 0;
  index.bytes[group] = 0;
  const auto number = static_cast<int32_t>(group);
  int32_t* to = &index.buckets[low & index.bucket_mask];
  while (*to != number) to = &index.nexts[*to];
  *to = index.nexts[group];
  index.nexts[group] = index.numbers[0] == index.numbers[1] ? 0 : index.numbers[0];
  index.numbers[0] = number;
}

}  // namespace

void Ring::index_waiting(std::unique_ptr<WaitingIndex> index) {
  index_ = std::move(index);
}

bool Ring::has_waiting_index() const {
  return index_ != nullptr && !feeds_->finished();
}

void Ring::free_open_record(OpenRecord* head, uint32_t at) {
  ControlPage& control = feeds_->control();
  if (control.attention.load(std::memory_order_relaxed) != 0) feeds_->attend();
  head->state.store(0, std::memory_order_release);
  const int32_t left = control.open_records.load(std::memory_order_relaxed) - 1;
  index_->free_slots[left] = static_cast<int32_t>(at);
  control.open_records.store(left, std::memory_order_relaxed);
}

uint64_t Ring::copy_waiting(const Ring& waiting, const int32_t* positions, size_t* count,
                            uint32_t number, uint16_t reason) {
  const size_t most = *count;
  const WaitingIndex* const index = waiting.index_.get();
  if (finished() || waiting.options_.length_offset < 0 || index == nullptr) return 0;
  *count = 0;
  const uint64_t room = free_bytes();
  const uint64_t longest = capacity_ / 2;
  uint8_t* const to = data_ + (head_ & mask_);
  uint64_t done = 0;
  size_t copied = 0;
  for (; copied < most; ++copied) {
    const uint32_t bytes = waiting.record_bytes(static_cast<uint32_t>(positions[copied]));
    if (bytes > longest - done) break;
    // JavaScript's mistake must not become the service's.
    if (bytes > waiting.capacity_ || bytes > room - done) {
      *count = copied + 1;
      return 0;
    }
    std::memcpy(to + done, waiting.at(static_cast<uint32_t>(positions[copied])), bytes);
    done += bytes;
  }
  uint8_t* record = to;
  for (size_t i = 0; i < copied; ++i) {
    put_big_endian_word(record + index->link_at, number + static_cast<uint32_t>(i));
    uint8_t* const name_end = end_of_name(*index, record);
    uint8_t* const reason_at = name_end + index->reason_after_name;
    reason_at[0] = static_cast<uint8_t>(reason >> 8);
    reason_at[1] = static_cast<uint8_t>(reason);
    const uint64_t position = static_cast<uint32_t>(positions[i]) & waiting.mask_;
    WaitingCounts* const counts = index->counts_of(index->marks[position >> index->record_shift]);
    if (counts != nullptr) {
      const uint64_t start = big_endian_number(record + index->start_at);
      const uint64_t end = big_endian_number(record + options_.stamp_offset);
      const uint32_t word = big_endian_word(name_end + index->word_after_name);
      counts->take_back(elapsed(start, end), (word & index->failed_bit) != 0);
    }
    record += big_endian_word(record + options_.length_offset);
  }
  *count = copied;
  return done;
}

void Ring::end_waiting() {
  if (!has_waiting_index()) return;
  WaitingIndex& index = *index_;
  const auto at = static_cast<uint32_t>(index.call[WaitingIndex::kSlot]);
  const auto bytes = static_cast<uint32_t>(index.call[WaitingIndex::kBytes]);
  OpenRecord* const head = open_.head_at(at);
  const uint32_t kind = head->writer < index.kind_count ? index.kinds[head->writer] : 0;
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  const auto* const record = reinterpret_cast<const uint8_t*>(head + 1);
  const uint32_t high = big_endian_word(record + options_.group_at);
  const uint32_t low = big_endian_word(record + options_.group_at + 4);
  const auto* const groups = reinterpret_cast<const WaitingGroup*>(mapping() + kWaitingPage);
  const uint32_t group = find_group(index, groups, high, low);
  if (group == 0 || (index.flags[group] & index.decided) != 0) return;
  const int32_t waits = index.bytes[group] + static_cast<int32_t>(bytes);
  if (waits > index.longest) return;

  const auto position = static_cast<uint32_t>(head_);
  const uint64_t offset = head_ & mask_;
  uint8_t* const to = data_ + offset;
  head->mark.store(static_cast<uint32_t>(feeds_->head_), std::memory_order_relaxed);
  head->state.store(head->state.load(std::memory_order_relaxed) | OpenRecord::kCommitting,
                    std::memory_order_release);
  std::memcpy(to, record, bytes);
  put_big_endian_word(to + options_.length_offset, bytes);
  put_big_endian_word(to + index.link_at, static_cast<uint32_t>(index.lasts[group]));
  put_big_endian_word(end_of_name(index, to) + index.word_after_name,
                      static_cast<uint32_t>(index.call[WaitingIndex::kWord]));
  stamp_.put<Stamp::big>(to);
  publish(bytes);
  free_open_record(head, at);

  index.linked[0] = static_cast<int32_t>(head_);
  if (index.records[group]++ == 0) index.firsts[group] = static_cast<int32_t>(position);
  index.lasts[group] = static_cast<int32_t>(position);
  index.bytes[group] = waits;
  index.marks[offset >> index.record_shift] = static_cast<uint16_t>(kind);
  const uint64_t start = big_endian_number(to + index.start_at);
  const uint64_t end = big_endian_number(to + options_.stamp_offset);
  counts->add(elapsed(start, end));
  index.call[WaitingIndex::kDone] = 1;
}

void Ring::release_waiting() {
  if (!has_waiting_index()) return;
  WaitingIndex& index = *index_;
  const auto at = static_cast<uint32_t>(index.call[WaitingIndex::kSlot]);
  WaitingCounts* const counts =
      index.counts_of(static_cast<uint32_t>(index.call[WaitingIndex::kKind]));
  OpenRecord* const head = open_.head_at(at);
  const auto* const record = reinterpret_cast<const uint8_t*>(head + 1);
  const uint32_t high = big_endian_word(record + options_.group_at);
  const uint32_t low = big_endian_word(record + options_.group_at + 4);
  if (counts == nullptr) return;
  auto* const groups = reinterpret_cast<WaitingGroup*>(mapping() + kWaitingPage);
  const uint32_t group = find_group(index, groups, high, low);
  if (group == 0 || index.flags[group] != 0 || index.roots[group] != 1) return;
  if (index.shared[group] != 0) return;
  stamp_.read<Stamp::big>();
  const double now = control_->stamp;
  const auto time = static_cast<uint64_t>(now);
  const uint64_t start = big_endian_number(record + index.start_at);
  const uint64_t duration = elapsed(start, time);
  if (static_cast<double>(duration) > index.times[WaitingIndex::kLimit]) return;

  counts->add(duration);
  free_open_record(head, at);
  groups[group].state.store(0, std::memory_order_release);
  remember(index, high, low);
  forget_group(index, group, low);
  index.times[WaitingIndex::kDuration] = static_cast<double>(duration);
  index.times[WaitingIndex::kNow] = now;
  index.call[WaitingIndex::kDone] = 1;
}

}  // namespace tracewright
