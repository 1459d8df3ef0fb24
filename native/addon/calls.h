// The calls of the native object, one file for each subject. src/core/native-core.ts says what
// each call takes. Only src/core calls them, so arguments are checked there.
#pragma once

#include <napi.h>

namespace tracewright {

using Call = Napi::Value (*)(const Napi::CallbackInfo&);

// Not Napi::Function::New, which notes for each function what to free when it is collected.
inline void add_call(Napi::Object exports, const char* name, Call call) {
  const napi_callback made = [](napi_env env, napi_callback_info info) -> napi_value {
    const Napi::CallbackInfo call_info(env, info);
    return reinterpret_cast<Call>(call_info.Data())(call_info);
  };
  napi_value function = nullptr;
  napi_create_function(exports.Env(), name, NAPI_AUTO_LENGTH, made, reinterpret_cast<void*>(call),
                       &function);
  napi_set_named_property(exports.Env(), exports, name, function);
}

void add_clock_calls(Napi::Object exports);
void add_collection_calls(Napi::Object exports);
void add_core_calls(Napi::Object exports);
void add_file_calls(Napi::Object exports);
void add_group_calls(Napi::Object exports);
void add_loop_calls(Napi::Object exports);
void add_memory_calls(Napi::Object exports);
void add_packing_calls(Napi::Object exports);
void add_pattern_calls(Napi::Object exports);
void add_process_calls(Napi::Object exports);
void add_profile_calls(Napi::Object exports);
void add_ring_calls(Napi::Object exports);
void add_target_calls(Napi::Object exports);
// The offsets of the control page.
void add_control_layout(Napi::Object exports);

}  // namespace tracewright
