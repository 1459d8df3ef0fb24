// Functions of libuv and V8 that Node exports, by name: Node-API has no headers for them.
#pragma once

#include <dlfcn.h>

namespace tracewright {

template <typename Function>
bool find_symbol(Function* function, const char* name) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

}  // namespace tracewright
