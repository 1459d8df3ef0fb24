// Which functions allocated what is alive in the heap of the calling thread, by V8's own sampling
// heap profiler, of which an isolate has one.
#pragma once

#include <napi.h>

#include <cstdint>
#include <string>

namespace tracewright {

class HeapProfile {
 public:
  // Samples one allocation in about `interval` bytes until `stop` or the end of the thread's
  // environment. Scripts whose paths begin with `own_scripts` are named `tracewright/…`. False: V8
  // is unknown, or the program samples its heap already.
  static bool start(Napi::Env env, uint64_t interval, const std::string& own_scripts);
  // What is alive, as `CpuProfile::take` returns a part: its samples are sizes. Undefined: nothing.
  static napi_value take(Napi::Env env);
  static void stop();

 private:
  HeapProfile(napi_env env, void* profiler, std::string own_scripts);
  static void end(napi_async_cleanup_hook_handle hook, void* self);

  const napi_env env_;
  void* const profiler_;
  const std::string own_scripts_;
  napi_async_cleanup_hook_handle hook_ = nullptr;
};

}  // namespace tracewright
