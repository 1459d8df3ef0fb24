// The peer of bench/dumpi-call.mjs: DUMPI's MPI_Send written by a C++ loop.
#pragma once

#include <napi.h>

namespace tracewright {

void add_dumpi_send(Napi::Env env, Napi::Object exports);

}  // namespace tracewright
