#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "check.h"
#include "pieces.h"
#include "producer.h"
#include "record.h"
#include "sink/file_sink.h"
#include "sink/piece_series.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr char kPreamble[] = "preamble";
constexpr size_t kPreambleBytes = sizeof kPreamble - 1;
constexpr size_t kCapacity = 64 << 10;
constexpr uint64_t kPieceBytes = 512 << 10;

std::shared_ptr<SharedFileSink> create_series(const std::string& path, uint64_t keep_bytes) {
  Failure failure;
  SizeLimits limits;
  limits.pieces = piece_names(path);
  limits.rotate_bytes = kPieceBytes;
  limits.keep_bytes = keep_bytes;
  const auto sink = SharedFileSink::create(path, kPreamble, false, limits, &failure);
  CHECK(sink != nullptr);
  return sink;
}

// Four threads, each of which opens and closes a ring now and then.
void write_from_threads(const TemporaryDirectory& directory, const std::shared_ptr<Sink>& sink,
                        uint64_t bytes_each) {
  std::vector<std::thread> threads;
  for (uint32_t id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      RingOptions options = shared_options(TargetKind::shared_file, kCapacity);
      options.path = directory.path(".trace.log." + std::to_string(id) + ".ring");
      sink->hold();
      const auto ring = open_ring(options, sink);
      Producer producer(*ring, id);
      for (uint64_t bytes = 0; bytes < bytes_each; bytes += 96) {
        CHECK(producer.write<Stamp::big>(96));
      }
      ring->finish(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool exists(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST(pieces_hold_every_record_of_every_ring_once) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace.log");
  const uint64_t bytes_each = scaled(16 << 20) / 96 * 96;
  const auto sink = create_series(path, 0);
  write_from_threads(directory, sink, bytes_each);
  const PieceSeries series(piece_names(path));
  Survey survey(true);
  uint64_t number = 1;
  for (; exists(series.path_of(number)); ++number) {
    const std::string piece = content(series.path_of(number));
    CHECK(piece.size() <= kPieceBytes);
    CHECK_EQUAL(piece.compare(0, kPreambleBytes, kPreamble), 0);
    const size_t bytes = piece.size() - kPreambleBytes;
    const auto* const records = reinterpret_cast<const uint8_t*>(piece.data()) + kPreambleBytes;
    CHECK_EQUAL(survey.take_all(records, bytes), bytes);
  }
  CHECK(number > 4 * bytes_each / kPieceBytes);
  for (uint32_t id = 0; id < 4; ++id) CHECK_EQUAL(survey.records(id), bytes_each / 96);
  for (uint64_t left = 1; left < number; ++left) {
    for (uint32_t id = 0; id < 4; ++id) {
      const std::string ring = directory.path(".trace.log." + std::to_string(id) + ".ring");
      CHECK(!exists(series.ring_path_of(ring, left)));
    }
  }
}

TEST(a_ring_notes_the_piece_that_it_feeds) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace.log");
  const auto sink = create_series(path, 0);
  RingOptions options = shared_options(TargetKind::shared_file, kCapacity);
  options.path = directory.path(".trace.log.0.ring");
  sink->hold();
  const auto ring = open_ring(options, sink);
  const PieceSeries series(piece_names(path));
  const auto noted = [&](uint64_t number) {
    const FileIdentity piece(series.path_of(number));
    return piece.inode() != 0 && ring->control().target_inode.load() == piece.inode() &&
           ring->control().target_born.load() == piece.born();
  };
  CHECK(noted(1));
  Producer producer(*ring, 0);
  for (uint64_t bytes = 0; bytes < 2 * kPieceBytes; bytes += 96) {
    CHECK(producer.write<Stamp::big>(96));
  }
  CHECK(ring->drain());
  CHECK(noted(3));
  CHECK(!noted(1));
  ring->finish(0);
}

TEST(a_ring_whose_file_was_deleted_gets_another_one) {
#if defined(__SANITIZE_THREAD__)
  SKIP("the thread sanitizer takes the exchange of a mapping for writes to it");
#endif
  TemporaryDirectory directory;
  const std::string path = directory.path("trace.log");
  const auto sink = create_series(path, 0);
  RingOptions options = shared_options(TargetKind::shared_file, kCapacity);
  options.path = directory.path(".trace.log.0.ring");
  sink->hold();
  const auto ring = open_ring(options, sink);
  Producer producer(*ring, 0);
  for (int i = 0; i < 100; ++i) CHECK(producer.write<Stamp::big>(96));
  CHECK(ring->drain());
  const PieceSeries series(piece_names(path));
  CHECK_EQUAL(unlink(series.path_of(1).c_str()), 0);
  CHECK_EQUAL(unlink(ring->options().path.c_str()), 0);
  CHECK(producer.write<Stamp::big>(96));
  CHECK(ring->drain());
  CHECK(!ring->has_file());
  // The producer comes by at the latest when it has used up the room that it knows of.
  CHECK(ring->make_room(96) > 0);
  CHECK(ring->has_file());
  for (int i = 0; i < 10; ++i) CHECK(producer.write<Stamp::big>(96));
  const auto still = ring->hold_still();
  const std::string kept = content(ring->options().path);
  CHECK_EQUAL(kept.size(), ring->control_bytes() + kCapacity);
  uint64_t head = 0;
  std::memcpy(&head, kept.data() + offsetof(ControlPage, head), sizeof head);
  CHECK_EQUAL(head, 111u * 96);
  // The drain thread writes to the control page.
  const size_t data = ring->control_bytes();
  CHECK_EQUAL(std::memcmp(kept.data() + data, ring->mapping() + data, kCapacity), 0);
}

TEST(pieces_stay_within_their_budget) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace.log");
  constexpr uint64_t kKeep = 8 * kPieceBytes;
  const auto sink = create_series(path, kKeep);
  write_from_threads(directory, sink, scaled(16 << 20) / 96 * 96);
  const PieceSeries series(piece_names(path));
  CHECK(!exists(series.path_of(1)));
  CHECK(series.bytes_without(0) <= kKeep);
  CHECK(series.bytes_without(0) > kKeep / 2);
}

TEST(pieces_with_a_ring_are_not_removed) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace.log");
  const PieceSeries series(piece_names(path));
  Failure failure;
  for (int i = 0; i < 3; ++i) CHECK(series.path_of(1) != path);
  PieceSeries writer(piece_names(path));
  for (int i = 0; i < 3; ++i) CHECK(writer.create_next(kPreamble, &failure) != nullptr);
  const std::string ring = series.ring_path_of(directory.path(".trace.log.7.ring"), 1);
  CHECK_EQUAL(ring, directory.path(".trace.000001.log.7.ring"));
  std::ofstream(ring) << "ring";
  CHECK(!series.shrink_others_to(0, 3));
  CHECK(exists(series.path_of(1)));
  CHECK(!exists(series.path_of(2)));
  CHECK(exists(series.path_of(3)));
}

}  // namespace test
}  // namespace tracewright
