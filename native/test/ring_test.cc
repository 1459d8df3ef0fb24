#include "ring/ring.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "file/file_descriptor.h"
#include "producer.h"
#include "record.h"
#include "ring/ring_file.h"
#include "sink/file_sink.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr char kPreamble[] = "preamble";
constexpr size_t kPreambleBytes = sizeof kPreamble - 1;

RingOptions file_options(const TemporaryDirectory& directory, size_t capacity) {
  RingOptions options = own_file_options(directory, "stream", capacity);
  options.base_offset = kPreambleBytes;
  return options;
}

std::shared_ptr<Ring> open_file_ring(const RingOptions& options) {
  return open_own_file_ring(options, kPreamble);
}

Survey survey_stream(const RingOptions& options) {
  return survey_file(options.target, kPreambleBytes, options.stamp == Stamp::big);
}

// Records of all sizes from the smallest to half the ring.
template <Stamp kStamp>
void hammer(size_t capacity, uint64_t total_bytes, uint32_t longest) {
  TemporaryDirectory directory;
  RingOptions options = file_options(directory, capacity);
  options.stamp = kStamp;
  options.epoch = kStamp == Stamp::big ? Clock::monotonic() : 0;
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 7);
  std::minstd_rand random(static_cast<unsigned>(capacity));
  std::uniform_int_distribution<uint32_t> size(kRecordHead, longest);
  uint64_t bytes = 0;
  std::thread thread([&] {
    while (bytes < total_bytes) {
      const uint32_t each = size(random);
      CHECK(producer.write<kStamp>(each));
      bytes += each;
    }
  });
  thread.join();
  ring->finish(0);
  CHECK(!directory.holds(".stream.ring"));
  CHECK_EQUAL(ring->head(), bytes);
  CHECK_EQUAL(ring->tail(), bytes);
  const Survey survey = survey_stream(options);
  CHECK_EQUAL(survey.records(7), producer.written());
}

}  // namespace

TEST(ring_carries_small_records_through_many_wraps) {
  hammer<Stamp::native>(2 << 20, scaled(400 << 20), 120);
}

TEST(ring_carries_records_up_to_half_of_it) {
  hammer<Stamp::big>(1 << 20, scaled(400 << 20), 512 << 10);
}

TEST(ring_of_the_smallest_size_carries_everything) {
  hammer<Stamp::native>(64 << 10, scaled(100 << 20), 32 << 10);
}

TEST(ring_of_one_page_carries_everything) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  hammer<Stamp::native>(page, scaled(8 << 20), static_cast<uint32_t>(page / 2));
}

TEST(ring_carries_a_record_as_large_as_itself) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 64 << 10);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  for (int i = 0; i < 100; ++i) {
    CHECK(producer.write<Stamp::native>(64 << 10));
    CHECK(producer.write<Stamp::native>(kRecordHead + static_cast<uint32_t>(i)));
  }
  ring->finish(0);
  CHECK_EQUAL(survey_stream(options).records(1), 200u);
}

TEST(ring_refuses_a_stamp_before_the_last_one) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 64 << 10);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  CHECK(producer.write_stamped(64, 1000));
  CHECK(producer.write_stamped(64, 1000));
  CHECK(!producer.write_stamped(64, 999));
  CHECK(producer.write_stamped(64, 1001));
  // The ring's own clock is far beyond, and what was refused has left no trace.
  CHECK(producer.write<Stamp::native>(64));
  CHECK(!producer.write_stamped(64, 1002));
  const uint64_t future = Clock::monotonic() + 3600000000000u;
  CHECK(producer.write_stamped(64, future));
  // Nor may the ring's own clock go back before an explicit stamp.
  CHECK(producer.write<Stamp::native>(64));
  ring->finish(0);
  const Survey survey = survey_stream(options);
  CHECK_EQUAL(survey.records(1), 6u);
  CHECK_EQUAL(survey.last_stamp(1), future);
}

