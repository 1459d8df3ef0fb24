#include "addon/fast_function.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "addon/v8_version.h"

namespace tracewright {
namespace {

// V8's handles (Local, MaybeLocal) are one pointer, passed and returned like one.
using Handle = void*;

using GetVersion = const char* (*)();
using GetCurrentIsolate = void* (*)();
using GetCurrentContext = Handle (*)(void* isolate);
using MakeFunctionInfo = void (*)(void* self, const void* result, unsigned arguments,
                                  const void* argument_types);
using MakeFunctionInfoWithIntegers = void (*)(void* self, const void* result, unsigned arguments,
                                              const void* argument_types, uint8_t integers);
using MakeFunction = void (*)(void* self, const void* address, const void* info);
using MakeTemplate = Handle (*)(void* isolate, FastCallback slow, Handle data, Handle signature,
                                int length, int constructor_behavior, int side_effects,
                                const void* fast, uint16_t, uint16_t, uint16_t);
using GetFunction = Handle (*)(Handle function_template, Handle context);

// v8::CTypeInfo.
struct TypeInfo {
  uint8_t type;
  uint8_t sequence;
  uint8_t flags;
};
constexpr TypeInfo kVoid = {0, 0, 0};
constexpr TypeInfo kReceiver = {10, 0, 0};  // kV8Value

constexpr int kThrowOnConstruct = 0;
constexpr int kHasSideEffect = 0;

template <typename Function>
Function symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

class V8 {
 public:
  static const V8& instance() {
    static const V8 v8;
    return v8;
  }

  bool usable() const { return usable_; }

  napi_value make(FastCallback callback) const {
    if (!usable_) return nullptr;
    // V8 keeps the address of the info, not of this pair.
    alignas(8) unsigned char fast[64] = {};
    make_function_(fast, reinterpret_cast<const void*>(callback), info_);
    void* const isolate = get_current_isolate_();
    if (isolate == nullptr) return nullptr;
    const Handle made = make_template_(isolate, callback, nullptr, nullptr, 0, kThrowOnConstruct,
                                       kHasSideEffect, fast, 0, 0, 0);
    // Node-API's values are V8's handles under another name.
    return reinterpret_cast<napi_value>(get_function_(made, get_current_context_(isolate)));
  }

 private:
  V8() {
    const char* const setting = std::getenv("TRACEWRIGHT_FAST_CALLS");
    if (setting != nullptr && std::strcmp(setting, "off") == 0) return;
    const auto version = symbol<GetVersion>("_ZN2v82V810GetVersionEv");
    if (version == nullptr || !is_tested_v8(version())) return;
    get_current_isolate_ = symbol<GetCurrentIsolate>("_ZN2v87Isolate10GetCurrentEv");
    get_current_context_ = symbol<GetCurrentContext>("_ZN2v87Isolate17GetCurrentContextEv");
    make_function_ = symbol<MakeFunction>("_ZN2v89CFunctionC1EPKvPKNS_13CFunctionInfoE");
    make_template_ = symbol<MakeTemplate>(
        "_ZN2v816FunctionTemplate3NewEPNS_7IsolateEPFvRKNS_20FunctionCallbackInfoINS_5ValueEEEENS_"
        "5LocalIS4_EENSA_INS_9SignatureEEEiNS_19ConstructorBehaviorENS_14SideEffectTypeEPKNS_"
        "9CFunctionEttt");
    get_function_ =
        symbol<GetFunction>("_ZN2v816FunctionTemplate11GetFunctionENS_5LocalINS_7ContextEEE");
    if (get_current_isolate_ == nullptr || get_current_context_ == nullptr ||
        make_function_ == nullptr || make_template_ == nullptr || get_function_ == nullptr) {
      return;
    }
    if (const auto make_info = symbol<MakeFunctionInfoWithIntegers>(
            "_ZN2v813CFunctionInfoC1ERKNS_9CTypeInfoEjPS2_NS0_19Int64RepresentationE")) {
      make_info(info_, &kVoid, 1, &kReceiver, 0);
      usable_ = true;
    } else if (const auto make_info_11 =
                   symbol<MakeFunctionInfo>("_ZN2v813CFunctionInfoC1ERKNS_9CTypeInfoEjPS2_")) {
      make_info_11(info_, &kVoid, 1, &kReceiver);
      usable_ = true;
    }
  }

  bool usable_ = false;
  GetCurrentIsolate get_current_isolate_ = nullptr;
  GetCurrentContext get_current_context_ = nullptr;
  MakeFunction make_function_ = nullptr;
  MakeTemplate make_template_ = nullptr;
  GetFunction get_function_ = nullptr;
  // A v8::CFunctionInfo, which is smaller.
  alignas(8) unsigned char info_[64] = {};
};

}  // namespace

bool has_fast_functions() {
  return V8::instance().usable();
}

napi_value make_fast_function(FastCallback callback) {
  return V8::instance().make(callback);
}

}  // namespace tracewright
