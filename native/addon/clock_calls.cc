#include <ctime>

#include "addon/calls.h"
#include "clock/clock.h"

namespace tracewright {

namespace {

Napi::Value clock_now(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), Clock::instance().now());
}

Napi::Value kernel_clock_now(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), Clock::monotonic());
}

// cpuClock(ofThread): nanoseconds.
Napi::Value cpu_clock(const Napi::CallbackInfo& info) {
  const bool of_thread = info[0].As<Napi::Boolean>();
  return Napi::Number::New(info.Env(), static_cast<double>(Clock::cpu(of_thread)));
}

Napi::Value wall_clock(const Napi::CallbackInfo& info) {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return Napi::BigInt::New(info.Env(), static_cast<uint64_t>(ts.tv_sec) * 1000000000u +
                                           static_cast<uint64_t>(ts.tv_nsec));
}

uint64_t clock_ns(clockid_t clock) {
  timespec ts;
  clock_gettime(clock, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * 1000000000u + static_cast<uint64_t>(ts.tv_nsec);
}

// A bracket that is tighter needs no further attempt, in ns.
constexpr uint64_t kTightBracket = 20000;
// As many brackets at least, and at most while none is tight.
constexpr int kBrackets = 4;
constexpr int kMostBrackets = 32;

// readClocks(to): nanoseconds of the monotonic clock, since 1970, since the start of the system
// with the time in suspend, and of the clock that stamps records, all of one moment. Then the time
// that the readings took.
Napi::Value read_clocks(const Napi::CallbackInfo& info) {
  Napi::BigUint64Array to = info[0].As<Napi::BigUint64Array>();
  if (to.ElementLength() < 5) return info.Env().Undefined();
#if defined(CLOCK_BOOTTIME)
  constexpr clockid_t kBootTime = CLOCK_BOOTTIME;
#else
  // On macOS this clock goes on while the machine sleeps.
  constexpr clockid_t kBootTime = CLOCK_MONOTONIC_RAW;
#endif
  // The tightest of several brackets: a thread can be preempted, or stopped, between two readings.
  uint64_t tightest = UINT64_MAX;
  for (int i = 0; i < kBrackets || (i < kMostBrackets && tightest > kTightBracket); ++i) {
    const uint64_t before = Clock::monotonic();
    const uint64_t boot = clock_ns(kBootTime);
    const uint64_t real = clock_ns(CLOCK_REALTIME);
    const uint64_t stamp = Clock::instance().now();
    const uint64_t after = Clock::monotonic();
    if (after - before >= tightest) continue;
    tightest = after - before;
    to[0] = before + tightest / 2;
    to[1] = real;
    to[2] = boot;
    to[3] = stamp;
    to[4] = tightest;
  }
  return info.Env().Undefined();
}

}  // namespace

void add_clock_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("clockNow", clock_now);
  put("kernelClockNow", kernel_clock_now);
  put("wallClock", wall_clock);
  put("cpuClock", cpu_clock);
  put("readClocks", read_clocks);
}

}  // namespace tracewright