TEST(ring_does_not_call_a_stamp_wrong_that_comes_after_its_end) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 64 << 10);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  lay_epilogue(*ring, 1, 1, kRecordHead, 1, 1);
  const uint64_t seen = Clock::monotonic();
  CHECK(producer.write_stamped(64, seen - 1000));
  // As a signal does, while the thread is about to report what it saw before.
  ring->finish(0);
  CHECK(producer.write_stamped(64, seen));
  CHECK_EQUAL(survey_stream(options).records(1), 2u);
}

TEST(ring_gives_stamps_that_follow_the_kernels_clock) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 1 << 20);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  // Long enough for several anchors.
  const uint64_t until = Clock::monotonic() + 500000000;
  while (Clock::monotonic() < until) CHECK(producer.write<Stamp::native>(kRecordHead));
  const uint64_t before = Clock::monotonic();
  CHECK(producer.write<Stamp::native>(kRecordHead));
  const uint64_t after = Clock::monotonic();
  ring->finish(0);
  const uint64_t last = survey_stream(options).last_stamp(1);
  constexpr uint64_t kTolerance = 200000;
  CHECK(last + kTolerance > before);
  CHECK(last < after + kTolerance);
}

TEST(ring_reads_its_clock_since_its_epoch) {
  TemporaryDirectory directory;
  RingOptions options = file_options(directory, 64 << 10);
  options.stamp = Stamp::big;
  options.epoch = Clock::instance().now();
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  ring->read_stamp<Stamp::big>();
  const double start = ring->control().stamp;
  CHECK(start >= 0);
  CHECK(producer.write<Stamp::big>(64));
  ring->finish(0);
  CHECK(static_cast<double>(survey_stream(options).last_stamp(1)) >= start);
}

TEST(ring_writes_large_records_past_itself_in_order) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 64 << 10);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  uint64_t records = 0;
  std::minstd_rand random(1);
  for (int i = 0; i < 200; ++i) {
    const unsigned small = random() % 50;
    for (unsigned k = 0; k < small; ++k, ++records) CHECK(producer.write<Stamp::native>(100 + k));
    Failure failure;
    CHECK(producer.write_through((64u << 10) + static_cast<uint32_t>(random() % 300000), &failure));
    ++records;
    CHECK_EQUAL(ring->control().stalled, 1);
    CHECK(ring->control().stall_to >= ring->control().stall_from);
  }
  ring->finish(0);
  CHECK_EQUAL(survey_stream(options).records(1), records);
}

TEST(ring_refuses_a_large_record_that_was_stamped_too_early) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 64 << 10);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  CHECK(producer.write<Stamp::native>(64));
  uint8_t head[kRecordHead] = {};
  const uint8_t body[8] = {};
  Failure failure;
  CHECK(!ring->write_through(head, sizeof head, body, sizeof body, true, &failure));
  CHECK_EQUAL(failure.error, ERANGE);
  ring->finish(0);
  CHECK_EQUAL(survey_stream(options).records(1), 1u);
  CHECK(!ring->write_through(head, sizeof head, body, sizeof body, false, &failure));
  CHECK_EQUAL(failure.error, EPIPE);
}

TEST(ring_appends_the_epilogue_that_was_chosen) {
  for (int32_t chosen = 0; chosen < 3; ++chosen) {
    TemporaryDirectory directory;
    const RingOptions options = file_options(directory, 64 << 10);
    const auto ring = open_file_ring(options);
    Producer producer(*ring, 1);
    // Laid down as the records that follow; one of them for the first, none for the second.
    lay_epilogue(*ring, 1, 1, kRecordHead, 1, 3);
    lay_epilogue(*ring, 2, 2, kRecordHead, 1, 3);
    for (int i = 0; i < 3; ++i) CHECK(producer.write<Stamp::native>(64));
    ring->control().epilogue = chosen;
    const uint64_t before = Clock::monotonic();
    ring->finish(0);
    ring->finish(0);
    const Survey survey = survey_stream(options);
    CHECK_EQUAL(survey.records(1), 3u + static_cast<uint64_t>(chosen));
    if (chosen > 0) CHECK(survey.last_stamp(1) + 200000 > before);
  }
}

