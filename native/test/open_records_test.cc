#include "ring/open_records.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "file_content.h"
#include "file_limit.h"
#include "loopback.h"
#include "opener.h"
#include "pieces.h"
#include "producer.h"
#include "record.h"
#include "sink/datagram_sink.h"
#include "sink/file_sink.h"
#include "sink/piece_series.h"
#include "sink/stream_sink.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr size_t kCapacity = 64 << 10;
constexpr int kPatienceMs = 60000;
// Of the records that are open: as if another thread had written them.
constexpr uint32_t kOpen = 9;
constexpr uint64_t kNextNumber = 41;

RingOptions trace_options(const TemporaryDirectory& directory, uint32_t places,
                          int32_t number_at = -1) {
  RingOptions options = shared_options(TargetKind::shared_file, kCapacity);
  options.target = directory.path("trace");
  options.path = directory.path(".trace.0.ring");
  options.epoch = Clock::monotonic();
  options.open_records = open_record_options(places);
  options.open_records.number_at = number_at;
  return options;
}

std::shared_ptr<SharedFileSink> create_trace(const RingOptions& options) {
  Failure failure;
  const auto sink = SharedFileSink::create(options.target, "", true, {}, &failure);
  CHECK(sink != nullptr);
  sink->hold();
  return sink;
}

// In the order of their numbers.
std::vector<Record> records_of(const std::string& path, uint32_t producer) {
  const std::string bytes = content_of(path);
  std::vector<Record> found;
  Record record;
  size_t at = 0;
  while (at < bytes.size()) {
    const auto* const rest = reinterpret_cast<const uint8_t*>(bytes.data()) + at;
    const size_t length = decode_record(rest, bytes.size() - at, true, &record);
    CHECK(length > 0);
    if (record.producer == producer) found.push_back(record);
    at += length;
  }
  const auto is_before = [](const Record& a, const Record& b) { return a.number < b.number; };
  std::stable_sort(found.begin(), found.end(), is_before);
  return found;
}

// A ring of a trace, with what writes its records and holds open ones.
struct Traced {
  Traced(const RingOptions& given, const std::shared_ptr<Sink>& sink)
      : options(given), ring(open_ring(options, sink)), producer(*ring, 1), opener(*ring) {}
  explicit Traced(const RingOptions& given) : Traced(given, create_trace(given)) {}

  ControlPage& control() { return ring->control(); }
  std::vector<Record> written() const { return records_of(options.target, 1); }
  std::vector<Record> left_open() const { return records_of(options.target, kOpen); }

  const RingOptions options;
  const std::shared_ptr<Ring> ring;
  Producer producer;
  Opener opener;
};

// Compares a record with what was written, but for its stamp and its number.
void check_committed(const std::string& bytes, std::string expected, int32_t number_at) {
  CHECK_EQUAL(bytes.size(), expected.size());
  CHECK(bytes[kStampOffset + 7] != '\0' || bytes[kStampOffset + 6] != '\0');
  expected.replace(kStampOffset, 8, bytes, kStampOffset, 8);
  if (number_at != -1) expected.replace(20, 4, std::string("\0\0\0\51", 4));
  CHECK(bytes == expected);
}

void check_next_number(Traced& trace, int32_t number_at, uint64_t committed) {
  CHECK_EQUAL(static_cast<uint64_t>(trace.control().next_number.load()),
              number_at == -1 ? kNextNumber : kNextNumber + committed);
}

// The 60 bytes of an open record.
std::string open_bytes(Traced& trace, int32_t place) {
  const uint8_t* const record = trace.opener.record(static_cast<uint32_t>(place));
  return std::string(reinterpret_cast<const char*>(record), 60);
}

}  // namespace

