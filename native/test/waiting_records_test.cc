#include "ring/waiting_records.h"

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "file_content.h"
#include "opener.h"
#include "producer.h"
#include "record.h"
#include "sink/file_sink.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr size_t kCapacity = 64 << 10;
constexpr uint32_t kGroups = 8;
constexpr uint32_t kSlots = 8;
// The number of a record says its group.
constexpr uint32_t kGroupAt = 16;
constexpr uint32_t kWriter = 1;
// It differs in the byte before the stamp, which is all that is compared here.
constexpr uint32_t kOtherWriter = kWriter << 24;
constexpr uint32_t kBytes = 100;

constexpr int32_t kDecided = 2;
constexpr int64_t kLate = int64_t{5} << 30;

// What the producing thread's JavaScript does: src/core/ring/waiting-ring.ts.
class Waiting {
 public:
  Waiting() {
    options_ = shared_options(TargetKind::shared_file, kCapacity);
    options_.target = directory_.path("trace");
    options_.path = directory_.path(".trace.0.ring");
    options_.epoch = Clock::monotonic();
    options_.open_records = open_record_options(kSlots);
    options_.waiting_capacity = kCapacity;
    options_.waiting_groups = kGroups;
    options_.group_at = kGroupAt;
    Failure failure;
    const auto sink = SharedFileSink::create(options_.target, "", true, {}, &failure);
    CHECK(sink != nullptr);
    sink->hold();
    ring = open_ring(options_, sink);
    waiting = Ring::open_waiting(ring);
    CHECK(waiting != nullptr);
    opener = std::make_unique<Opener>(*ring);
    WaitingShared shared;
    shared.words = words_;
    shared.times = times_;
    shared.flags = flags_;
    shared.roots = roots_;
    shared.free_slots = free_slots_;
    // Everything that a copy changes is part of the stamp.
    WaitingFormat format;
    format.decided = kDecided;
    format.chosen_mask = 1;
    format.link_at = format.start_at = format.name_at = kStampOffset;
    format.late = kLate;
    words_[WaitingShared::kChosenFrom] = 2;
    times_[WaitingShared::kUntil] = counts.limit = 1e18;
    waiting->index_waiting(shared, format);
    waiting->waiting_index()->count_in(kKind, &counts);
    for (const bool is_root : {false, true}) waiting->waiting_index()->learn(1, 0, is_root, kKind);
  }

  // Group `index` is that of the records with this number.
  WaitingGroup& begin(uint32_t index, uint64_t number) {
    WaitingGroup& each = group(index);
    uint32_t words[2];
    words_of(number, words);
    each.high = words[0];
    each.low = words[1];
    each.from = head_of(*waiting);
    each.state = WaitingGroup::kUndecided;
    return each;
  }

  // The group of the records with a number; 0: none waits.
  uint32_t find(uint64_t number) {
    put_words(number);
    waiting->find_waiting();
    return group_found();
  }

  // One begins that JavaScript knows by its number.
  uint32_t begin(uint64_t number) {
    put_words(number);
    waiting->begin_waiting();
    return group_found();
  }

  // What is committed next waits with a group.
  int32_t link(uint32_t group, uint64_t number) {
    wait(number);
    words_[WaitingShared::kGroup] = static_cast<int32_t>(group);
    words_[WaitingShared::kKind] = kKind;
    waiting->link_waiting();
    return words_[WaitingShared::kGroup];
  }

  bool is_over(uint64_t number, uint64_t start) {
    put_words(number);
    return waiting->is_over(static_cast<uint32_t>(words_[WaitingShared::kHigh]),
                            static_cast<uint32_t>(words_[WaitingShared::kLow]),
                            static_cast<int64_t>(start));
  }

  // Opens a record, and ends it where it lies; or releases its group.
  int32_t end(uint64_t number, void (Ring::*call)() = &Ring::end_waiting) {
    const auto place = static_cast<uint32_t>(opener->open(kWriter, number, kBytes));
    uint8_t* const record = opener->record(place);
    reinterpret_cast<OpenRecord*>(record)[-1].writer = 1;
    words_[WaitingShared::kSlot] = static_cast<int32_t>(record - (ring->mapping() + kControlBytes));
    (waiting.get()->*call)();
    return words_[WaitingShared::kSlot];
  }

  int32_t taken() const { return ring->control().open_records; }

