// Streams that end while their disk is full, in a process that lives on.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "file/replace_file.h"
#include "file_limit.h"
#include "producer.h"
#include "record.h"
#include "sink/file_sink.h"
#include "sink/shared_target.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr size_t kCapacity = 64 << 10;

void write_records(Producer& producer, int count) {
  for (int i = 0; i < count; ++i) CHECK(producer.write<Stamp::big>(100));
}

RingOptions stream_options(const TemporaryDirectory& directory, const std::string& name) {
  RingOptions options = own_file_options(directory, name, kCapacity);
  options.stamp = Stamp::big;
  return options;
}

RingOptions trace_options(const TemporaryDirectory& directory, int number) {
  RingOptions options = shared_options(TargetKind::shared_file, kCapacity);
  options.target = directory.path("trace");
  options.path = directory.path(".trace." + std::to_string(number) + ".ring");
  return options;
}

std::shared_ptr<SharedTarget> join_trace(const TemporaryDirectory& directory) {
  const std::string path = directory.path("trace");
  Failure failure;
  const auto make = [&](Failure* why) {
    auto target = std::make_shared<SharedTarget>();
    target->sink = SharedFileSink::create(path, "", true, {}, why);
    return target;
  };
  auto target = join_target(path, make, &failure);
  CHECK(target != nullptr);
  return target;
}

Backlog backlog_of(const Sink& sink) {
  return DrainThread::instance().backlog_of(
      [&](const Ring& each) { return each.sink().get() == &sink; }, [] {});
}

}  // namespace

TEST(kept_ring_completes_its_stream_when_there_is_room) {
  TemporaryDirectory directory;
  RingOptions options = stream_options(directory, "stream");
  options.finish_from = directory.path("finished");
  options.finish_to = directory.path("end");
  CHECK(replace_file(options.finish_from, "finished", nullptr));
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  sink->join(TargetGroup::of("kept"));
  sink->hold();
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  lay_epilogue(*ring, 1, 1, kRecordHead, 1, 200);
  write_records(producer, 100);
  CHECK(ring->flush());
  limit_files(10050);
  write_records(producer, 100);
  const uint64_t before = Clock::monotonic();
  ring->finish(0);
  const uint64_t after = Clock::monotonic();
  CHECK(ring->kept());
  CHECK(ring->finished());
  CHECK_EQUAL(ring->make_room(1), static_cast<int64_t>(Ring::Room::closed));
  // Nothing is missing in the counts meanwhile.
  CHECK_EQUAL(backlog_of(*sink).bytes, 10000u);
  CHECK(sink->group()->state().failing);
  CHECK(eventually([&] { return sink->counts().errors.load() > 5; }));
  CHECK_EQUAL(sink->counts().left_bytes.load(), 0u);
  CHECK(directory.holds(".stream.ring"));
  CHECK(!directory.holds("end"));
  limit_files(0);
  CHECK(eventually([&] { return !ring->kept(); }));
  CHECK(!directory.holds(".stream.ring"));
  CHECK(directory.holds("end"));
  CHECK(sink->abandoned());
  CHECK(!sink->group()->state().failing);
  CHECK(sink->group()->state().recovered);
  CHECK_EQUAL(sink->counts().left_bytes.load(), 0u);
  CHECK_EQUAL(backlog_of(*sink).bytes, 0u);
  const Survey survey = survey_file(options.target, 0, true);
  CHECK_EQUAL(survey.records(1), 201u);
  // The thread ended then, not when there was room.
  CHECK(survey.last_stamp(1) + 1000000 > before && survey.last_stamp(1) < after + 1000000);
}

TEST(kept_ring_writes_the_end_that_alone_found_no_room) {
  TemporaryDirectory directory;
  const RingOptions options = stream_options(directory, "stream");
  const auto ring = open_own_file_ring(options);
  Producer producer(*ring, 1);
  lay_epilogue(*ring, 1, 1, kRecordHead, 1, 100);
  write_records(producer, 100);
  CHECK(ring->flush());
  limit_files(10010);
  ring->finish(0);
  CHECK(ring->kept());
  const auto& errors = sink_of(*ring).counts().errors;
  CHECK(eventually([&] { return errors.load() > 3; }));
  limit_files(0);
  CHECK(eventually([&] { return !directory.holds(".stream.ring"); }));
  CHECK_EQUAL(survey_file(options.target, 0, true).records(1), 101u);
}

TEST(kept_ring_leaves_no_hole_in_the_file_of_others) {
  TemporaryDirectory directory;
  const auto target = join_trace(directory);
  const auto sink = std::shared_ptr<Sink>(target, target->sink.get());
  sink->hold();
  const auto ring = open_ring(trace_options(directory, 1), sink);
  const auto other = open_ring(trace_options(directory, 2), sink);
  Producer producer(*ring, 1);
  Producer second(*other, 2);
  write_records(producer, 10);
  CHECK(ring->flush());
  limit_files(1500);
  write_records(producer, 10);
  ring->control().dropped_events = 3;
  std::thread([&] { ring->finish(0); }).join();
  CHECK(ring->kept());
  // After the place of the first, and nothing of it has found room.
  write_records(second, 10);
  CHECK(!other->flush());
  CHECK_EQUAL(backlog_of(*sink).records, 20u);
  CHECK(backlog_of(*sink).dropped == 3);
  CHECK_EQUAL(sink->counts().lost_records.load(), 0u);
  limit_files(0);
  CHECK(eventually([&] { return !ring->kept() && other->tail() == other->head(); }));
  CHECK(!directory.holds(".trace.1.ring"));
  CHECK_EQUAL(sink->counts().dropped_records.load(), 3u);
  write_records(second, 10);
  other->finish(0);
  CHECK(sink->abandoned());
  const Survey survey = survey_file(directory.path("trace"), 0, true);
  CHECK_EQUAL(survey.records(1), 20u);
  CHECK_EQUAL(survey.records(2), 20u);
}

