// The calls of the native object, one file for each subject. src/core/native-core.ts says what
// each call takes. Only src/core calls them, so arguments are checked there.
#pragma once

#include <napi.h>

namespace tracewright {

using Call = Napi::Value (*)(const Napi::CallbackInfo&);

inline void add_call(Napi::Object exports, const char* name, Call call) {
  exports[name] = Napi::Function::New(exports.Env(), call, name);
}

void add_clock_calls(Napi::Object exports);
void add_code_calls(Napi::Object exports);
void add_collection_calls(Napi::Object exports);
void add_core_calls(Napi::Object exports);
void add_file_calls(Napi::Object exports);
void add_group_calls(Napi::Object exports);
void add_loop_calls(Napi::Object exports);
void add_packing_calls(Napi::Object exports);
void add_pattern_calls(Napi::Object exports);
void add_process_calls(Napi::Object exports);
void add_ring_calls(Napi::Object exports);
void add_target_calls(Napi::Object exports);
// The offsets of the control page.
void add_control_layout(Napi::Object exports);

}  // namespace tracewright