TEST(open_records_end_the_stream_that_ends_without_them) {
  TemporaryDirectory directory;
  Traced trace(trace_options(directory, 8));
  CHECK(trace.producer.write<Stamp::big>(100));
  const int32_t ended = trace.opener.open(kOpen, 0);
  trace.opener.open(kOpen, 1, 60);
  const int32_t committed = trace.opener.open(kOpen, 2);
  trace.opener.open(kOpen, 3);
  trace.opener.release(ended);
  // A thread that is terminated between the commit and the release.
  trace.opener.ending(committed);
  CHECK(trace.producer.write<Stamp::big>(100));
  // And one before the commit.
  trace.opener.ending(trace.opener.open(kOpen, 4));
  const uint64_t before = Clock::monotonic() - trace.options.epoch;
  trace.ring->finish(0);
  const uint64_t after = Clock::monotonic() - trace.options.epoch;
  CHECK_EQUAL(trace.written().size(), 2u);
  const std::vector<Record> left = trace.left_open();
  CHECK_EQUAL(left.size(), 3u);
  const uint64_t numbers[] = {1, 3, 4};
  for (size_t i = 0; i < 3; ++i) {
    CHECK_EQUAL(left[i].number, numbers[i]);
    CHECK(left[i].stamp + 1000000 >= before && left[i].stamp <= after + 1000000);
  }
  CHECK_EQUAL(left[0].bytes, 60u);
  CHECK(!directory.holds(".trace.0.ring"));
  CHECK_EQUAL(sink_of(*trace.ring).counts().records.load(), 5u);
}

TEST(open_records_keep_a_later_stamp_and_take_the_next_numbers) {
  TemporaryDirectory directory;
  RingOptions options = trace_options(directory, 8);
  options.epoch = 0;
  // Series and number in place of a record's number.
  options.open_records.number_at = 16;
  Traced trace(options);
  const auto put = [](uint8_t* at, uint64_t value) {
    value = __builtin_bswap64(value);
    std::memcpy(at, &value, sizeof value);
  };
  constexpr uint64_t kSeries = uint64_t{7} << 32;
  uint64_t number = 0;
  for (; number < 3; ++number) {
    const auto place = static_cast<uint32_t>(trace.opener.open(kOpen, 0, kRecordHead));
    put(trace.opener.record(place) + 8, number == 1 ? UINT64_MAX / 2 : 0);
    put(trace.opener.record(place) + 16, (number == 2 ? uint64_t{8} << 32 : kSeries) + 99);
  }
  trace.control().series = 7;
  trace.control().next_number = 41;
  // A record with a number that never is committed. Its first word is that of every record.
  uint8_t* const data = trace.ring->mapping() + trace.ring->control_bytes();
  put(data, uint64_t{1} << 32);
  put(data + 16, kSeries + 40);
  trace.ring->finish(0);
  const std::string bytes = content_of(options.target);
  CHECK_EQUAL(bytes.size(), 3u * kRecordHead);
  const auto at = [&](size_t record, size_t offset) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + record * kRecordHead + offset, sizeof value);
    return __builtin_bswap64(value);
  };
  // The places are taken from the last to the first.
  CHECK_EQUAL(at(0, 16), (uint64_t{8} << 32) + 99);
  CHECK_EQUAL(at(1, 16), kSeries + 40);
  CHECK_EQUAL(at(2, 16), kSeries + 41);
  CHECK_EQUAL(at(1, 8), UINT64_MAX / 2);
  CHECK(at(0, 8) > 0 && at(0, 8) <= Clock::monotonic());
}

TEST(open_records_that_have_ended_keep_their_stamp) {
  TemporaryDirectory directory;
  RingOptions options = trace_options(directory, 8);
  options.epoch = 0;
  Traced trace(options);
  trace.opener.open(kOpen, 0);
  uint8_t* const ended = trace.opener.record(static_cast<uint32_t>(trace.opener.open(kOpen, 1)));
  ended[kStampOffset + 7] = 5;
  (reinterpret_cast<OpenRecord*>(ended) - 1)->state.fetch_or(OpenRecord::kEnded);
  trace.ring->finish(0);
  const std::vector<Record> left = trace.left_open();
  CHECK_EQUAL(left.size(), 2u);
  CHECK(left[0].stamp > 5);
  CHECK_EQUAL(left[1].stamp, uint64_t{5});
}

