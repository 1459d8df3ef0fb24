// Rings as the tests open them: of the records that record.h describes, in files of the test's own
// or in front of a socket.
#pragma once

#include <memory>
#include <string>

#include "ring/ring.h"
#include "sink/sink.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

// A ring that writes the file `name` by itself; the ring's own file lies next to it.
RingOptions own_file_options(const TemporaryDirectory& directory, const std::string& name,
                             size_t capacity);

// A ring whose sink may have others: records tell their length, and stamps are big-endian.
RingOptions shared_options(TargetKind kind, size_t capacity);

// Opens a ring, or fails the test.
std::shared_ptr<Ring> open_ring(const RingOptions& options, const std::shared_ptr<Sink>& sink);

// The same with the file that `options` name, which begins with `preamble`.
std::shared_ptr<Ring> open_own_file_ring(const RingOptions& options,
                                         const std::string& preamble = "");

// A ring in front of a socket; with FullPolicy::block its producer waits for a minute.
std::shared_ptr<Ring> open_socket_ring(const std::shared_ptr<Sink>& sink, FullPolicy full,
                                       size_t capacity = 256 << 10);

// Lays down what may end the stream as number `which` and chooses it: `records` records of `bytes`
// bytes each, those of `producer` from `number` on.
void lay_epilogue(Ring& ring, int32_t which, uint32_t records, uint32_t bytes, uint32_t producer,
                  uint64_t number);

}  // namespace test
}  // namespace tracewright
