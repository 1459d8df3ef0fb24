// Regular expressions that cannot run for long. V8 can bound how often one goes back to another way
// of matching, but only its C++ interface offers that.
#include <cstdint>
#include <string>

#include "addon/calls.h"
#include "addon/found_symbol.h"
#include "addon/v8_version.h"

namespace tracewright {

namespace {

// V8's handles (Local, MaybeLocal) are one pointer, as are those of Node-API.
using Handle = void*;
using GetVersion = const char* (*)();
using GetCurrentIsolate = void* (*)();
using GetCurrentContext = Handle (*)(void* isolate);
using MakePattern = Handle (*)(Handle context, Handle source, int flags, uint32_t limit);

struct Functions {
  GetCurrentIsolate current_isolate = nullptr;
  GetCurrentContext current_context = nullptr;
  MakePattern make_pattern = nullptr;
  bool usable = false;

  Functions() {
    GetVersion version = nullptr;
    usable =
        find_symbol(&version, "_ZN2v82V810GetVersionEv") && is_tested_v8(version()) &&
        find_symbol(&current_isolate, "_ZN2v87Isolate10GetCurrentEv") &&
        find_symbol(&current_context, "_ZN2v87Isolate17GetCurrentContextEv") &&
        find_symbol(&make_pattern,
                    "_ZN2v86RegExp21NewWithBacktrackLimitENS_5LocalINS_7ContextEEENS1_INS_6StringEE"
                    "ENS0_5FlagsEj");
  }
};

// boundedPattern(source, flags, limit)
Napi::Value bounded_pattern(const Napi::CallbackInfo& info) {
  static const Functions functions;
  const Napi::Env env = info.Env();
  if (!functions.usable) return env.Undefined();
  // A value of Node-API is a handle of V8 under another name.
  const Handle source = static_cast<napi_value>(info[0]);
  const auto flags = static_cast<int>(info[1].As<Napi::Number>().Int32Value());
  const uint32_t limit = info[2].As<Napi::Number>().Uint32Value();
  const Handle context = functions.current_context(functions.current_isolate());
  const Handle made = functions.make_pattern(context, source, flags, limit);
  // V8 has thrown: the source is not valid.
  if (made == nullptr) return env.Undefined();
  return Napi::Value(env, reinterpret_cast<napi_value>(made));
}

}  // namespace

void add_pattern_calls(Napi::Object exports) {
  add_call(exports, "boundedPattern", bounded_pattern);
}

}  // namespace tracewright