TEST(open_records_take_no_number_back_from_memory_that_was_never_written) {
  TemporaryDirectory directory;
  RingOptions options = trace_options(directory, 8);
  options.open_records.number_at = 16;
  Traced trace(options);
  const auto place = static_cast<uint32_t>(trace.opener.open(kOpen, 0, kRecordHead));
  std::memset(trace.opener.record(place) + 16, 0, 8);
  trace.control().series = 0;
  trace.control().next_number = 1;
  trace.ring->finish(0);
  const std::string bytes = content_of(options.target);
  CHECK_EQUAL(bytes.size(), size_t{kRecordHead});
  CHECK_EQUAL(bytes.substr(16, 8), std::string("\0\0\0\0\0\0\0\1", 8));
}

TEST(open_records_of_a_full_disk_are_written_later_once) {
  TemporaryDirectory directory;
  Traced trace(trace_options(directory, 8));
  CHECK(trace.producer.write<Stamp::big>(100));
  CHECK(trace.ring->drain());
  trace.opener.open(kOpen, 0);
  trace.opener.open(kOpen, 1);
  limit_files(150);
  trace.ring->finish(0);
  CHECK(trace.ring->kept());
  CHECK(directory.holds(".trace.0.ring"));
  limit_files(0);
  CHECK(eventually([&] { return !directory.holds(".trace.0.ring"); }));
  CHECK_EQUAL(trace.written().size(), 1u);
  CHECK_EQUAL(trace.left_open().size(), 2u);
}

TEST(open_records_go_to_the_newest_piece) {
  TemporaryDirectory directory;
  RingOptions options = trace_options(directory, 8);
  Failure failure;
  SizeLimits limits;
  limits.pieces = piece_names(options.target);
  limits.rotate_bytes = 2 * kCapacity;
  const auto sink = SharedFileSink::create(options.target, "", false, limits, &failure);
  CHECK(sink != nullptr);
  sink->hold();
  Traced trace(options, sink);
  trace.opener.open(kOpen, 0);
  for (uint64_t bytes = 0; bytes < 5 * kCapacity; bytes += 100) {
    CHECK(trace.producer.write<Stamp::big>(100));
  }
  trace.ring->finish(0);
  const PieceSeries series(piece_names(options.target));
  // How many there are depends on how much each drain found.
  uint64_t last = 1;
  while (!content_of(series.path_of(last + 1)).empty()) ++last;
  CHECK(last >= 3);
  CHECK_EQUAL(records_of(series.path_of(1), kOpen).size(), 0u);
  CHECK_EQUAL(records_of(series.path_of(last), kOpen).size(), 1u);
}

TEST(open_records_get_more_places_up_to_a_bound) {
  for (const bool named : {true, false}) {
    TemporaryDirectory directory;
    RingOptions options = trace_options(directory, 64);
    options.open_records.most = 1000;
    if (!named) options.path.clear();
    Traced trace(options);
    struct stat before {};
    if (named) CHECK(stat(options.path.c_str(), &before) == 0);
    uint64_t opened = 0;
    for (const uint64_t places : {64, 128, 256, 512, 1000}) {
      CHECK_EQUAL(static_cast<uint64_t>(trace.control().open_places.load()), places);
      while (trace.opener.open(kOpen, opened) != -1) ++opened;
      CHECK_EQUAL(opened, places);
      CHECK_EQUAL(trace.opener.grow(), places < 1000);
      CHECK(trace.producer.write<Stamp::big>(100));
    }
    if (named) {
      struct stat after {};
      CHECK(stat(options.path.c_str(), &after) == 0);
      CHECK_EQUAL(after.st_size, before.st_size);
#if !defined(__APPLE__)
      // The disk has given what the table has, and nothing before.
      CHECK(after.st_blocks >= before.st_blocks + 900 * 128 / 512);
#endif
    }
    trace.ring->finish(0);
    CHECK_EQUAL(trace.written().size(), 5u);
    const std::vector<Record> left = trace.left_open();
    CHECK_EQUAL(left.size(), 1000u);
    for (uint64_t i = 0; i < 1000; ++i) CHECK_EQUAL(left[i].number, i);
    CHECK(!trace.opener.grow());
  }
}

