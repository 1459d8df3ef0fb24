// What the calling thread runs, by V8's own profiler. V8's functions are found by name, and their
// types are plain here: those of the versions of V8 that `start` knows.
#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "addon/active_span.h"
#include "addon/profile_signals.h"

namespace tracewright {

class CpuProfile {
 public:
  // Takes samples of the calling thread until `stop` or the end of its environment. Scripts whose
  // paths begin with `own_scripts` are named `tracewright/…`. False: V8 is unknown, or refuses.
  static bool start(Napi::Env env, uint32_t interval_us, const std::string& own_scripts);
  // The samples since the last time: an array of (from, to, frames, nodes, samples, spans, lines)
  // for each part, see docs/formats/records.md. Undefined: there are none, or too few for what it
  // takes to ask for them, unless `all`.
  static napi_value take(Napi::Env env, bool all);
  static bool learn(const ActiveSpan::Known& known);
  static void stop();

 private:
  CpuProfile(napi_env env, void* isolate, std::string own_scripts);
  bool begin(uint32_t interval_us);
  bool start_next();
  napi_value parts(void* profile);
  static void end(napi_async_cleanup_hook_handle hook, void* self);

  const napi_env env_;
  void* const isolate_;
  const std::string own_scripts_;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  void* profiler_ = nullptr;
  uint32_t running_ = 0;
  // Counts profiles, for their titles.
  uint32_t begun_ = 0;
  // Of the last sample that was taken, in us.
  int64_t last_ = 0;
  uint64_t cpu_ = 0;
  uint64_t since_ = 0;
  std::unique_ptr<ActiveSpan> span_;
  std::unique_ptr<ProfileSignals> signals_;
};

}  // namespace tracewright
