#include "clock/clock.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tracewright {

namespace {

#if TRACEWRIGHT_HAS_TSC
// How long after an anchor its line may still be followed.
constexpr double kWindowNs = 1e9;
// The shortest stretch that gives a usable rate.
constexpr uint64_t kShortestStretchNs = 40000000;
// The line may be bent by this much to meet the clock; a larger error is stepped over.
constexpr double kSlewLimit = 500e-6;
constexpr double kStepErrorNs = 100000;
#endif

bool kernel_trusts_tsc() {
#if TRACEWRIGHT_HAS_TSC
  std::FILE* file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return false;
  char name[32] = {};
  const bool read = std::fgets(name, sizeof name, file) != nullptr;
  std::fclose(file);
  return read && std::strcmp(name, "tsc\n") == 0;
#else
  return false;
#endif
}

}  // namespace

Clock& Clock::instance() {
  static Clock* const clock = new Clock();
  return *clock;
}

Clock::Clock() : trusted_(kernel_trusts_tsc()) {
  if (trusted_) first_ = previous_ = read_pair();
}

Clock::Reading Clock::read_pair() {
  Reading best{0, 0};
#if TRACEWRIGHT_HAS_TSC
  // The tightest of several brackets: an interrupt between the two clocks shows as a wide one.
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const uint64_t before = __rdtsc();
    const uint64_t ns = monotonic();
    const uint64_t after = __rdtsc();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
#endif
  return best;
}

void Clock::publish(Reading at, double ns_per_tick, uint64_t window) {
  const uint32_t turn = turn_.load(std::memory_order_relaxed);
  Anchor& anchor = anchors_[(turn + 1) & 1];
  // A reader that sees any of the new values must also see that the turn has moved on since.
  std::atomic_thread_fence(std::memory_order_release);
  anchor.tsc.store(at.tsc, std::memory_order_relaxed);
  anchor.ns.store(at.ns, std::memory_order_relaxed);
  anchor.mul.store(static_cast<uint64_t>(ns_per_tick * 4294967296.0), std::memory_order_relaxed);
  anchor.window.store(window, std::memory_order_relaxed);
  turn_.store(turn + 1, std::memory_order_release);
}

void Clock::anchor() {
#if TRACEWRIGHT_HAS_TSC
  if (!trusted_) return;
  const Reading reading = read_pair();
  if (reading.tsc <= previous_.tsc || reading.ns <= previous_.ns) {
    // The counter was reset (a suspend): start over, the kernel's clock serves meanwhile.
    first_ = previous_ = reading;
    running_ = false;
    publish(reading, 1.0, 0);
    return;
  }
  const uint64_t stretch = reading.ns - previous_.ns;
  if (stretch < kShortestStretchNs) return;

  const double interval = static_cast<double>(stretch);
  const double rate = interval / static_cast<double>(reading.tsc - previous_.tsc);
  const uint64_t good_for = static_cast<uint64_t>(kWindowNs / rate);
  const Anchor& line = anchors_[turn_.load(std::memory_order_relaxed) & 1];
  const uint64_t line_tsc = line.tsc.load(std::memory_order_relaxed);
  const uint64_t window = line.window.load(std::memory_order_relaxed);
  previous_ = reading;

  if (!running_ || reading.tsc - line_tsc > window) {
    // Nobody follows the line now, so it may begin at the clock's time.
    running_ = true;
    publish(reading, rate, good_for);
    return;
  }
  const uint64_t shown =
      line.ns.load(std::memory_order_relaxed) +
      (((reading.tsc - line_tsc) * line.mul.load(std::memory_order_relaxed)) >> kShift);
  const double error = static_cast<double>(static_cast<int64_t>(shown - reading.ns));
  if (error > kStepErrorNs || error < -kStepErrorNs) {
    publish(reading, rate, good_for);
    return;
  }
  const double bend = std::clamp(error / interval, -kSlewLimit, kSlewLimit);
  publish({reading.tsc, shown}, rate * (1.0 - bend), good_for);
#endif
}

}  // namespace tracewright
