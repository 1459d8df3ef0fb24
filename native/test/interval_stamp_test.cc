// Records of `interval` stamps, and the prefaces that the commit writes before the first of a turn.
#include "ring/interval_stamp.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "check.h"
#include "file_limit.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

// A record: its kind, then start and stop by the wall clock, then counters: their count and one.
constexpr size_t kWallOffset = 1;
constexpr size_t kCountersOffset = 13;
constexpr uint32_t kRecordBytes = 30;

struct Time {
  uint32_t seconds;
  uint32_t ns;
};

Time time_at(const std::string& bytes, size_t at) {
  const auto* const from = reinterpret_cast<const uint8_t*>(bytes.data()) + at;
  const uint32_t seconds = static_cast<uint32_t>(from[0] << 8 | from[1]);
  uint32_t ns = 0;
  for (size_t i = 2; i < 6; ++i) ns = ns << 8 | from[i];
  return {seconds, ns};
}

std::string record_of(char kind, char counter) {
  std::string record(kRecordBytes, '\0');
  record[0] = kind;
  record[kCountersOffset] = 1;
  record[kCountersOffset + 8] = static_cast<char>(counter - 1);
  record[kCountersOffset + 16] = counter;
  return record;
}

RingOptions interval_options(const TemporaryDirectory& directory, int64_t seconds_ago) {
  RingOptions options = own_file_options(directory, "calls", 64 << 10);
  options.stamp = Stamp::interval;
  options.kernel_clock = true;
  options.interval.wall.offset = kWallOffset;
  options.interval.wall.bias =
      static_cast<int64_t>(Clock::monotonic() / IntervalStamp::kSecond) - seconds_ago;
  options.interval.wall.preface = record_of('<', 0) + record_of('>', 0);
  options.interval.counters_offset = kCountersOffset;
  return options;
}

IntervalArea& area_of(Ring& ring) {
  return *reinterpret_cast<IntervalArea*>(ring.control().stamp_area);
}

void commit(Ring& ring, char kind, char counter) {
  CHECK(ring.make_room(kRecordBytes) >= kRecordBytes);
  const std::string record = record_of(kind, counter);
  std::memcpy(ring.mapping() + ring.control_bytes() + ring.control().position, record.data(),
              record.size());
  ring.control().pending = kRecordBytes;
  ring.commit<Stamp::interval>();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string kinds_in(const std::string& bytes) {
  std::string kinds;
  for (size_t at = 0; at < bytes.size(); at += kRecordBytes) kinds += bytes[at];
  return kinds;
}

}  // namespace

TEST(interval_stamps_say_start_and_stop) {
  TemporaryDirectory directory;
  const RingOptions options = interval_options(directory, 100);
  const auto ring = open_own_file_ring(options);
  area_of(*ring).wall_start = 99.5e9;
  commit(*ring, 'a', 7);
  area_of(*ring).wall_start = -1;
  commit(*ring, 'b', 7);
  CHECK_EQUAL(area_of(*ring).preface, 0.0);
  ring->finish(0);
  const std::string bytes = read_file(options.target);
  CHECK_EQUAL(kinds_in(bytes), std::string("ab"));
  CHECK_EQUAL(time_at(bytes, kWallOffset).seconds, 99u);
  CHECK_EQUAL(time_at(bytes, kWallOffset).ns, 500000000u);
  CHECK(time_at(bytes, kWallOffset + 6).seconds - 100 < 60);
  CHECK_EQUAL(
      bytes.compare(kRecordBytes + kWallOffset, 6, bytes, kRecordBytes + kWallOffset + 6, 6), 0);
}

