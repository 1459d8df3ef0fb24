// The packing of records as JavaScript sees it; src/core/addon.ts says what each call takes.
#pragma once

#include <napi.h>

namespace tracewright {

void add_packing_calls(Napi::Object exports);

}  // namespace tracewright