  void wait(uint64_t number, uint32_t producer = kWriter) {
    put(*waiting, number, producer);
    waiting->commit<Stamp::big>();
    // Nobody drains it: the tail is the producer's, and lies half a ring back.
    ControlPage& page = waiting->control();
    while (page.head - page.tail > kCapacity / 2) page.tail = page.tail + kBytes;
  }

  // Up to the commit, which is the only thing that a kill may leave out.
  void copy(WaitingGroup& each, uint64_t number, bool is_committed) {
    each.mark = head_of(*ring);
    each.upto = head_of(*waiting);
    each.state = WaitingGroup::kCopying;
    put(*ring, number, kWriter);
    if (is_committed) ring->commit_as_is();
  }

  void publish(uint64_t number) {
    put(*ring, number, kWriter);
    ring->commit_as_is();
  }

  void move(WaitingGroup& each, uint64_t number, bool is_committed) {
    each.mark = each.upto = head_of(*waiting);
    each.state = WaitingGroup::kMoving;
    put(*waiting, number, kWriter);
    if (is_committed) waiting->commit_as_is();
  }

  // How many records of each number are in the trace, once its thread has died.
  std::map<uint64_t, int> finish() {
    ring->finish(0);
    CHECK(!directory_.holds(".trace.0.ring"));
    const std::string bytes = content_of(options_.target);
    std::map<uint64_t, int> found;
    Record record;
    for (size_t at = 0; at < bytes.size(); at += record.bytes) {
      const auto* const rest = reinterpret_cast<const uint8_t*>(bytes.data()) + at;
      CHECK(decode_record(rest, bytes.size() - at, true, &record) > 0);
      ++found[record.number];
    }
    return found;
  }

  WaitingGroup& group(uint32_t index) {
    return reinterpret_cast<WaitingGroup*>(waiting->mapping() + kWaitingPage)[index];
  }

  std::shared_ptr<Ring> ring;
  std::shared_ptr<Ring> waiting;
  std::unique_ptr<Opener> opener;
  WaitingCounts counts = {};

  int32_t* flags() { return flags_; }
  const int32_t* free_slots() const { return free_slots_; }
  int32_t reason() const { return words_[WaitingShared::kReason]; }
  uint64_t now() const { return static_cast<uint64_t>(times_[WaitingShared::kDecided]); }

 private:
  static uint32_t head_of(Ring& ring) { return static_cast<uint32_t>(ring.control().head); }

  static void words_of(uint64_t number, uint32_t* words) {
    uint8_t bytes[kRecordHead];
    encode_record(bytes, kRecordHead, 0, number, 0);
    std::memcpy(words, bytes + kGroupAt, 2 * sizeof *words);
    for (int i = 0; i < 2; ++i) words[i] = __builtin_bswap32(words[i]);
  }

  void put_words(uint64_t number) {
    uint32_t words[2];
    words_of(number, words);
    words_[WaitingShared::kHigh] = static_cast<int32_t>(words[0]);
    words_[WaitingShared::kLow] = static_cast<int32_t>(words[1]);
    words_[WaitingShared::kGroup] = 0;
  }

  uint32_t group_found() const { return static_cast<uint32_t>(words_[WaitingShared::kGroup]); }

  static void put(Ring& ring, uint64_t number, uint32_t producer) {
    const size_t at = ring.control().head & (ring.capacity() - 1);
    encode_record(ring.mapping() + ring.control_bytes() + at, kBytes, producer, number, 0);
    ring.control().pending = kBytes;
  }

  TemporaryDirectory directory_;
  RingOptions options_;
  static constexpr uint16_t kKind = 3;
  int32_t words_[WaitingShared::kWords] = {};
  double times_[WaitingShared::kTimes] = {};
  int32_t flags_[kGroups] = {};
  int32_t roots_[kGroups] = {};
  int32_t free_slots_[kSlots] = {};
};

}  // namespace

TEST(waiting_records_of_undecided_groups_end_the_stream) {
  Waiting test;
  test.begin(0, 7);
  WaitingGroup& released = test.begin(1, 8);
  for (int i = 0; i < 3; ++i) {
    test.wait(7);
    test.wait(8);
    test.wait(9);
  }
  released.state = 0;
  const auto found = test.finish();
  CHECK_EQUAL(found.size(), 1u);
  CHECK_EQUAL(found.at(7), 3);
}

