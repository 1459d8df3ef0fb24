#include <algorithm>
#include <cstring>

#include "ring/big_endian_words.h"
#include "ring/ring.h"
#include "ring/waiting_index.h"

namespace tracewright {

namespace {

double elapsed(uint64_t from, uint64_t to) {
  return static_cast<double>(static_cast<int64_t>(to - std::min(from, to)));
}

uint8_t* end_of_name(const WaitingIndex& index, uint8_t* record) {
  uint8_t* const name = record + index.name_at;
  return name + 2 + (big_endian_word(name) >> 16);
}

uint32_t word_of(const WaitingIndex& index, uint8_t* record) {
  return big_endian_word(end_of_name(index, record) + index.word_after_name);
}

void put_reason(const WaitingIndex& index, uint8_t* record, uint16_t reason) {
  uint8_t* const at = end_of_name(index, record) + index.reason_after_name;
  at[0] = static_cast<uint8_t>(reason >> 8);
  at[1] = static_cast<uint8_t>(reason);
}

// A record of a kind is not let go.
void take_back(const WaitingIndex& index, uint32_t kind, uint8_t* record, uint32_t stamp_offset) {
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  const uint64_t start = big_endian_number(record + index.start_at);
  const uint64_t end = big_endian_number(record + stamp_offset);
  counts->take_back(elapsed(start, end), (word_of(index, record) & index.failed_bit) != 0);
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

// As src/spans/keep/remembered-traces.ts does.
void remember(const WaitingIndex& index, uint32_t high, uint32_t low, uint64_t time) {
  const uint32_t set = low & index.set_mask;
  const uint32_t oldest = index.oldest[set];
  index.oldest[set] = static_cast<uint8_t>((oldest + 1) & (index.of_a_set - 1));
  int32_t* const at =
      index.released + WaitingIndex::kReleasedWords * (set * index.of_a_set + oldest);
  at[0] = static_cast<int32_t>(high);
  at[1] = static_cast<int32_t>(low);
  at[2] = static_cast<int32_t>(time >> WaitingIndex::kReleasedUnitBits) + 1;
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

void Ring::attend_slots() {
  if (feeds_->control().attention.load(std::memory_order_relaxed) != 0) feeds_->attend();
}

void Ring::free_slot(uint32_t at) {
  ControlPage& control = feeds_->control();
  const int32_t left = control.open_records.load(std::memory_order_relaxed) - 1;
  index_->free_slots[left] = static_cast<int32_t>(at);
  control.open_records.store(left, std::memory_order_relaxed);
}

void Ring::free_open_record(OpenRecord* head, uint32_t at) {
  attend_slots();
  head->state.store(0, std::memory_order_release);
  free_slot(at);
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
    put_big_endian(record + index->link_at, number + static_cast<uint32_t>(i));
    put_reason(*index, record, reason);
    const uint64_t position = static_cast<uint32_t>(positions[i]) & waiting.mask_;
    take_back(*index, index->marks[position >> index->record_shift], record, options_.stamp_offset);
    record += big_endian_word(record + options_.length_offset);
  }
  *count = copied;
  return done;
}

void Ring::end_waiting() {
  if (!has_waiting_index()) return;
  WaitingIndex& index = *index_;
  const auto at = static_cast<uint32_t>(index.call[WaitingIndex::kSlot]);
  OpenRecord* const head = open_.head_at(at);
  const uint32_t state = head->state.load(std::memory_order_relaxed);
  const uint32_t bytes = state & OpenRecord::kLength;
  const auto word = static_cast<uint32_t>(index.call[WaitingIndex::kWord]);
  const uint32_t kind = index.kind_of(head->writer, word);
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  auto* const record = reinterpret_cast<uint8_t*>(head + 1);
  const uint32_t high = big_endian_word(record + options_.group_at);
  const uint32_t low = big_endian_word(record + options_.group_at + 4);
  const auto* const groups = reinterpret_cast<const WaitingGroup*>(mapping() + kWaitingPage);
  const uint32_t group = find_group(index, groups, high, low);
  if (group == 0 || (index.flags[group] & index.decided) != 0) return;
  const int32_t waits = index.bytes[group] + static_cast<int32_t>(bytes);
  if (waits > index.longest) return;

  attend_slots();
  open_.put_length(record, bytes);
  const uint64_t end = stamp_.take<Stamp::big>();
  put_big_endian(record + options_.stamp_offset, end);
  head->state.store(state | OpenRecord::kEnded, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  put_big_endian(end_of_name(index, record) + index.word_after_name, word);
  head->mark.store(static_cast<uint32_t>(index.ended[group]), std::memory_order_relaxed);
  index.ended[group] = static_cast<int32_t>(at);
  index.bytes[group] = waits;
  index.call[WaitingIndex::kSlot] = WaitingIndex::kDone;
  counts->add(elapsed(big_endian_number(record + index.start_at), end));
}

// The record of a slot lies at the head of a ring then, and is to be published.
uint8_t* Ring::put_ended(Ring& to, OpenRecord* head, uint32_t bytes) {
  uint8_t* const record = to.data_ + (to.head_ & to.mask_);
  head->mark.store(static_cast<uint32_t>(feeds_->head_), std::memory_order_relaxed);
  head->state.store(head->state.load(std::memory_order_relaxed) | OpenRecord::kCommitting,
                    std::memory_order_release);
  std::memcpy(record, head + 1, bytes);
  return record;
}

void Ring::publish_waiting(OpenRecord* head, uint32_t at, uint32_t group, uint32_t kind,
                           uint32_t bytes) {
  WaitingIndex& index = *index_;
  const auto position = static_cast<int32_t>(head_);
  const uint64_t offset = head_ & mask_;
  put_big_endian(data_ + offset + index.link_at, static_cast<uint32_t>(index.lasts[group]));
  publish(bytes);
  free_open_record(head, at);
  index.linked[0] = static_cast<int32_t>(head_);
  if (index.records[group]++ == 0) index.firsts[group] = position;
  index.lasts[group] = position;
  index.marks[offset >> index.record_shift] = static_cast<uint16_t>(kind);
}

void Ring::release_waiting() {
  if (!has_waiting_index()) return;
  WaitingIndex& index = *index_;
  const auto at = static_cast<uint32_t>(index.call[WaitingIndex::kSlot]);
  OpenRecord* const head = open_.head_at(at);
  auto kind = static_cast<uint32_t>(index.call[WaitingIndex::kKind]);
  const bool is_given = kind != 0;
  const auto word = static_cast<uint32_t>(index.call[WaitingIndex::kWord]);
  if (!is_given) kind = index.root_kind_of(head->writer, word);
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  const auto* const record = reinterpret_cast<const uint8_t*>(head + 1);
  const uint32_t high = big_endian_word(record + options_.group_at);
  const uint32_t low = big_endian_word(record + options_.group_at + 4);
  const auto chosen_from = static_cast<uint32_t>(index.call[WaitingIndex::kChosenFrom]);
  if (!is_given && (high & index.chosen_mask) >= chosen_from) return;
  auto* const groups = reinterpret_cast<WaitingGroup*>(mapping() + kWaitingPage);
  const uint32_t group = find_group(index, groups, high, low);
  if (group == 0 || (index.flags[group] | index.shared[group]) != 0) return;
  if (index.roots[group] != 1) return;
  const uint64_t time = stamp_.take<Stamp::big>();
  const double took = elapsed(big_endian_number(record + index.start_at), time);
  if (took > counts->limit) return;
  if (static_cast<double>(static_cast<int64_t>(time)) >= index.times[WaitingIndex::kUntil]) return;

  counts->add(took);
  attend_slots();
  head->state.store(0, std::memory_order_release);
  groups[group].state.store(0, std::memory_order_release);
  free_ended(group);
  free_slot(at);
  remember(index, high, low, time);
  forget_group(index, group, low);
  index.times[WaitingIndex::kDuration] = took;
  index.call[WaitingIndex::kSlot] = WaitingIndex::kDone;
}

// The slot that was taken first is free last: the next group takes it first, and finds there what
// is the same in all of its records.
void Ring::free_ended(uint32_t group) {
  for (auto at = static_cast<uint32_t>(index_->ended[group]); at != 0;) {
    OpenRecord* const head = open_.head_at(at);
    const uint32_t next = head->mark.load(std::memory_order_relaxed);
    head->state.store(0, std::memory_order_release);
    free_slot(at);
    at = next;
  }
  index_->ended[group] = 0;
}

// The slot that comes first then was the last.
uint32_t Ring::reverse_ended(uint32_t at) {
  uint32_t before = 0;
  while (at != 0) {
    OpenRecord* const head = open_.head_at(at);
    const uint32_t next = head->mark.load(std::memory_order_relaxed);
    head->mark.store(before, std::memory_order_relaxed);
    before = at;
    at = next;
  }
  return before;
}

uint64_t Ring::move_ended(uint32_t group, EndedTo to, uint32_t argument) {
  if (!has_waiting_index()) return 0;
  WaitingIndex& index = *index_;
  if (to == EndedTo::nowhere) {
    attend_slots();
    free_ended(group);
    return 0;
  }
  const bool waits = to == EndedTo::ring;
  const uint64_t room = waits ? argument : feeds_->free_bytes();
  uint64_t done = 0;
  uint32_t at = reverse_ended(static_cast<uint32_t>(index.ended[group]));
  while (at != 0) {
    OpenRecord* const head = open_.head_at(at);
    const uint32_t bytes = head->state.load(std::memory_order_relaxed) & OpenRecord::kLength;
    if (bytes > room - done) break;
    const uint32_t next = head->mark.load(std::memory_order_relaxed);
    uint8_t* const record = put_ended(waits ? *this : *feeds_, head, bytes);
    const uint32_t kind = index.kind_of(head->writer, word_of(index, record));
    if (waits) {
      publish_waiting(head, at, group, kind, bytes);
    } else {
      feeds_->open_.put_number(record);
      put_reason(index, record, static_cast<uint16_t>(argument));
      take_back(index, kind, record, options_.stamp_offset);
      feeds_->publish(bytes);
      free_open_record(head, at);
    }
    done += bytes;
    at = next;
  }
  index.ended[group] = static_cast<int32_t>(reverse_ended(at));
  return done;
}

}  // namespace tracewright