TEST(interval_stamps_put_a_preface_before_each_turn) {
  TemporaryDirectory directory;
  const RingOptions options = interval_options(directory, 2 * 65536 + 100);
  const auto ring = open_own_file_ring(options);
  area_of(*ring).wall_start = -1;
  commit(*ring, 'a', 7);
  CHECK_EQUAL(area_of(*ring).preface, 1.0);
  CHECK_EQUAL(area_of(*ring).wall_turn, 2 * 65536e9);
  area_of(*ring).preface = 0;
  commit(*ring, 'b', 8);
  CHECK_EQUAL(area_of(*ring).preface, 0.0);
  ring->finish(0);
  const std::string bytes = read_file(options.target);
  CHECK_EQUAL(kinds_in(bytes), std::string("<><>ab"));
  for (size_t i = 0; i < 4; ++i) {
    for (const size_t at : {kWallOffset, kWallOffset + 6}) {
      CHECK_EQUAL(time_at(bytes, i * kRecordBytes + at).seconds, i % 2 == 0 ? 32768u : 0u);
      CHECK_EQUAL(time_at(bytes, i * kRecordBytes + at).ns, 0u);
    }
    // The counters at the end of the call that follows.
    CHECK_EQUAL(static_cast<int>(bytes[i * kRecordBytes + kCountersOffset + 8]), 7);
    CHECK_EQUAL(static_cast<int>(bytes[i * kRecordBytes + kCountersOffset + 16]), 7);
  }
  CHECK_EQUAL(static_cast<int>(bytes[4 * kRecordBytes + kCountersOffset + 8]), 6);
}

TEST(interval_stamps_move_a_start_that_no_record_can_say) {
  TemporaryDirectory directory;
  const RingOptions options = interval_options(directory, 3 * 65536 + 100);
  const auto ring = open_own_file_ring(options);
  area_of(*ring).wall_start = 1e9;
  commit(*ring, 'a', 7);
  const double moved = area_of(*ring).moved_start;
  CHECK(moved > 3 * 65536 + 99 - 65400 - 1 && moved < 3 * 65536 + 99 - 65400 + 60);
  ring->finish(0);
  const std::string bytes = read_file(options.target);
  CHECK_EQUAL(kinds_in(bytes), std::string("<><><>a"));
  const uint32_t start = time_at(bytes, 6 * kRecordBytes + kWallOffset).seconds;
  const uint32_t stop = time_at(bytes, 6 * kRecordBytes + kWallOffset + 6).seconds;
  CHECK_EQUAL((stop - start) & 0xffff, 65400u);
}

TEST(interval_stamps_put_a_preface_before_a_record_past_the_ring) {
  TemporaryDirectory directory;
  const RingOptions options = interval_options(directory, 65536 + 100);
  const auto ring = open_own_file_ring(options);
  area_of(*ring).wall_start = -1;
  std::string record = record_of('a', 7);
  const std::string body(100 << 10, 'x');
  Failure failure;
  CHECK(ring->write_through(reinterpret_cast<uint8_t*>(record.data()), record.size(),
                            reinterpret_cast<const uint8_t*>(body.data()), body.size(), false,
                            &failure));
  CHECK_EQUAL(area_of(*ring).preface, 1.0);
  ring->finish(0);
  const std::string bytes = read_file(options.target);
  CHECK_EQUAL(kinds_in(bytes.substr(0, 3 * kRecordBytes)), std::string("<>a"));
  CHECK(bytes.substr(3 * kRecordBytes) == body);
}

TEST(interval_stamps_drop_a_record_whose_preface_finds_no_room) {
  TemporaryDirectory directory;
  const RingOptions options = interval_options(directory, 65534);
  const auto ring = open_own_file_ring(options);
  limit_files(1);
  area_of(*ring).wall_start = -1;
  std::string expected;
  while (ring->capacity() - (ring->head() - ring->tail()) >= 3 * kRecordBytes) {
    commit(*ring, 'a', 7);
    expected += 'a';
  }
  CHECK_EQUAL(area_of(*ring).preface, 0.0);
  sleep(3);
  commit(*ring, 'b', 7);
  CHECK_EQUAL(area_of(*ring).preface, 2.0);
  limit_files(0);
  area_of(*ring).preface = 0;
  commit(*ring, 'c', 7);
  CHECK_EQUAL(area_of(*ring).preface, 1.0);
  ring->finish(0);
  CHECK(kinds_in(read_file(options.target)) == expected + "<>c");
}

}  // namespace test
}  // namespace tracewright