TEST(kept_ring_keeps_its_trace_open_for_those_that_come) {
  TemporaryDirectory directory;
  const auto target = join_trace(directory);
  const auto ring = open_ring(trace_options(directory, 1), {target, target->sink.get()});
  Producer producer(*ring, 1);
  limit_files(500);
  write_records(producer, 10);
  ring->finish(0);
  CHECK(ring->kept());
  CHECK(join_trace(directory) == target);
  target->sink->let_go();
  // The file is removed: what comes then is another trace.
  CHECK(unlink(directory.path("trace").c_str()) == 0);
  const auto fresh = join_trace(directory);
  CHECK(fresh != target);
  limit_files(0);
  const auto second = open_ring(trace_options(directory, 2), {fresh, fresh->sink.get()});
  Producer late(*second, 2);
  write_records(late, 10);
  CHECK(eventually([&] { return !ring->kept(); }));
  second->finish(0);
  const Survey survey = survey_file(directory.path("trace"), 0, true);
  CHECK_EQUAL(survey.records(1), 0u);
  CHECK_EQUAL(survey.records(2), 10u);
}

TEST(kept_ring_is_let_go_when_its_file_is_removed) {
  TemporaryDirectory directory;
  const RingOptions options = stream_options(directory, "stream");
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  sink->hold();
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  limit_files(500);
  write_records(producer, 10);
  ring->finish(0);
  CHECK(ring->kept());
  CHECK(unlink(options.target.c_str()) == 0);
  CHECK(eventually([&] { return !ring->kept(); }));
  CHECK(sink->abandoned());
  CHECK_EQUAL(sink->counts().left_bytes.load(), 1000u);
  // Nor is one kept whose file is gone already.
  limit_files(0);
  const RingOptions gone = stream_options(directory, "gone");
  const auto second = open_own_file_ring(gone);
  Producer late(*second, 1);
  CHECK(unlink(gone.target.c_str()) == 0);
  write_records(late, 10);
  second->finish(0);
  CHECK(!second->kept());
}

TEST(kept_rings_are_left_to_recovery_at_the_end_of_the_process) {
  TemporaryDirectory directory;
  const RingOptions options = stream_options(directory, "stream");
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  sink->hold();
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  write_records(producer, 10);
  CHECK(ring->flush());
  limit_files(1000);
  write_records(producer, 10);
  ring->finish(0);
  CHECK(ring->kept());
  DrainThread::instance().finish_all();
  CHECK(!ring->kept());
  CHECK(sink->abandoned());
  CHECK_EQUAL(sink->counts().left_bytes.load(), 1000u);
  CHECK_EQUAL(backlog_of(*sink).bytes, 0u);
  CHECK(directory.holds(".stream.ring"));
  limit_files(0);
  // For good.
  ring->finish(0);
  CHECK_EQUAL(ring->head() - ring->tail(), 1000u);
  CHECK_EQUAL(survey_file(options.target, 0, true).records(1), 10u);
}

TEST(kept_rings_get_a_last_try_at_the_end_of_the_process) {
  TemporaryDirectory directory;
  const RingOptions options = stream_options(directory, "stream");
  const auto ring = open_own_file_ring(options);
  Producer producer(*ring, 1);
  limit_files(500);
  write_records(producer, 10);
  ring->finish(0);
  limit_files(0);
  DrainThread::instance().finish_all();
  CHECK(!directory.holds(".stream.ring"));
  CHECK_EQUAL(survey_file(options.target, 0, true).records(1), 10u);
}

TEST(kept_rings_are_few) {
  TemporaryDirectory directory;
  int streams = 0;
  // How many of `count` streams are kept that end on a full disk.
  const auto kept_of = [&](int count, size_t capacity) {
    std::vector<std::shared_ptr<Ring>> rings;
    for (int i = 0; i < count; ++i) {
      RingOptions options = stream_options(directory, std::to_string(++streams));
      options.capacity = capacity;
      options.path.clear();
      rings.push_back(open_own_file_ring(options));
    }
    limit_files(1);
    for (const auto& ring : rings) {
      Producer producer(*ring, 1);
      write_records(producer, 1);
      ring->finish(0);
    }
    const auto kept = [&] {
      return std::count_if(rings.begin(), rings.end(),
                           [](const auto& ring) { return ring->kept(); });
    };
    const auto most = kept();
    CHECK(rings.front()->kept());
    limit_files(0);
    CHECK(eventually([&] { return kept() == 0; }));
    return most;
  };
  CHECK_EQUAL(kept_of(100, kCapacity), 64);
  CHECK_EQUAL(kept_of(6, 16 << 20), 4);
  CHECK_EQUAL(kept_of(6, 16 << 20), 4);
}

TEST(kept_ring_still_weighs_on_its_budget) {
  TemporaryDirectory directory;
  const RingOptions options = stream_options(directory, "stream");
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  const auto group = TargetGroup::of("budget");
  group->limit(kCapacity + 20000, 0);
  sink->join(group);
  sink->hold();
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 1);
  limit_files(5000);
  write_records(producer, 100);
  ring->finish(0);
  CHECK(ring->kept());
  CHECK(!group->admit(20001, &failure));
  limit_files(0);
  CHECK(eventually([&] { return !ring->kept(); }));
  CHECK(group->admit(kCapacity, &failure));
}

}  // namespace test
}  // namespace tracewright
