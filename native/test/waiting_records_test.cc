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
    // Everything that a copy changes is part of the stamp.
    auto index = std::make_unique<WaitingIndex>();
    index->call = call_;
    index->times = times_;
    index->buckets = &bucket_;
    for (int32_t** each :
         {&index->nexts, &index->flags, &index->roots, &index->shared, &index->records,
          &index->bytes, &index->firsts, &index->lasts, &index->ended, &index->numbers,
          &index->linked, &index->free_slots, &index->released}) {
      arrays_.emplace_back(kGroups);
      *each = arrays_.back().data();
    }
    index->oldest = &oldest_;
    index->of_a_set = 1;
    index->marks = marks_.data();
    index->kinds = index->root_kinds = kinds_.data();
    index->kind_count = static_cast<uint32_t>(kinds_.size());
    index->counts[kKind] = &counts;
    index->longest = kCapacity;
    index->chosen_mask = 1;
    call_[WaitingIndex::kChosenFrom] = 2;
    times_[WaitingIndex::kUntil] = counts.limit = 1e18;
    index->link_at = index->start_at = index->name_at = kStampOffset;
    waiting->index_waiting(std::move(index));
  }

  // Returns the bytes that were copied.
  uint64_t copy_positions(const std::vector<int32_t>& positions, size_t* count) {
    *count = positions.size();
    return ring->copy_waiting(*waiting, positions.data(), count, 0, 0);
  }

  // Group `index` is that of the records with this number.
  WaitingGroup& begin(uint32_t index, uint64_t number) {
    WaitingGroup& each = group(index);
    uint8_t bytes[kRecordHead];
    encode_record(bytes, kRecordHead, 0, number, 0);
    uint32_t words[2];
    std::memcpy(words, bytes + kGroupAt, sizeof words);
    each.high = __builtin_bswap32(words[0]);
    each.low = __builtin_bswap32(words[1]);
    each.from = head_of(*waiting);
    each.state = WaitingGroup::kUndecided;
    return each;
  }

  // Group `index` is the one of which records wait in slots.
  void find(uint32_t index) {
    bucket_ = static_cast<int32_t>(index);
    waiting->waiting_index()->roots[index] = 1;
  }

  // Opens a record, and ends it where it lies; or releases its group.
  int32_t end(uint64_t number, void (Ring::*call)() = &Ring::end_waiting) {
    const auto place = static_cast<uint32_t>(opener->open(kWriter, number, kBytes));
    const auto at = opener->record(place) - (ring->mapping() + kControlBytes);
    call_[WaitingIndex::kSlot] = static_cast<int32_t>(at);
    (waiting.get()->*call)();
    return call_[WaitingIndex::kSlot];
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

 private:
  static uint32_t head_of(Ring& ring) { return static_cast<uint32_t>(ring.control().head); }

  static void put(Ring& ring, uint64_t number, uint32_t producer) {
    const size_t at = ring.control().head & (ring.capacity() - 1);
    encode_record(ring.mapping() + ring.control_bytes() + at, kBytes, producer, number, 0);
    ring.control().pending = kBytes;
  }

  TemporaryDirectory directory_;
  RingOptions options_;
  static constexpr uint16_t kKind = 3;
  int32_t call_[WaitingIndex::kCalls] = {};
  double times_[WaitingIndex::kTimes] = {};
  int32_t bucket_ = 0;
  uint8_t oldest_ = 0;
  std::vector<uint16_t> kinds_ = std::vector<uint16_t>(8, kKind);
  std::deque<std::vector<int32_t>> arrays_;
  std::vector<uint16_t> marks_ = std::vector<uint16_t>(kCapacity);
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

TEST(waiting_records_are_copied_after_the_head_and_not_published) {
  Waiting test;
  WaitingGroup& each = test.begin(0, 7);
  // They wrap.
  const int before = static_cast<int>(kCapacity / kBytes);
  for (int i = 0; i < before; ++i) test.wait(9);
  std::vector<int32_t> positions;
  for (int i = 0; i < 3; ++i) {
    positions.push_back(static_cast<int32_t>(test.waiting->control().head));
    test.wait(7);
    test.wait(8);
  }
  size_t count = 0;
  CHECK_EQUAL(test.copy_positions(positions, &count), 3u * kBytes);
  CHECK_EQUAL(count, 3u);
  CHECK_EQUAL(test.ring->control().head.load(), 0u);
  each.mark = 0;
  each.upto = static_cast<uint32_t>(test.waiting->control().head);
  each.state = WaitingGroup::kCopying;
  test.ring->control().pending = 3 * kBytes;
  test.ring->commit_as_is();
  const auto found = test.finish();
  CHECK_EQUAL(found.size(), 1u);
  CHECK_EQUAL(found.at(7), 3);
  CHECK_EQUAL(test.copy_positions(positions, &count), 0u);
}

TEST(waiting_records_that_stay_in_their_slots_end_the_stream) {
  Waiting test;
  test.begin(1, 7);
  test.find(1);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(test.end(7), WaitingIndex::kDone);
  CHECK_EQUAL(test.counts.count, 3.0);
  CHECK_EQUAL(test.taken(), 3);
  CHECK_EQUAL(test.finish().at(7), 3);
}

TEST(waiting_records_in_slots_are_released_with_their_group) {
  Waiting test;
  const WaitingGroup& group = test.begin(1, 7);
  test.find(1);
  for (int i = 0; i < 3; ++i) test.end(7);
  CHECK_EQUAL(test.end(7, &Ring::release_waiting), WaitingIndex::kDone);
  CHECK_EQUAL(group.state.load(), 0u);
  CHECK_EQUAL(test.taken(), 0);
  // Its slot is the next that is taken, and the one that was taken before it follows.
  const WaitingIndex& index = *test.waiting->waiting_index();
  CHECK(index.free_slots[1] > index.free_slots[2]);
  CHECK(test.finish().empty());
}

TEST(waiting_records_in_slots_are_copied_from_there) {
  Waiting test;
  test.begin(1, 7);
  test.find(1);
  for (int i = 0; i < 3; ++i) test.end(7);
  CHECK_EQUAL(test.waiting->move_ended(1, Ring::EndedTo::target, 0), uint64_t{3 * kBytes});
  CHECK_EQUAL(test.taken(), 0);
  CHECK_EQUAL(test.counts.count, 0.0);
  CHECK_EQUAL(test.waiting->move_ended(1, Ring::EndedTo::target, 0), uint64_t{0});
  CHECK_EQUAL(test.finish().at(7), 3);
}

TEST(waiting_records_move_from_their_slots_as_far_as_there_is_room) {
  Waiting test;
  test.begin(1, 7);
  test.find(1);
  for (int i = 0; i < 3; ++i) test.end(7);
  CHECK_EQUAL(test.waiting->move_ended(1, Ring::EndedTo::ring, 2 * kBytes + 1),
              uint64_t{2 * kBytes});
  CHECK_EQUAL(test.taken(), 1);
  CHECK_EQUAL(test.waiting->waiting_index()->records[1], 2);
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
  test.begin(1, 7);
  test.find(1);
  for (int i = 0; i < 3; ++i) test.end(7);
  test.waiting->move_ended(1, Ring::EndedTo::nowhere, 0);
  CHECK_EQUAL(test.taken(), 0);
  CHECK(test.finish().empty());
}

TEST(waiting_records_are_not_copied_without_room) {
  Waiting test;
  test.begin(0, 7);
  test.wait(7);
  size_t count = 0;
  // As many as a ring takes at once.
  const std::vector<int32_t> positions(kCapacity / kBytes + 1, 0);
  CHECK_EQUAL(test.copy_positions(positions, &count), kCapacity / 2 / kBytes * kBytes);
  CHECK_EQUAL(count, kCapacity / 2 / kBytes);
  const uint32_t word = 0xffffffff;
  std::memcpy(test.waiting->mapping() + test.waiting->control_bytes(), &word, sizeof word);
  CHECK_EQUAL(test.copy_positions({0}, &count), 0u);
  CHECK_EQUAL(count, 0u);
  test.ring->finish(0);
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
