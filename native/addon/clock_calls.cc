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

}  // namespace

void add_clock_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("clockNow", clock_now);
  put("kernelClockNow", kernel_clock_now);
  put("wallClock", wall_clock);
  put("cpuClock", cpu_clock);
}

}  // namespace tracewright
