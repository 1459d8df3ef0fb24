// JavaScript functions that optimised code calls like C functions.
//
// A call through Node-API costs several times what the commit of an event costs. V8 has fast API
// calls for this: optimised code jumps straight into the C function. Node's own core uses them, but
// neither Node-API nor the headers that Node installs offer them. The node binary exports what it
// takes, though, so it is looked up by name when the addon is loaded, and only on lines of V8 whose
// calling convention is known. Where anything is missing there is no fast function, and the caller
// makes a Node-API function instead: the same result, only slower.
#pragma once

#include <node_api.h>

namespace tracewright {

// Must neither allocate in JavaScript's heap, nor call or throw into JavaScript. The argument is
// the receiver of the call, in the fast form, or the slow form's call information.
using FastCallback = void (*)(const void*);

// Whether there are fast functions: V8 is one of the known lines, and TRACEWRIGHT_TEST_FAST_CALLS
// is not `off`.
bool has_fast_functions();

// A function of the current context that takes no arguments and returns undefined. Null where
// there are none. The context keeps every function that is made, so the caller makes each once.
napi_value make_fast_function(FastCallback callback);

}  // namespace tracewright
