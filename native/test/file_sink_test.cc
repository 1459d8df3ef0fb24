#include "sink/file_sink.h"

#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "file_limit.h"
#include "producer.h"
#include "record.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr char kPreamble[] = "shared preamble";
constexpr size_t kPreambleBytes = sizeof kPreamble - 1;

std::shared_ptr<SharedFileSink> create_shared(const std::string& path) {
  Failure failure;
  const auto sink = SharedFileSink::create(path, kPreamble, false, {}, &failure);
  CHECK(sink != nullptr);
  return sink;
}

RingOptions ring_options(const std::string& target, size_t capacity) {
  RingOptions options = shared_options(TargetKind::shared_file, capacity);
  options.target = target;
  return options;
}

}  // namespace

TEST(shared_file_holds_every_record_of_every_ring_once) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace");
  const auto sink = create_shared(path);
  constexpr uint32_t kThreads = 6;
  const uint64_t bytes_each = scaled(48 << 20);
  uint64_t written[kThreads] = {};
  std::vector<std::thread> threads;
  for (uint32_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      const auto ring = open_ring(ring_options(path, 256 << 10), sink);
      Producer producer(*ring, id);
      std::minstd_rand random(id + 1);
      for (uint64_t bytes = 0; bytes < bytes_each;) {
        // Now and then one that goes past the ring.
        const bool large = random() % 20000 == 0;
        const uint32_t size = large ? (256u << 10) + static_cast<uint32_t>(random() % 100000)
                                    : kRecordHead + static_cast<uint32_t>(random() % 400);
        Failure failure;
        CHECK(large ? producer.write_through(size, &failure) : producer.write<Stamp::big>(size));
        bytes += size;
      }
      ring->finish(0);
      written[id] = producer.written();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Survey survey = survey_file(path, kPreambleBytes, true);
  uint64_t all = 0;
  for (uint32_t id = 0; id < kThreads; ++id) {
    CHECK_EQUAL(survey.records(id), written[id]);
    all += written[id];
  }
  CHECK_EQUAL(sink->counts().records.load(), all);
  CHECK_EQUAL(sink->counts().errors.load(), 0u);
}

TEST(shared_file_notes_the_place_of_a_chunk_before_it_is_written) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace");
  const auto sink = create_shared(path);
  const auto ring = open_ring(ring_options(path, 64 << 10), sink);
  const auto other = open_ring(ring_options(path, 64 << 10), sink);
  Producer producer(*ring, 1);
  for (int i = 0; i < 10; ++i) CHECK(producer.write<Stamp::big>(100));
  CHECK(eventually([&] { return ring->tail() == 1000u; }));
  ControlPage& control = ring->control();
  CHECK_EQUAL(control.claim_to.load(), 1000u);
  // The disk fills up: the next chunk gets a place that it cannot fill.
  limit_files(kPreambleBytes + 1500);
  for (int i = 0; i < 10; ++i) CHECK(producer.write<Stamp::big>(100));
  CHECK(eventually([&] { return sink->failing(); }));
  CHECK_EQUAL(ring->tail(), 1000u);
  CHECK_EQUAL(control.claim_from.load(), 1000u);
  const uint64_t claimed_to = control.claim_to.load();
  CHECK(claimed_to > 1000u && claimed_to <= 2000u);
  CHECK_EQUAL(control.claim_offset.load(), kPreambleBytes + 1000);
  CHECK_EQUAL(sink->last_failure().error, EFBIG);
  // Another ring cannot get in between, nor is anything lost once there is room again.
  Producer second(*other, 2);
  for (int i = 0; i < 10; ++i) CHECK(second.write<Stamp::big>(100));
  limit_files(0);
  CHECK(eventually([&] { return ring->tail() == 2000u && other->tail() == 1000u; }));
  CHECK(!sink->failing());
  ring->finish(0);
  other->finish(0);
  const Survey survey = survey_file(path, kPreambleBytes, true);
  CHECK_EQUAL(survey.records(1), 20u);
  CHECK_EQUAL(survey.records(2), 10u);
}

