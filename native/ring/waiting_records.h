// Records that wait until it is known whether the stream gets them: a ring of their own in the
// ring's file, with a page, groups and data. The producing thread's JavaScript decides which groups
// are copied to the ring, and which are overwritten.
//
// Each record belongs to a group by eight of its bytes. A record waits if it lies between tail and
// head and its group is listed as undecided. The thread stores in this order, which a kill keeps:
//
//   copy:  `upto` and `mark` (low half of the head of the ring that gets the records), then
//          `state` = kCopying; the commit; `from` = `upto`; `state` = kUndecided, or 0
//   move:  the same with kMoving, and the head of the waiting records
//
// So the head says whether a group's records below `upto` wait no longer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tracewright {

struct WaitingGroup {
  static constexpr uint32_t kUndecided = 1;
  static constexpr uint32_t kCopying = 2;
  static constexpr uint32_t kMoving = 3;

  // In this order, as the record has its eight bytes: two u32 in the machine's byte order.
  uint32_t high;
  uint32_t low;
  std::atomic<uint32_t> state;  // 0: decided
  std::atomic<uint32_t> mark;
  // Low halves of positions: records before it wait no longer.
  std::atomic<uint32_t> from;
  std::atomic<uint32_t> upto;
};
static_assert(sizeof(WaitingGroup) == 24, "JavaScript goes by it");

constexpr size_t kWaitingPage = 4096;
// A multiple of any page: mappings begin there.
constexpr size_t kWaitingAlignment = 65536;
constexpr uint32_t kMostGroups = 1 << 16;
// Part of the data that new records do not get: what has to wait longer moves there.
constexpr size_t kWaitingReserve = 8;

// Bytes of page and groups, before the data.
constexpr size_t waiting_front(uint32_t groups) {
  const size_t bytes = kWaitingPage + size_t{groups} * sizeof(WaitingGroup);
  return (bytes + kWaitingAlignment - 1) / kWaitingAlignment * kWaitingAlignment;
}

}  // namespace tracewright
