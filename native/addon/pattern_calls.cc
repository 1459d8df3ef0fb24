// Regular expressions that cannot run for long. V8 can bound how often one goes back to another way
// of matching, but only its C++ interface offers that.
#include <cstdint>
#include <string>

#include "addon/calls.h"
#include "addon/found_v8.h"

namespace tracewright {

namespace {

using MakePattern = V8Handle (*)(V8Handle context, V8Handle source, int flags, uint32_t limit);

// Null where there is none.
MakePattern found_maker() {
  MakePattern make = nullptr;
  if (FoundV8::instance().usable()) {
    find_symbol(&make,
                "_ZN2v86RegExp21NewWithBacktrackLimitENS_5LocalINS_7ContextEEENS1_INS_6StringEE"
                "ENS0_5FlagsEj");
  }
  return make;
}

// boundedPattern(source, flags, limit)
Napi::Value bounded_pattern(const Napi::CallbackInfo& info) {
  static const MakePattern make_pattern = found_maker();
  const Napi::Env env = info.Env();
  if (make_pattern == nullptr) return env.Undefined();
  const V8Handle source = static_cast<napi_value>(info[0]);
  const auto flags = static_cast<int>(info[1].As<Napi::Number>().Int32Value());
  const uint32_t limit = info[2].As<Napi::Number>().Uint32Value();
  const FoundV8& v8 = FoundV8::instance();
  const V8Handle made = make_pattern(v8.context(v8.isolate()), source, flags, limit);
  // V8 has thrown: the source is not valid.
  if (made == nullptr) return env.Undefined();
  return Napi::Value(env, reinterpret_cast<napi_value>(made));
}

}  // namespace

void add_pattern_calls(Napi::Object exports) {
  add_call(exports, "boundedPattern", bounded_pattern);
}

}  // namespace tracewright