TEST(shared_file_stays_whole_when_a_large_record_finds_the_disk_full) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace");
  const auto sink = create_shared(path);
  const auto ring = open_ring(ring_options(path, 64 << 10), sink);
  const auto other = open_ring(ring_options(path, 64 << 10), sink);
  Producer producer(*ring, 1);
  Producer second(*other, 2);
  CHECK(producer.write<Stamp::big>(100));
  CHECK(ring->flush());
  limit_files(kPreambleBytes + 50000);
  Failure failure;
  CHECK(!producer.write_through(100000, &failure));
  CHECK_EQUAL(failure.error, EFBIG);
  CHECK(second.write<Stamp::big>(100));
  CHECK(other->flush());
  limit_files(0);
  CHECK(producer.write_through(100000, &failure));
  CHECK(producer.write<Stamp::big>(100));
  ring->finish(0);
  other->finish(0);
  const Survey survey = survey_file(path, kPreambleBytes, true);
  CHECK_EQUAL(survey.records(1), 3u);
  CHECK_EQUAL(survey.records(2), 1u);
}

TEST(own_file_loses_nothing_when_the_disk_is_full_for_a_while) {
  TemporaryDirectory directory;
  RingOptions options = ring_options(directory.path("stream"), 64 << 10);
  options.target_kind = TargetKind::own_file;
  options.length_offset = -1;
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  CHECK(sink != nullptr);
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  limit_files(100000);
  // What the file takes and what the ring takes beyond it; then the producer is turned away without
  // a wait.
  uint64_t refused = 0;
  for (int i = 0; i < 3000; ++i) refused += producer.write<Stamp::big>(100) ? 0 : 1;
  CHECK(refused > 0);
  CHECK(sink->failing());
  CHECK_EQUAL(producer.written(), 3000 - refused);
  CHECK(producer.written() * 100 > 100000);
  CHECK(!producer.write_through(70000, &failure));
  limit_files(0);
  CHECK(eventually([&] { return ring->tail() == ring->head(); }));
  CHECK(!sink->failing());
  CHECK(producer.write_through(70000, &failure));
  for (int i = 0; i < 1000; ++i) CHECK(producer.write<Stamp::big>(100));
  ring->finish(0);
  CHECK_EQUAL(survey_file(options.target, 0, true).records(1), producer.written());
}

TEST(own_file_keeps_its_ring_for_recovery_when_the_disk_stays_full) {
  TemporaryDirectory directory;
  RingOptions options = ring_options(directory.path("stream"), 64 << 10);
  options.target_kind = TargetKind::own_file;
  options.path = directory.path(".stream.ring");
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  for (int i = 0; i < 100; ++i) CHECK(producer.write<Stamp::big>(100));
  CHECK(ring->flush());
  limit_files(10000);
  CHECK(producer.write<Stamp::big>(100));
  ring->finish(0);
  DrainThread::instance().finish_all();
  limit_files(0);
  CHECK(directory.holds(".stream.ring"));
  CHECK_EQUAL(survey_file(options.target, 0, true).records(1), 100u);
  CHECK_EQUAL(ring->head() - ring->tail(), 100u);
}

TEST(own_file_keeps_its_ring_when_only_the_epilogue_found_no_room) {
  TemporaryDirectory directory;
  RingOptions options = ring_options(directory.path("stream"), 64 << 10);
  options.target_kind = TargetKind::own_file;
  options.path = directory.path(".stream.ring");
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  lay_epilogue(*ring, 1, 1, kRecordHead, 1, 100);
  for (int i = 0; i < 100; ++i) CHECK(producer.write<Stamp::big>(100));
  CHECK(ring->flush());
  limit_files(10010);
  ring->finish(0);
  DrainThread::instance().finish_all();
  limit_files(0);
  CHECK(directory.holds(".stream.ring"));
  CHECK_EQUAL(survey_file(options.target, 0, true).records(1), 100u);
}

TEST(file_sinks_do_not_overwrite_unless_told_to) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace");
  Failure failure;
  CHECK(OwnFileSink::create(path, "one", &failure) != nullptr);
  CHECK(OwnFileSink::create(path, "two", &failure) == nullptr);
  CHECK_EQUAL(failure.error, EEXIST);
  CHECK(SharedFileSink::create(path, "three", false, {}, &failure) == nullptr);
  CHECK_EQUAL(failure.error, EEXIST);
  CHECK(SharedFileSink::create(path, "four", true, {}, &failure) != nullptr);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  char text[16] = {};
  CHECK_EQUAL(std::fread(text, 1, sizeof text, file), 4u);
  CHECK_EQUAL(std::string(text), "four");
  std::fclose(file);
}

}  // namespace test
}  // namespace tracewright
