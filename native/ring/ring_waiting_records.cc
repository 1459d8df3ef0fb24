#include <algorithm>
#include <cstring>

#include "ring/big_endian_words.h"
#include "ring/ring.h"
#include "ring/waiting_index.h"

namespace tracewright {

namespace {

// Of a ring in which records wait: what one group may have that has to wait longer, and all of
// them; and from when on it is decided before it has ended.
constexpr size_t kPartOfGroup = 16;
constexpr size_t kPartOfMoved = 2;
constexpr size_t kPartOfLongest = 4;

uint32_t low_half(uint64_t position) {
  return static_cast<uint32_t>(position);
}

double elapsed(uint64_t from, uint64_t to) {
  return static_cast<double>(static_cast<int64_t>(to - std::min(from, to)));
}

uint8_t* end_of_name(const WaitingIndex& index, uint8_t* record) {
  uint8_t* const name = record + index.format.name_at;
  return name + 2 + (big_endian_word(name) >> 16);
}

uint32_t word_of(const WaitingIndex& index, uint8_t* record) {
  return big_endian_word(end_of_name(index, record) + index.format.word_after_name);
}

void put_reason(const WaitingIndex& index, uint8_t* record, uint16_t reason) {
  uint8_t* const at = end_of_name(index, record) + index.format.reason_after_name;
  at[0] = static_cast<uint8_t>(reason >> 8);
  at[1] = static_cast<uint8_t>(reason);
}

double duration_of(const WaitingIndex& index, const uint8_t* record, uint32_t stamp_offset) {
  return elapsed(big_endian_number(record + index.format.start_at),
                 big_endian_number(record + stamp_offset));
}

bool has_failed(const WaitingIndex& index, uint8_t* record) {
  return (word_of(index, record) & index.format.failed_bit) != 0;
}

// A record of a kind is not let go.
void take_back(const WaitingIndex& index, uint32_t kind, uint8_t* record, uint32_t stamp_offset) {
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  counts->take_back(duration_of(index, record, stamp_offset), has_failed(index, record));
}

}  // namespace

void Ring::index_waiting(const WaitingShared& shared, const WaitingFormat& format) {
  index_ = std::make_unique<WaitingIndex>(shared, format, waiting_groups(), options_.waiting_groups,
                                          capacity_);
  index_->linked = low_half(head_);
}

bool Ring::has_group(uint32_t group) const {
  return index_ != nullptr && !feeds_->finished() && group < options_.waiting_groups;
}

WaitingGroup* Ring::waiting_groups() {
  return reinterpret_cast<WaitingGroup*>(mapping() + kWaitingPage);
}

void Ring::attend_slots() {
  if (feeds_->control().attention.load(std::memory_order_relaxed) != 0) feeds_->attend();
}

void Ring::free_slot(uint32_t at) {
  ControlPage& control = feeds_->control();
  const int32_t left = control.open_records.load(std::memory_order_relaxed) - 1;
  index_->shared.free_slots[left] = static_cast<int32_t>(at);
  control.open_records.store(left, std::memory_order_relaxed);
}

void Ring::free_open_record(OpenRecord* head, uint32_t at) {
  attend_slots();
  head->state.store(0, std::memory_order_release);
  free_slot(at);
}

void Ring::find_waiting() {
  if (index_ == nullptr) return;
  int32_t* const words = index_->shared.words;
  words[WaitingShared::kGroup] =
      static_cast<int32_t>(index_->find(static_cast<uint32_t>(words[WaitingShared::kHigh]),
                                        static_cast<uint32_t>(words[WaitingShared::kLow])));
}

void Ring::begin_waiting() {
  if (!has_group(0)) return;
  int32_t* const words = index_->shared.words;
  const uint32_t group =
      index_->begin(static_cast<uint32_t>(words[WaitingShared::kHigh]),
                    static_cast<uint32_t>(words[WaitingShared::kLow]), low_half(head_));
  words[WaitingShared::kGroup] = group == 0 ? WaitingShared::kFull : static_cast<int32_t>(group);
}

void Ring::end_waiting() {
  if (!has_group(0)) return;
  WaitingIndex& index = *index_;
  int32_t* const words = index.shared.words;
  const auto at = static_cast<uint32_t>(words[WaitingShared::kSlot]);
  OpenRecord* const head = open_.head_at(at);
  const uint32_t state = head->state.load(std::memory_order_relaxed);
  const uint32_t bytes = state & OpenRecord::kLength;
  const auto word = static_cast<uint32_t>(words[WaitingShared::kWord]);
  WaitingCounts* const counts = index.counts_of(index.kind_of(head->writer, word, false));
  if (counts == nullptr) return;
  auto* const record = reinterpret_cast<uint8_t*>(head + 1);
  const uint32_t group = index.find(big_endian_word(record + options_.group_at),
                                    big_endian_word(record + options_.group_at + 4));
  if (group == 0 || (index.shared.flags[group] & index.format.decided) != 0) return;
  WaitingIndex::Waits& waits = index.of(group);
  if (waits.bytes + bytes > capacity_ / kPartOfLongest) return;

  attend_slots();
  open_.put_length(record, bytes);
  const uint64_t end = stamp_.take<Stamp::big>();
  put_big_endian(record + options_.stamp_offset, end);
  head->state.store(state | OpenRecord::kEnded, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  put_big_endian(end_of_name(index, record) + index.format.word_after_name, word);
  head->mark.store(waits.ended, std::memory_order_relaxed);
  waits.ended = at;
  waits.bytes += bytes;
  words[WaitingShared::kSlot] = WaitingShared::kDone;
  counts->add(elapsed(big_endian_number(record + index.format.start_at), end));
}

void Ring::release_waiting() {
  if (!has_group(0)) return;
  WaitingIndex& index = *index_;
  int32_t* const words = index.shared.words;
  const auto at = static_cast<uint32_t>(words[WaitingShared::kSlot]);
  OpenRecord* const head = open_.head_at(at);
  auto kind = static_cast<uint32_t>(words[WaitingShared::kKind]);
  const bool is_given = kind != 0;
  const auto word = static_cast<uint32_t>(words[WaitingShared::kWord]);
  if (!is_given) kind = index.kind_of(head->writer, word, true);
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  const auto* const record = reinterpret_cast<const uint8_t*>(head + 1);
  const uint32_t high = big_endian_word(record + options_.group_at);
  const auto chosen_from = static_cast<uint32_t>(words[WaitingShared::kChosenFrom]);
  if (!is_given && (high & index.format.chosen_mask) >= chosen_from) return;
  const uint32_t group = index.find(high, big_endian_word(record + options_.group_at + 4));
  if (group == 0 || index.shared.flags[group] != 0 || index.shared.roots[group] != 1) return;
  const uint64_t time = stamp_.take<Stamp::big>();
  const double took = elapsed(big_endian_number(record + index.format.start_at), time);
  if (took > counts->limit) return;
  double* const times = index.shared.times;
  if (static_cast<double>(static_cast<int64_t>(time)) >= times[WaitingShared::kUntil]) return;

  counts->add(took);
  attend_slots();
  head->state.store(0, std::memory_order_release);
  index.groups[group].state.store(0, std::memory_order_release);
  free_ended(group);
  free_slot(at);
  index.forget(group, 0, time);
  times[WaitingShared::kDuration] = took;
  words[WaitingShared::kSlot] = WaitingShared::kDone;
}

void Ring::learn_waiting(uint32_t slot, uint32_t word, uint32_t kind, bool is_root) {
  if (has_group(0)) index_->learn(open_.head_at(slot)->writer, word, is_root, kind);
}

void Ring::link_waiting() {
  if (!has_group(0) || index_->linked == low_half(head_)) return;
  WaitingIndex& index = *index_;
  int32_t* const words = index.shared.words;
  const auto group = static_cast<uint32_t>(words[WaitingShared::kGroup]);
  if (!has_group(group)) return;
  const auto kind = static_cast<uint32_t>(words[WaitingShared::kKind]);
  WaitingIndex::Waits& waits = index.of(group);
  const uint32_t bytes = low_half(head_) - index.linked;
  uint8_t* const record = data_ + (index.linked & mask_);
  put_big_endian(record + index.format.link_at, waits.last);
  index.append(group, index.linked, bytes, kind);
  waits.bytes += bytes;
  words[WaitingShared::kGroup] =
      waits.bytes > capacity_ / kPartOfLongest ? WaitingShared::kLong : WaitingShared::kDone;
  WaitingCounts* const counts = index.counts_of(kind);
  if (counts == nullptr) return;
  counts->add(duration_of(index, record, options_.stamp_offset));
  if (has_failed(index, record)) counts->errors += 1;
}

uint64_t Ring::copy_waiting(uint32_t group, uint16_t reason) {
  if (!has_group(group)) return 0;
  const uint64_t wants = copy_records(group, reason);
  return wants != 0 ? wants : move_ended(group, *feeds_, feeds_->unspent_bytes(), reason);
}

std::vector<uint32_t> Ring::positions_of(uint32_t group) const {
  uint32_t at = index_->of(group).last;
  std::vector<uint32_t> positions(index_->of(group).records);
  for (auto each = positions.rbegin(); each != positions.rend(); ++each) {
    *each = at;
    at = big_endian_word(this->at(at) + index_->format.link_at);
  }
  return positions;
}

uint64_t Ring::copy_records(uint32_t group, uint16_t reason) {
  WaitingIndex::Waits& waits = index_->of(group);
  const std::vector<uint32_t> positions = positions_of(group);
  const uint64_t longest = feeds_->capacity_ / 2;
  for (size_t next = 0; next < positions.size();) {
    const uint64_t room = feeds_->unspent_bytes();
    const uint64_t wants = std::min<uint64_t>(waits.bytes, longest);
    if (wants > room) return wants;
    uint64_t bytes = 0;
    size_t count = 0;
    uint32_t more = 0;
    for (; next + count < positions.size(); ++count) {
      more = record_bytes(positions[next + count]);
      if (more > longest - bytes || more > room - bytes) break;
      copy_record(positions[next + count], bytes, count, reason);
      bytes += more;
    }
    if (count == 0) {
      // No ring holds it, or the ring's own memory says what cannot be.
      feeds_->control().refused_events += 1;
      waits.bytes -= std::min(waits.bytes, more);
      waits.records -= 1;
      ++next;
      continue;
    }
    next += count;
    waits.bytes -= std::min(waits.bytes, low_half(bytes));
    waits.records -= low_half(count);
    const uint32_t upto = next == positions.size() ? low_half(head_) : positions[next];
    publish_group(group, WaitingGroup::kCopying, *feeds_, bytes, count, upto);
  }
  return 0;
}

// Publishes so many bytes and records of a group. Those below `upto` do not wait from then on.
void Ring::publish_group(uint32_t group, uint32_t state, Ring& to, uint64_t bytes, size_t count,
                         uint32_t upto) {
  WaitingGroup& words = index_->groups[group];
  const uint32_t before = words.state.load(std::memory_order_relaxed);
  words.mark.store(low_half(to.head_), std::memory_order_relaxed);
  words.upto.store(upto, std::memory_order_relaxed);
  words.state.store(state, std::memory_order_release);
  to.open_.take_numbers(low_half(count));
  to.publish(low_half(bytes));
  words.from.store(upto, std::memory_order_release);
  words.state.store(before, std::memory_order_release);
}

// Puts one so many bytes, and records, after the head of the ring that gets it.
void Ring::copy_record(uint32_t position, uint64_t bytes, size_t count, uint16_t reason) {
  const WaitingIndex& index = *index_;
  uint8_t* const record = feeds_->data_ + ((feeds_->head_ & feeds_->mask_) + bytes);
  std::memcpy(record, at(position), record_bytes(position));
  feeds_->open_.put_number(record, low_half(count));
  put_reason(index, record, reason);
  take_back(index, index_->mark(position), record, options_.stamp_offset);
}

// The slot that was taken first is free last: the next group takes it first, and finds there what
// is the same in all of its records.
void Ring::free_ended(uint32_t group) {
  for (uint32_t at = index_->of(group).ended; at != 0;) {
    OpenRecord* const head = open_.head_at(at);
    const uint32_t next = head->mark.load(std::memory_order_relaxed);
    head->state.store(0, std::memory_order_release);
    free_slot(at);
    at = next;
  }
  index_->of(group).ended = 0;
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

// The record of a slot lies at the head of a ring then, and is to be published.
uint8_t* Ring::put_ended(Ring& to, OpenRecord* head, uint32_t bytes) {
  uint8_t* const record = to.data_ + (to.head_ & to.mask_);
  head->mark.store(low_half(feeds_->head_), std::memory_order_relaxed);
  head->state.store(head->state.load(std::memory_order_relaxed) | OpenRecord::kCommitting,
                    std::memory_order_release);
  std::memcpy(record, head + 1, bytes);
  return record;
}

uint64_t Ring::move_ended(uint32_t group, Ring& to, uint64_t room, uint16_t reason) {
  WaitingIndex& index = *index_;
  WaitingIndex::Waits& waits = index.of(group);
  uint64_t wants = 0;
  uint32_t at = reverse_ended(waits.ended);
  while (at != 0) {
    OpenRecord* const head = open_.head_at(at);
    const uint32_t bytes = head->state.load(std::memory_order_relaxed) & OpenRecord::kLength;
    if (bytes > room) {
      wants = bytes;
      break;
    }
    room -= bytes;
    const uint32_t next = head->mark.load(std::memory_order_relaxed);
    uint8_t* const record = put_ended(to, head, bytes);
    const uint32_t kind = index.kind_of(head->writer, word_of(index, record), false);
    if (&to == this) {
      put_big_endian(record + index.format.link_at, waits.last);
      publish(bytes);
      index.append(group, low_half(head_) - bytes, bytes, kind);
    } else {
      to.open_.put_number(record, 0);
      to.open_.take_numbers(1);
      put_reason(index, record, reason);
      take_back(index, kind, record, options_.stamp_offset);
      to.publish(bytes);
      waits.bytes -= bytes;
    }
    free_open_record(head, at);
    at = next;
  }
  waits.ended = reverse_ended(at);
  return wants;
}

uint64_t Ring::relieve_slots() {
  if (!has_group(0)) return 0;
  uint64_t wants = 0;
  for (uint32_t group = 1; wants == 0 && group < index_->unused(); ++group) {
    if (index_->of(group).ended != 0) wants = move_ended(group, *this, waiting_room(), 0);
  }
  return wants;
}

void Ring::drop_waiting(uint32_t group) {
  if (!has_group(group)) return;
  attend_slots();
  free_ended(group);
  index_->of(group).records = 0;
  index_->of(group).bytes = 0;
}

void Ring::forget_waiting(uint32_t group, uint16_t reason) {
  if (!has_group(group)) return;
  std::atomic<uint32_t>& state = index_->groups[group].state;
  if (state.load(std::memory_order_relaxed) == 0) return;
  state.store(0, std::memory_order_release);
  drop_waiting(group);
  index_->forget(group, reason, stamp_.take<Stamp::big>());
}

bool Ring::is_over(uint32_t high, uint32_t low, int64_t start) {
  if (index_ == nullptr) return true;
  const WaitingIndex& index = *index_;
  const auto* const kept = index.kept.find(high, low);
  const auto* const released = index.released.find(high, low);
  index.shared.words[WaitingShared::kReason] =
      kept == nullptr ? 0 : static_cast<int32_t>(kept->reason);
  index.shared.times[WaitingShared::kDecided] =
      kept == nullptr ? 0 : static_cast<double>(kept->decided_at());
  const auto time = static_cast<uint64_t>(std::max<int64_t>(start - index.format.late, 0));
  const auto concerns = [&](const RememberedGroups::Group* group) {
    return group != nullptr && group->decided_at() >= time;
  };
  if (concerns(kept) || concerns(released)) return false;
  // Rather too few are recorded.
  return kept != nullptr || released != nullptr ||
         !(index.kept.may_have_forgotten(low, time) ||
           index.released.may_have_forgotten(low, time));
}

uint64_t Ring::waiting_room() const {
  const uint64_t used = head_ - tail();
  const uint64_t most = capacity_ - capacity_ / kWaitingReserve;
  return used < most ? most - used : 0;
}

uint32_t Ring::reclaim_waiting(uint32_t bytes) {
  if (!has_group(0)) return 0;
  uint32_t oldest = 0;
  uint32_t back = 0;
  for (uint32_t group = 1; group < index_->unused(); ++group) {
    const WaitingIndex::Waits& waits = index_->of(group);
    const uint32_t distance = waits.records == 0 ? 0 : low_half(head_) - waits.first;
    if (distance > back) {
      back = distance;
      oldest = group;
    }
  }
  release(head_ - back);
  return waiting_room() < bytes ? oldest : 0;
}

bool Ring::move_waiting(uint32_t group) {
  if (!has_group(group)) return false;
  WaitingIndex& index = *index_;
  WaitingIndex::Waits& waits = index.of(group);
  uint64_t moved = waits.bytes;
  for (uint32_t each = 1; each < index.unused(); ++each) {
    if (each != group && index.of(each).moved) moved += index.of(each).bytes;
  }
  if (waits.bytes > std::min<uint64_t>(free_bytes(), capacity_ / kPartOfGroup) ||
      moved > capacity_ / kPartOfMoved) {
    return false;
  }
  uint64_t done = 0;
  uint32_t before = 0;
  for (const uint32_t position : positions_of(group)) {
    const uint32_t bytes = record_bytes(position);
    if (bytes > free_bytes() - done) return false;
    uint8_t* const record = data_ + ((head_ & mask_) + done);
    std::memcpy(record, at(position), bytes);
    put_big_endian(record + index.format.link_at, before);
    before = low_half(head_ + done);
    index.mark(before) = index.mark(position);
    done += bytes;
  }
  waits.first = low_half(head_);
  waits.last = before;
  waits.moved = true;
  publish_group(group, WaitingGroup::kMoving, *this, done, 0, low_half(head_));
  index.linked = low_half(head_);
  return true;
}

}  // namespace tracewright
