// What every call into V8 by a found symbol begins with.
#pragma once

#include "addon/found_symbol.h"
#include "addon/v8_version.h"

namespace tracewright {

// V8's handles (Local, MaybeLocal) are one pointer, passed and returned like one. Node-API's values
// are the same under another name.
using V8Handle = void*;

class FoundV8 {
 public:
  static const FoundV8& instance() {
    static const FoundV8 v8;
    return v8;
  }

  // Whether V8 is one of the tested lines and has what is called here.
  bool usable() const { return usable_; }
  // Whether `isolate` may be called, with a V8 of any version.
  bool has_isolate() const { return get_isolate_ != nullptr; }
  // Null: the thread has none.
  void* isolate() const { return get_isolate_(); }
  V8Handle context(void* isolate) const { return get_context_(isolate); }

 private:
  FoundV8() {
    const char* (*get_version)() = nullptr;
    usable_ = find_symbol(&get_isolate_, "_ZN2v87Isolate10GetCurrentEv") &&
              find_symbol(&get_version, "_ZN2v82V810GetVersionEv") && is_tested_v8(get_version()) &&
              find_symbol(&get_context_, "_ZN2v87Isolate17GetCurrentContextEv");
  }

  bool usable_ = false;
  void* (*get_isolate_)() = nullptr;
  V8Handle (*get_context_)(void* isolate) = nullptr;
};

}  // namespace tracewright
