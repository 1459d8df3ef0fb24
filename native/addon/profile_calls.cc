#include "addon/arguments.h"
#include "addon/calls.h"
#include "addon/cpu_profile.h"
#include "addon/heap_profile.h"

namespace tracewright {

namespace {

// startProfile(intervalUs, ownScripts)
Napi::Value start_profile(const Napi::CallbackInfo& info) {
  const bool started =
      CpuProfile::start(info.Env(), info[0].As<Napi::Number>().Uint32Value(), string_of(info[1]));
  return Napi::Boolean::New(info.Env(), started);
}

// takeProfile(all)
Napi::Value take_profile(const Napi::CallbackInfo& info) {
  return Napi::Value(info.Env(), CpuProfile::take(info.Env(), info[0].As<Napi::Boolean>().Value()));
}

// stopProfile()
Napi::Value stop_profile(const Napi::CallbackInfo& info) {
  CpuProfile::stop();
  return info.Env().Undefined();
}

// startHeapProfile(interval, ownScripts)
Napi::Value start_heap_profile(const Napi::CallbackInfo& info) {
  const auto interval = static_cast<uint64_t>(info[0].As<Napi::Number>().Int64Value());
  return Napi::Boolean::New(info.Env(),
                            HeapProfile::start(info.Env(), interval, string_of(info[1])));
}

// takeHeapProfile()
Napi::Value take_heap_profile(const Napi::CallbackInfo& info) {
  return Napi::Value(info.Env(), HeapProfile::take(info.Env()));
}

// stopHeapProfile()
Napi::Value stop_heap_profile(const Napi::CallbackInfo& info) {
  HeapProfile::stop();
  return info.Env().Undefined();
}

// learnActiveSpan(span, high, low, state, storage)
Napi::Value learn_active_span(const Napi::CallbackInfo& info) {
  const auto word_of = [&](size_t at) { return info[at].As<Napi::Number>().Int32Value(); };
  const bool known = CpuProfile::learn(
      {info[0], word_of(1), word_of(2), word_of(3), info[4].IsObject() ? info[4] : Napi::Value()});
  return Napi::Boolean::New(info.Env(), known);
}

}  // namespace

void add_profile_calls(Napi::Object exports) {
  add_call(exports, "startProfile", start_profile);
  add_call(exports, "takeProfile", take_profile);
  add_call(exports, "stopProfile", stop_profile);
  add_call(exports, "startHeapProfile", start_heap_profile);
  add_call(exports, "takeHeapProfile", take_heap_profile);
  add_call(exports, "stopHeapProfile", stop_heap_profile);
  add_call(exports, "learnActiveSpan", learn_active_span);
}

}  // namespace tracewright