TEST(ring_finishes_while_its_producer_is_committing) {
  for (int turn = 0; turn < 50; ++turn) {
    TemporaryDirectory directory;
    const RingOptions options = file_options(directory, 64 << 10);
    const auto ring = open_file_ring(options);
    Producer producer(*ring, 1);
    // A record of another producer, for its number cannot be known.
    lay_epilogue(*ring, 1, 1, 48, 2, 0);
    std::atomic<bool> closed{false};
    std::thread thread([&] {
      while (producer.write<Stamp::native>(100)) {
      }
      CHECK_EQUAL(ring->make_room(1), static_cast<int64_t>(Ring::Room::closed));
      closed.store(true);
    });
    CHECK(eventually([&] { return ring->head() > 100000; }));
    ring->finish(0);
    thread.join();
    CHECK(closed.load());
    const Survey survey = survey_stream(options);
    CHECK(survey.records(1) >= 1000u);
    CHECK(survey.records(1) <= producer.written());
    CHECK_EQUAL(survey.records(2), 1u);
    CHECK(!directory.holds(".stream.ring"));
  }
}

TEST(ring_is_finished_once_however_many_ask) {
  for (int turn = 0; turn < 50; ++turn) {
    TemporaryDirectory directory;
    const RingOptions options = file_options(directory, 64 << 10);
    const auto ring = open_file_ring(options);
    Producer producer(*ring, 1);
    lay_epilogue(*ring, 1, 1, kRecordHead, 1, 1);
    CHECK(producer.write<Stamp::native>(100));
    std::thread other([&] { ring->finish(0); });
    std::thread third([&] { DrainThread::instance().finish_all(); });
    ring->finish(0);
    other.join();
    third.join();
    CHECK_EQUAL(survey_stream(options).records(1), 2u);
  }
}

TEST(ring_is_held_although_somebody_looked_at_it_meanwhile) {
  TemporaryDirectory directory;
  const std::string path = directory.path("ring");
  FileDescriptor looks(open(path.c_str(), O_RDWR | O_CREAT, 0600));
  FileDescriptor holds(open(path.c_str(), O_RDWR));
  CHECK(flock(looks.get(), LOCK_SH | LOCK_NB) == 0);
  std::thread look([&] {
    pause_us(20000);
    flock(looks.get(), LOCK_UN);
  });
  hold_ring_file(holds.get());
  look.join();
  CHECK(is_ring_file_held(looks.get()));
  // Not for ever, if another process keeps it.
  FileDescriptor late(open(path.c_str(), O_RDWR));
  const uint64_t from = Clock::monotonic();
  hold_ring_file(late.get());
  CHECK(Clock::monotonic() - from < 10000000000u);
  holds.reset();
  CHECK(!is_ring_file_held(looks.get()));
}

TEST(ring_without_records_leaves_no_file_where_that_is_wished) {
  TemporaryDirectory directory;
  RingOptions options = file_options(directory, 64 << 10);
  options.remove_if_empty = true;
  open_file_ring(options)->finish(0);
  CHECK(!directory.holds("stream"));
  CHECK(!directory.holds(".stream.ring"));
}

TEST(ring_drops_when_it_is_full_and_told_to) {
  TemporaryDirectory directory;
  RingOptions options = file_options(directory, 64 << 10);
  options.full = FullPolicy::drop;
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  uint64_t tried = 0;
  uint64_t refused = 0;
  for (; tried < scaled(2000000); ++tried) refused += producer.write<Stamp::native>(1000) ? 0 : 1;
  // Faster than any drain thread, so that some are turned away; those that were not all arrive.
  CHECK(refused > 0);
  CHECK_EQUAL(ring->control().stalled, 0);
  ring->finish(0);
  CHECK_EQUAL(survey_stream(options).records(1), tried - refused);
}

