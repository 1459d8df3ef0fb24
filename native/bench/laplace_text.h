// The peer of bench/laplace.mjs: Laplace's reference records turned into text and back by C++
// loops.
#pragma once

#include <napi.h>

namespace tracewright {

void add_laplace_text(Napi::Env env, Napi::Object exports);

}  // namespace tracewright
