// Waiting for what another thread brings about, with a limit that only a failure reaches.
#pragma once

#include <time.h>

#include "check.h"
#include "clock/clock.h"

namespace tracewright {
namespace test {

constexpr uint64_t kPatienceNs = 60000000000;

inline void pause_us(long us) {
  const timespec time = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&time, nullptr);
}

template <typename Condition>
bool eventually(Condition condition, uint64_t patience_ns = kPatienceNs) {
  const uint64_t limit = Clock::monotonic() + patience_ns;
  while (!condition()) {
    if (Clock::monotonic() > limit) return false;
    pause_us(200);
  }
  return true;
}

}  // namespace test
}  // namespace tracewright
