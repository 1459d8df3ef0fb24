#include "test_ring.h"

#include "check.h"
#include "drain/drain_thread.h"
#include "record.h"
#include "sink/file_sink.h"

namespace tracewright {
namespace test {

RingOptions own_file_options(const TemporaryDirectory& directory, const std::string& name,
                             size_t capacity) {
  RingOptions options;
  options.path = directory.path("." + name + ".ring");
  options.target = directory.path(name);
  options.capacity = capacity;
  options.format = "test";
  options.stamp_offset = kStampOffset;
  return options;
}

RingOptions shared_options(TargetKind kind, size_t capacity) {
  RingOptions options;
  options.target_kind = kind;
  options.capacity = capacity;
  options.stamp = Stamp::big;
  options.stamp_offset = kStampOffset;
  options.length_offset = kLengthOffset;
  return options;
}

std::shared_ptr<Ring> open_ring(const RingOptions& options, const std::shared_ptr<Sink>& sink) {
  Failure failure;
  const auto ring = Ring::open(options, sink, DrainThread::instance(), &failure);
  if (!ring) fail(__FILE__, __LINE__, failure.action);
  return ring;
}

std::shared_ptr<Ring> open_own_file_ring(const RingOptions& options, const std::string& preamble) {
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, preamble, &failure);
  CHECK(sink != nullptr);
  return open_ring(options, sink);
}

std::shared_ptr<Ring> open_socket_ring(const std::shared_ptr<Sink>& sink, FullPolicy full,
                                       size_t capacity) {
  RingOptions options = shared_options(TargetKind::socket, capacity);
  options.full = full;
  options.block_limit_ms = 60000;
  return open_ring(options, sink);
}

void lay_epilogue(Ring& ring, int32_t which, uint32_t records, uint32_t bytes, uint32_t producer,
                  uint64_t number) {
  ControlPage& control = ring.control();
  auto& epilogue = control.epilogues[which];
  epilogue.records = records;
  epilogue.record_bytes = bytes;
  for (uint32_t i = 0; i < records; ++i) {
    encode_record(epilogue.bytes + i * bytes, bytes, producer, number + i, 0);
  }
  control.epilogue = which;
}

}  // namespace test
}  // namespace tracewright
