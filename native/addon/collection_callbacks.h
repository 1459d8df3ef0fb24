// V8 calls back at the beginning and the end of each garbage collection.
#pragma once

#include "addon/found_v8.h"

namespace tracewright {

// v8::GCType and v8::GCCallbackFlags are plain numbers.
struct CollectionCallbacks {
  using Callback = void (*)(void* isolate, int kind, int flags, void* data);
  void (*add_begin)(void* isolate, Callback callback, void* data, int kinds);
  void (*add_end)(void* isolate, Callback callback, void* data, int kinds);
  void (*remove_begin)(void* isolate, Callback callback, void* data);
  void (*remove_end)(void* isolate, Callback callback, void* data);
  bool usable;

  static constexpr int kAllKinds = 31;

  static const CollectionCallbacks& instance() {
    static const CollectionCallbacks callbacks = [] {
      CollectionCallbacks found{};
      found.usable = FoundV8::instance().has_isolate() &&
                     find_symbol(&found.add_begin,
                                 "_ZN2v87Isolate21AddGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_"
                                 "15GCCallbackFlagsEPvES4_S2_") &&
                     find_symbol(&found.add_end,
                                 "_ZN2v87Isolate21AddGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_"
                                 "15GCCallbackFlagsEPvES4_S2_") &&
                     find_symbol(&found.remove_begin,
                                 "_ZN2v87Isolate24RemoveGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_"
                                 "15GCCallbackFlagsEPvES4_") &&
                     find_symbol(&found.remove_end,
                                 "_ZN2v87Isolate24RemoveGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_"
                                 "15GCCallbackFlagsEPvES4_");
      return found;
    }();
    return callbacks;
  }
};

}  // namespace tracewright