TEST(waiting_records_lie_across_the_end_of_their_ring) {
  Waiting test;
  // Positions beyond the ring's end by far; the last record wraps.
  const int rounds = 5 * static_cast<int>(kCapacity / kBytes);
  for (int i = 0; i < rounds; ++i) test.wait(8);
  test.begin(3, 7);
  const int wrapped = static_cast<int>(kCapacity / 2 / kBytes);
  for (int i = 0; i < wrapped; ++i) test.wait(7);
  const auto found = test.finish();
  CHECK_EQUAL(found.size(), 1u);
  CHECK_EQUAL(found.at(7), wrapped);
}

TEST(waiting_records_of_a_group_that_is_reused_are_the_new_ones) {
  Waiting test;
  WaitingGroup& each = test.begin(0, 7);
  test.wait(7);
  each.state = 0;
  test.begin(0, 8);
  test.wait(8);
  test.wait(7);
  // The same trace once more: what was released before does not come back.
  each.state = 0;
  test.begin(1, 7);
  test.wait(7);
  const auto found = test.finish();
  CHECK_EQUAL(found.size(), 1u);
  CHECK_EQUAL(found.at(7), 1);
}

TEST(waiting_records_are_there_once_wherever_a_copy_ends) {
  for (const bool is_committed : {false, true}) {
    Waiting test;
    WaitingGroup& each = test.begin(0, 7);
    test.wait(7);
    test.copy(each, 7, is_committed);
    const auto found = test.finish();
    CHECK_EQUAL(found.size(), 1u);
    CHECK_EQUAL(found.at(7), 1);
  }
}

TEST(waiting_records_of_a_group_are_copied_from_the_ring_and_from_slots) {
  Waiting test;
  // They wrap.
  const int before = static_cast<int>(kCapacity / kBytes);
  for (int i = 0; i < before; ++i) test.link(0, 9);
  const uint32_t group = test.begin(7);
  const uint32_t other = test.begin(8);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQUAL(test.link(group, 7), WaitingShared::kDone);
    test.link(other, 8);
    CHECK_EQUAL(test.end(7), WaitingShared::kDone);
  }
  test.counts.count = 6;
  CHECK_EQUAL(test.waiting->copy_waiting(group, 0), 0u);
  CHECK_EQUAL(test.ring->control().head.load(), 6u * kBytes);
  CHECK_EQUAL(test.counts.count, 0.0);
  CHECK_EQUAL(test.taken(), 0);
  // It does not wait twice.
  CHECK_EQUAL(test.waiting->copy_waiting(group, 0), 0u);
  test.waiting->forget_waiting(other, 0);
  const auto found = test.finish();
  CHECK_EQUAL(found.size(), 1u);
  CHECK_EQUAL(found.at(7), 6);
}

TEST(waiting_records_that_stay_in_their_slots_end_the_stream) {
  Waiting test;
  test.begin(7);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(test.end(7), WaitingShared::kDone);
  CHECK_EQUAL(test.counts.count, 3.0);
  CHECK_EQUAL(test.taken(), 3);
  CHECK_EQUAL(test.finish().at(7), 3);
}

TEST(waiting_records_in_slots_are_released_with_their_group) {
  Waiting test;
  const uint32_t group = test.begin(7);
  for (int i = 0; i < 3; ++i) test.end(7);
  CHECK_EQUAL(test.end(7, &Ring::release_waiting), WaitingShared::kDone);
  CHECK_EQUAL(test.group(group).state.load(), 0u);
  CHECK_EQUAL(test.find(7), 0u);
  CHECK_EQUAL(test.taken(), 0);
  // Its slot is the next that is taken, and the one that was taken before it follows.
  CHECK(test.free_slots()[1] > test.free_slots()[2]);
  CHECK(test.finish().empty());
}

TEST(waiting_records_end_otherwise_where_something_speaks_for_their_group) {
  Waiting test;
  const uint32_t group = test.begin(7);
  test.flags()[group] = 1;
  CHECK_EQUAL(test.end(7), WaitingShared::kDone);
  CHECK(test.end(7, &Ring::release_waiting) != WaitingShared::kDone);
  test.flags()[group] = kDecided;
  CHECK(test.end(7) != WaitingShared::kDone);
  CHECK(test.end(8) != WaitingShared::kDone);
}

TEST(waiting_records_move_from_their_slots) {
  Waiting test;
  const uint32_t group = test.begin(7);
  for (int i = 0; i < 3; ++i) test.end(7);
  CHECK_EQUAL(test.waiting->relieve_slots(), 0u);
  CHECK_EQUAL(test.taken(), 0);
  CHECK_EQUAL(test.waiting->waiting_index()->of(group).records, 3u);
  CHECK_EQUAL(test.finish().at(7), 3);
}