TEST(open_records_get_no_more_places_without_blocks_for_them) {
  TemporaryDirectory directory;
  RingOptions options = trace_options(directory, 64);
  options.open_records.most = 128;
  Traced trace(options);
  for (uint64_t i = 0; i < 64; ++i) CHECK(trace.opener.open(kOpen, i) != -1);
  const std::string away = directory.path("away");
  CHECK(rename(options.path.c_str(), away.c_str()) == 0);
  CHECK(!trace.opener.grow());
  // Another file has come to its path.
  const int other = creat(options.path.c_str(), 0600);
  CHECK(other != -1);
  CHECK(!trace.opener.grow());
  struct stat about {};
  CHECK(fstat(other, &about) == 0);
  CHECK_EQUAL(about.st_size, 0);
  close(other);
  CHECK_EQUAL(static_cast<uint64_t>(trace.control().open_places.load()), 64u);
  CHECK(rename(away.c_str(), options.path.c_str()) == 0);
  // No descriptor is left.
  rlimit descriptors;
  CHECK(getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const rlimit none = {0, descriptors.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(!trace.opener.grow());
  CHECK(setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  CHECK(trace.opener.grow());
  CHECK(trace.opener.open(kOpen, 64) != -1);
  trace.ring->finish(0);
  CHECK_EQUAL(trace.left_open().size(), 65u);
}

TEST(open_records_leave_by_a_socket) {
  DatagramReceiver receiver;
  Listener listener;
  for (const bool datagrams : {true, false}) {
    std::shared_ptr<Sink> sink;
    if (datagrams) {
      sink = std::make_shared<DatagramSink>(receiver.address(), "", 1400);
    } else {
      sink = std::make_shared<StreamSink>(listener.address(), "");
    }
    sink->hold();
    RingOptions options = shared_options(TargetKind::socket, kCapacity);
    options.open_records = open_record_options(64);
    Traced trace(options, sink);
    CHECK(trace.producer.write<Stamp::big>(100));
    for (uint64_t i = 0; i < 64; ++i) CHECK(trace.opener.open(kOpen, 63 - i) != -1);
    CHECK(trace.opener.open(kOpen, 64) == -1);
    CHECK(eventually([&] { return trace.ring->drain(); }));
    trace.ring->finish(1000);
    Survey survey(true);
    if (datagrams) {
      while (survey.records(kOpen) < 64) {
        const std::vector<uint8_t> datagram = receiver.receive(kPatienceMs);
        CHECK(!datagram.empty() && datagram.size() <= 1400);
        CHECK_EQUAL(survey.take_all(datagram.data(), datagram.size()), datagram.size());
      }
    } else {
      const FileDescriptor connection = listener.accept(kPatienceMs);
      std::vector<uint8_t> bytes(65 * 100);
      size_t held = 0;
      while (held < bytes.size()) {
        CHECK(readable(connection.get(), kPatienceMs));
        const ssize_t got = read(connection.get(), bytes.data() + held, bytes.size() - held);
        CHECK(got > 0);
        held += static_cast<size_t>(got);
      }
      CHECK_EQUAL(survey.take_all(bytes.data(), held), held);
    }
    CHECK_EQUAL(survey.records(1), 1u);
    CHECK_EQUAL(survey.records(kOpen), 64u);
    CHECK_EQUAL(sink->counts().lost_records.load(), 0u);
  }
}

TEST(open_records_are_published_in_their_final_form) {
  for (const int32_t number_at : {-1, 16}) {
    TemporaryDirectory directory;
    Traced trace(trace_options(directory, 8, number_at));
    trace.control().next_number = kNextNumber;
    const int32_t first = trace.opener.open(kOpen, 5, 60);
    const int32_t second = trace.opener.open(kOpen, 6, 60);
    trace.opener.open(kOpen, 7);
    std::string expected = open_bytes(trace, second);
    // In place of the four bytes before the last four.
    trace.opener.commit(second, 60, 52, 0x01020304);
    trace.opener.commit(first, 60, 52, 0x01020304);
    CHECK(trace.ring->drain());
    const std::string bytes = content_of(trace.options.target);
    CHECK_EQUAL(bytes.size(), 120u);
    expected.replace(52, 4, "\1\2\3\4");
    check_committed(bytes.substr(0, 60), expected, number_at);
    check_next_number(trace, number_at, 2);
    CHECK(trace.opener.open(kOpen, 8) != -1);
    trace.ring->finish(0);
    // Too late: nothing may happen.
    Ring::closed_ring()->commit_open<Stamp::big>();
  }
}

TEST(open_records_grow_and_get_their_length) {
  constexpr uint32_t kLengthAt = 24;
  for (const int32_t number_at : {-1, 16}) {
    TemporaryDirectory directory;
    RingOptions options = trace_options(directory, 8, number_at);
    options.open_records.length_at = kLengthAt;
    Traced trace(options);
    trace.control().next_number = kNextNumber;
    const int32_t place = trace.opener.open(kOpen, 5, 60);
    const int32_t open = trace.opener.open(kOpen, 6, 60);
    trace.opener.append(place, "end");
    std::string expected = open_bytes(trace, place) + "end";
    trace.opener.commit(place, 63, 52, 0x01020304);
    CHECK(trace.ring->drain());
    expected.replace(kLengthAt, 4, std::string("\0\0\0\77", 4));
    expected.replace(52, 4, "\1\2\3\4");
    check_committed(content_of(trace.options.target), expected, number_at);
    trace.opener.append(open, "more");
    trace.ring->finish(0);
    const std::string bytes = content_of(trace.options.target);
    CHECK_EQUAL(bytes.size(), 63u + 64u);
    CHECK(bytes.substr(63 + kLengthAt, 4) == std::string("\0\0\0\100", 4));
    CHECK(bytes.substr(63 + 60) == "more");
  }
}

TEST(open_records_begin_with_what_others_have) {
  TemporaryDirectory directory;
  Traced trace(trace_options(directory, 8));
  const int32_t source = trace.opener.open(kOpen, 5, 60);
  const std::string expected = open_bytes(trace, source);
  constexpr uint32_t kBegun = 3;
  constexpr size_t kCopied = 40;
  uint8_t* const begun = trace.opener.record(kBegun);
  ControlPage& control = trace.control();
  const auto at = [&](uint32_t place) {
    return place * control.open_stride + static_cast<uint32_t>(sizeof(OpenRecord));
  };
  std::memset(begun, 0, 60);
  control.ending_at = static_cast<int32_t>(at(kBegun));
  control.copied_from = at(static_cast<uint32_t>(source));
  control.copied_bytes = kCopied;
  trace.ring->begin_open<Stamp::big>();
  CHECK(std::memcmp(begun, expected.data(), kCopied) == 0);
  CHECK_EQUAL(static_cast<uint64_t>(begun[kCopied]), 0u);
  CHECK(control.stamp > 0);
  // Once.
  std::memset(begun, 0, 60);
  trace.ring->begin_open<Stamp::big>();
  CHECK_EQUAL(static_cast<uint64_t>(begun[0]), 0u);
  trace.ring->finish(0);
  Ring::closed_ring()->begin_open<Stamp::big>();
}

TEST(open_records_keep_the_sign_of_life_true_and_nothing_else_does) {
  TemporaryDirectory directory;
  Traced trace(trace_options(directory, 8));
  DrainThread& drain_thread = DrainThread::instance();
  const auto alive_at = [&] { return trace.control().alive_at.load(); };
  // Asleep, it has asked for a call.
  CHECK(eventually([&] { return trace.control().attention.load() != 0; }));
  pause_us(300000);
  const uint64_t idle = drain_thread.rounds();
  const uint64_t then = alive_at();
  pause_us(1300000);
#if defined(__linux__)
  CHECK_EQUAL(drain_thread.rounds(), idle);
#endif
  CHECK_EQUAL(alive_at(), then);
  const int32_t place = trace.opener.open(kOpen, 0);
  CHECK(alive_at() > then);
  pause_us(1500000);
  const uint64_t rounds = drain_thread.rounds();
  const uint64_t since = Clock::monotonic();
  uint64_t oldest = 0;
  while (Clock::monotonic() - since < 2200000000) {
    oldest = std::max(oldest, Clock::monotonic() - std::min(Clock::monotonic(), alive_at()));
    pause_us(10000);
  }
  // On a machine that is busy it comes later.
  CHECK(oldest < 3000000000);
#if defined(__linux__)
  CHECK(drain_thread.rounds() - rounds <= 3);
#endif
  trace.opener.release(place);
  trace.ring->finish(0);
}

TEST(open_records_lose_no_wake_up) {
  TemporaryDirectory directory;
  Traced trace(trace_options(directory, 8));
  std::minstd_rand random(7);
  for (uint64_t turn = 0; turn < 6; ++turn) {
    // About as long as the thread takes to fall asleep.
    pause_us(700000 + static_cast<long>(random() % 400000));
    const uint64_t opened = Clock::monotonic();
    const int32_t place = trace.opener.open(kOpen, turn);
    CHECK(eventually([&] { return trace.control().alive_at.load() >= opened; }, 5000000000));
    trace.opener.release(place);
  }
  trace.ring->finish(0);
}

TEST(open_records_are_exact_at_a_signal_under_load) {
  const uint64_t turns = kSlow ? 4 : 40;
  std::minstd_rand random(3);
  for (uint64_t turn = 0; turn < turns; ++turn) {
    TemporaryDirectory directory;
    const RingOptions options = trace_options(directory, 64);
    // Every second time the final records are made of the open ones.
    const bool in_place = turn % 2 == 1;
    int ready[2];
    CHECK(pipe(ready) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      Traced trace(options);
      CHECK(DrainThread::instance().finish_on_signal(SIGTERM));
      CHECK_EQUAL(write(ready[1], "!", 1), 1);
      std::deque<int32_t> places;
      // Record n of the stream ends the open record n.
      for (uint64_t next = 0;;) {
        while (places.size() < 60) places.push_back(trace.opener.open(kOpen, next++, kRecordHead));
        if (in_place) {
          while (trace.ring->make_room(kRecordHead) < kRecordHead) continue;
          // Its producer, which lies in the machine's byte order.
          trace.opener.commit(places.front(), kRecordHead, 4, __builtin_bswap32(1));
        } else {
          trace.opener.ending(places.front());
          CHECK(trace.producer.write<Stamp::big>(kRecordHead));
          trace.opener.release(places.front());
        }
        places.pop_front();
      }
    }
    char byte;
    CHECK_EQUAL(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    pause_us(static_cast<long>(random() % 30000));
    kill(child, SIGTERM);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    const uint64_t ended = records_of(options.target, 1).size();
    const std::vector<Record> open = records_of(options.target, kOpen);
    CHECK(!directory.holds(".trace.0.ring"));
    CHECK(open.size() >= 59 && open.size() <= 60);
    for (size_t i = 0; i < open.size(); ++i) CHECK_EQUAL(open[i].number, ended + i);
  }
}

}  // namespace test
}  // namespace tracewright
