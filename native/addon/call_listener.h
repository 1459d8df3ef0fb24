// Calls a JavaScript function from a callback of libuv, outside every call of JavaScript.
#pragma once

#include <napi.h>

#include <initializer_list>

namespace tracewright {

// The listener throws nothing. False if it could not be called, or was ended by a termination.
bool call_listener(napi_env env, const Napi::FunctionReference& listener,
                   std::initializer_list<napi_value> arguments = {});

}  // namespace tracewright