TEST(ring_blocks_when_it_is_full_and_says_how_long) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 64 << 10);
  const auto ring = open_file_ring(options);
  const uint64_t before = Clock::monotonic();
  Producer producer(*ring, 1);
  bool stalled = false;
  uint64_t written = 0;
  // A drain thread that gets all the processor keeps up for a while.
  while (written < 10000 || (!stalled && written < 300000)) {
    CHECK(producer.write<Stamp::native>(1000));
    ++written;
    if (ring->control().stalled == 1 && !stalled) {
      stalled = true;
      CHECK(ring->control().stall_from >= before);
      CHECK(ring->control().stall_to >= ring->control().stall_from);
    }
  }
  CHECK(stalled);
  CHECK_EQUAL(ring->make_room(static_cast<uint32_t>(ring->capacity()) + 1),
              static_cast<int64_t>(Ring::Room::full));
  ring->finish(0);
  CHECK_EQUAL(survey_stream(options).records(1), written);
}

TEST(ring_flush_brings_everything_to_the_file) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 1 << 20);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  for (uint64_t i = 1; i <= 100; ++i) {
    CHECK(producer.write<Stamp::native>(500));
    CHECK(ring->flush());
    CHECK_EQUAL(survey_stream(options).records(1), i);
  }
  ring->finish(0);
  CHECK(ring->flush());
}

TEST(ring_waits_until_what_was_committed_has_left) {
  TemporaryDirectory directory;
  const RingOptions options = file_options(directory, 1 << 20);
  const auto ring = open_file_ring(options);
  Producer producer(*ring, 1);
  for (uint64_t i = 1; i <= 50; ++i) {
    CHECK(producer.write<Stamp::native>(500));
    const uint64_t position = ring->head();
    CHECK(ring->wait_drained(position, 60000));
    CHECK(ring->tail() >= position);
  }
  // A wait that a finish ends.
  std::thread waiter([&] { CHECK(ring->wait_drained(ring->head() + 1, 60000)); });
  CHECK(eventually([&] { return ring->awaited(); }));
  ring->finish(0);
  waiter.join();
}

TEST(ring_that_is_closed_takes_commits_and_changes_nothing) {
  Ring* const ring = Ring::closed_ring();
  CHECK(ring->finished());
  for (int i = 0; i < 1000; ++i) {
    ring->commit<Stamp::native>();
    ring->commit<Stamp::big>();
    ring->commit<Stamp::none>();
    ring->commit<Stamp::interval>();
    ring->read_stamp<Stamp::big>();
    ring->read_stamp<Stamp::interval>();
  }
  CHECK_EQUAL(ring->make_room(1), static_cast<int64_t>(Ring::Room::closed));
  CHECK(ring->flush());
  CHECK(ring->drain());
}

TEST(ring_open_names_what_is_in_its_way) {
  TemporaryDirectory directory;
  RingOptions options = file_options(directory, 64 << 10);
  options.path = directory.path("absent/ring");
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, kPreamble, &failure);
  CHECK(Ring::open(options, sink, DrainThread::instance(), &failure) == nullptr);
  CHECK_EQUAL(failure.error, ENOENT);
  CHECK(failure.action.find(options.path) != std::string::npos);
  // A file of another trace is not touched.
  options.path = options.target;
  CHECK(Ring::open(options, sink, DrainThread::instance(), &failure) == nullptr);
  CHECK_EQUAL(failure.error, EEXIST);
  CHECK(directory.holds("stream"));
}

TEST(ring_leaves_no_descriptor_and_no_mapping_behind) {
#if defined(__linux__)
  TemporaryDirectory directory;
  const auto mappings = [&] {
    size_t count = 0;
    std::FILE* const file = std::fopen("/proc/self/maps", "r");
    char line[4096];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::string(line).find("tracewright-native-") != std::string::npos) ++count;
    }
    std::fclose(file);
    return count;
  };
  for (int i = 0; i < 200; ++i) {
    const RingOptions options = file_options(directory, 64 << 10);
    {
      const auto ring = open_file_ring(options);
      Producer producer(*ring, 1);
      CHECK(producer.write<Stamp::native>(100));
      CHECK(mappings() >= 2);
      ring->finish(0);
    }
    CHECK(unlink(options.target.c_str()) == 0);
  }
  // The drain thread may hold the last one for the rest of its round.
  CHECK(eventually([&] { return mappings() == 0; }));
#else
  SKIP("/proc is Linux's");
#endif
}

}  // namespace test
}  // namespace tracewright