TEST(waiting_records_stay_in_their_slots_where_the_ring_has_no_room) {
  Waiting test;
  const uint32_t group = test.begin(7);
  for (int i = 0; i < 3; ++i) test.end(7);
  ControlPage& page = test.waiting->control();
  while (page.head + 2 * kBytes + 1 < kCapacity - kCapacity / kWaitingReserve) {
    test.link(0, 9);
    page.tail = 0;
  }
  const uint64_t room = kCapacity - kCapacity / kWaitingReserve - page.head;
  CHECK_EQUAL(test.waiting->relieve_slots(), uint64_t{kBytes});
  CHECK_EQUAL(test.waiting->waiting_index()->of(group).records, room / kBytes);
  CHECK_EQUAL(test.taken(), static_cast<int32_t>(3 - room / kBytes));
  CHECK_EQUAL(test.finish().at(7), 3);
}

TEST(waiting_records_that_were_published_are_not_taken_from_their_slots_again) {
  for (const bool is_committed : {false, true}) {
    Waiting test;
    test.begin(0, 7);
    test.opener->ending(test.opener->open(kWriter, 7, kBytes));
    test.opener->ending(test.opener->open(kOtherWriter, 7, kBytes));
    if (is_committed) test.wait(7);
    CHECK_EQUAL(test.finish().at(7), 2);
  }
}

TEST(waiting_records_in_slots_are_let_go) {
  Waiting test;
  const uint32_t group = test.begin(7);
  for (int i = 0; i < 3; ++i) test.end(7);
  test.link(group, 7);
  test.waiting->drop_waiting(group);
  CHECK_EQUAL(test.taken(), 0);
  CHECK_EQUAL(test.waiting->copy_waiting(group, 0), 0u);
  CHECK_EQUAL(test.ring->control().head.load(), 0u);
  test.waiting->forget_waiting(group, 0);
  CHECK(test.finish().empty());
}

TEST(waiting_records_are_not_copied_without_room) {
  Waiting test;
  const uint32_t group = test.begin(7);
  for (int i = 0; i < 3; ++i) test.link(group, 7);
  {
    const auto still = test.ring->hold_still();
    ControlPage& page = test.ring->control();
    while (page.head - page.tail + 3 * kBytes <= kCapacity) test.publish(9);
    CHECK_EQUAL(test.waiting->copy_waiting(group, 0), uint64_t{3 * kBytes});
    CHECK_EQUAL(test.waiting->waiting_index()->of(group).records, 3u);
  }
  CHECK(test.ring->flush());
  CHECK_EQUAL(test.waiting->copy_waiting(group, 0), 0u);
  const auto found = test.finish();
  CHECK_EQUAL(found.at(7), 3);
}

TEST(waiting_records_without_a_possible_length_are_not_copied) {
  Waiting test;
  const uint32_t group = test.begin(7);
  test.link(group, 7);
  const uint32_t word = 0xffffffff;
  std::memcpy(test.waiting->mapping() + test.waiting->control_bytes(), &word, sizeof word);
  CHECK_EQUAL(test.waiting->copy_waiting(group, 0), 0u);
  CHECK_EQUAL(test.ring->control().head.load(), 0u);
  test.ring->finish(0);
}

TEST(waiting_records_of_the_oldest_group_move_where_the_ring_is_full) {
  Waiting test;
  const uint32_t group = test.begin(7);
  const uint32_t other = test.begin(8);
  for (int i = 0; i < 3; ++i) test.link(group, 7);
  ControlPage& page = test.waiting->control();
  while (page.head < kCapacity / 2) test.link(other, 8);
  // What lies before it is free at once.
  CHECK_EQUAL(test.waiting->reclaim_waiting(kBytes), 0u);
  CHECK_EQUAL(page.tail, 0u);
  CHECK_EQUAL(test.waiting->reclaim_waiting(kCapacity / 2), group);
  CHECK(test.waiting->move_waiting(group));
  CHECK(!test.waiting->move_waiting(other));
  CHECK_EQUAL(test.waiting->reclaim_waiting(kCapacity / 2), other);
  CHECK_EQUAL(page.tail, 3u * kBytes);
  test.waiting->forget_waiting(other, 0);
  CHECK_EQUAL(test.waiting->reclaim_waiting(kCapacity / 2), 0u);
  CHECK_EQUAL(page.head - page.tail, 3u * kBytes);
  CHECK_EQUAL(test.waiting->copy_waiting(group, 0), 0u);
  test.waiting->forget_waiting(group, 0);
  CHECK_EQUAL(test.finish().at(7), 3);
}

