// What a sink counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace tracewright {

// Counted for the life of the sink, all rings together. Records are counted only where the ring
// knows its record boundaries (RingOptions::length_offset).
struct SinkCounts {
  std::atomic<uint64_t> records{0};  // handed over to the file or the network
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> datagrams{0};
  std::atomic<uint64_t> connections{0};  // made, the first one included
  std::atomic<uint64_t> errors{0};
  std::atomic<uint64_t> lost_records{0};  // committed, but never handed over
  // Of datagrams that the network reported as not delivered; they are not in `records`.
  std::atomic<uint64_t> peer_refused_records{0};
  std::atomic<uint64_t> peer_refused_datagrams{0};
  // What the kernel took for the network, with what was sent again; records of connections only.
  std::atomic<uint64_t> sent_records{0};
  std::atomic<uint64_t> sent_bytes{0};
  // The kernel took them, but the trace ended before they were acknowledged.
  std::atomic<uint64_t> unacknowledged_records{0};
  // Connections that broke, and what was acknowledged on them: its program may not have read it.
  std::atomic<uint64_t> broken_connections{0};
  std::atomic<uint64_t> doubtful_records{0};
  // Of rings that are finished; the control pages of the others have theirs.
  std::atomic<uint64_t> left_bytes{0};
  std::atomic<uint64_t> dropped_records{0};
  std::atomic<uint64_t> refused_records{0};
  std::atomic<uint64_t> unkept_records{0};
  // Of what is left, the part whose rings' files are gone: records where the ring can count
  // them, bytes where it cannot, and the bytes of both.
  std::atomic<uint64_t> gone_records{0};
  std::atomic<uint64_t> gone_bytes{0};
  std::atomic<uint64_t> gone_left_bytes{0};
  // Of `records`: in pieces that were deleted to keep within the budget.
  std::atomic<uint64_t> deleted_records{0};
};

}  // namespace tracewright
