// JavaScript that runs once before a signal ends the process, on the thread that has asked for it:
// what only it knows goes to the traces.
#pragma once

#include <node_api.h>

namespace tracewright {

// The listener throws nothing, and does not keep the event loop alive. False if there was no
// memory.
bool call_before_signal(napi_env env, napi_value listener);

}  // namespace tracewright