TEST(waiting_records_of_a_long_group_are_to_be_decided) {
  Waiting test;
  const uint32_t group = test.begin(7);
  size_t bytes = kBytes;
  while (test.link(group, 7) == WaitingShared::kDone) bytes += kBytes;
  CHECK_EQUAL(bytes, kCapacity / 4 / kBytes * kBytes + kBytes);
  // One that was dropped does not wait again.
  test.waiting->link_waiting();
  CHECK_EQUAL(test.waiting->waiting_index()->of(group).bytes, bytes);
}

TEST(waiting_records_have_groups_as_long_as_there_are_numbers) {
  Waiting test;
  for (uint32_t i = 1; i < kGroups; ++i) CHECK_EQUAL(test.begin(i), i);
  CHECK_EQUAL(static_cast<int32_t>(test.begin(99)), WaitingShared::kFull);
  for (const uint32_t each : {3u, 5u}) test.waiting->forget_waiting(each, 0);
  // Twice does no harm.
  test.waiting->forget_waiting(5, 0);
  for (const uint32_t each : {5u, 3u}) CHECK_EQUAL(test.begin(100 + each), each);
  CHECK_EQUAL(static_cast<int32_t>(test.begin(99)), WaitingShared::kFull);
  CHECK_EQUAL(test.find(7), 7u);
  CHECK_EQUAL(test.find(105), 5u);
  CHECK_EQUAL(test.find(5), 0u);
}

TEST(waiting_records_that_begin_late_are_of_no_decision) {
  Waiting test;
  test.waiting->forget_waiting(test.begin(7), 9);
  test.waiting->forget_waiting(test.begin(8), 0);
  CHECK(!test.is_over(8, 0));
  CHECK_EQUAL(test.reason(), 0);
  CHECK_EQUAL(test.now(), 0u);
  CHECK(!test.is_over(7, 0));
  CHECK_EQUAL(test.reason(), 9);
  const uint64_t decided = test.now();
  CHECK(decided > 0);
  for (const uint64_t number : {7, 8}) {
    CHECK(!test.is_over(number, decided + kLate));
    CHECK(test.is_over(number, decided + kLate + (1 << 26)));
  }
  CHECK(test.is_over(9, 0));
}

TEST(waiting_records_are_there_once_wherever_a_move_ends) {
  for (const bool is_committed : {false, true}) {
    Waiting test;
    WaitingGroup& each = test.begin(0, 7);
    test.wait(7);
    test.wait(8);
    test.move(each, 7, is_committed);
    const auto found = test.finish();
    CHECK_EQUAL(found.size(), 1u);
    CHECK_EQUAL(found.at(7), 1);
  }
}

TEST(waiting_records_of_a_broken_page_are_left_alone) {
  const auto break_page = [](ControlPage& page, int which) {
    const uint64_t values[] = {page.head + 1, UINT64_MAX, page.head + (uint64_t{1} << 40)};
    if (which < 3) {
      page.tail = values[which];
    } else {
      page.head = UINT64_MAX - static_cast<uint64_t>(which);
    }
  };
  for (int which = 0; which < 5; ++which) {
    Waiting test;
    test.begin(0, 7);
    test.wait(7);
    break_page(test.waiting->control(), which);
    CHECK(test.finish().empty());
  }
}

TEST(waiting_records_end_where_one_has_no_possible_length) {
  for (const uint32_t bytes : {0u, kGroupAt + 7, 0x7fffffffu, 0xffffffffu}) {
    Waiting test;
    test.begin(0, 7);
    test.wait(7);
    const auto broken = test.waiting->control().head.load();
    test.wait(7);
    test.wait(7);
    const uint32_t word = __builtin_bswap32(bytes);
    std::memcpy(test.waiting->mapping() + test.waiting->control_bytes() + broken, &word,
                sizeof word);
    const auto found = test.finish();
    CHECK_EQUAL(found.size(), 1u);
    CHECK_EQUAL(found.at(7), 1);
  }
}

TEST(waiting_records_have_a_ring_only_where_they_were_given_room) {
  TemporaryDirectory directory;
  const auto ring = open_own_file_ring(own_file_options(directory, "trace", kCapacity));
  CHECK(Ring::open_waiting(ring) == nullptr);
  ring->finish(0);
  Waiting test;
  test.ring->finish(0);
  CHECK(Ring::open_waiting(test.ring) == nullptr);
}

}  // namespace test
}  // namespace tracewright
