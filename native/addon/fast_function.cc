#include "addon/fast_function.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "addon/found_v8.h"

namespace tracewright {
namespace {

using MakeFunctionInfo = void (*)(void* self, const void* result, unsigned arguments,
                                  const void* argument_types);
using MakeFunctionInfoWithIntegers = void (*)(void* self, const void* result, unsigned arguments,
                                              const void* argument_types, uint8_t integers);
using MakeFunction = void (*)(void* self, const void* address, const void* info);
using MakeTemplate = V8Handle (*)(void* isolate, FastCallback slow, V8Handle data,
                                  V8Handle signature, int length, int constructor_behavior,
                                  int side_effects, const void* fast, uint16_t, uint16_t, uint16_t);
using GetFunction = V8Handle (*)(V8Handle function_template, V8Handle context);

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

class FastCalls {
 public:
  static const FastCalls& instance() {
    static const FastCalls calls;
    return calls;
  }

  bool usable() const { return usable_; }

  napi_value make(FastCallback callback) const {
    if (!usable_) return nullptr;
    // V8 keeps the address of the info, not of this pair.
    alignas(8) unsigned char fast[64] = {};
    make_function_(fast, reinterpret_cast<const void*>(callback), info_);
    void* const isolate = v8_.isolate();
    if (isolate == nullptr) return nullptr;
    const V8Handle made = make_template_(isolate, callback, nullptr, nullptr, 0, kThrowOnConstruct,
                                         kHasSideEffect, fast, 0, 0, 0);
    return reinterpret_cast<napi_value>(get_function_(made, v8_.context(isolate)));
  }

 private:
  FastCalls() {
    const char* const setting = std::getenv("TRACEWRIGHT_TEST_FAST_CALLS");
    if (setting != nullptr && std::strcmp(setting, "off") == 0) return;
    if (!v8_.usable() ||
        !find_symbol(&make_function_, "_ZN2v89CFunctionC1EPKvPKNS_13CFunctionInfoE") ||
        !find_symbol(
            &make_template_,
            "_ZN2v816FunctionTemplate3NewEPNS_7IsolateEPFvRKNS_20FunctionCallbackInfoINS_5ValueEEEE"
            "NS_5LocalIS4_EENSA_INS_9SignatureEEEiNS_19ConstructorBehaviorENS_14SideEffectTypeEPKNS"
            "_9CFunctionEttt") ||
        !find_symbol(&get_function_,
                     "_ZN2v816FunctionTemplate11GetFunctionENS_5LocalINS_7ContextEEE")) {
      return;
    }
    MakeFunctionInfoWithIntegers make_info = nullptr;
    MakeFunctionInfo make_info_11 = nullptr;
    if (find_symbol(&make_info,
                    "_ZN2v813CFunctionInfoC1ERKNS_9CTypeInfoEjPS2_NS0_19Int64RepresentationE")) {
      make_info(info_, &kVoid, 1, &kReceiver, 0);
      usable_ = true;
    } else if (find_symbol(&make_info_11, "_ZN2v813CFunctionInfoC1ERKNS_9CTypeInfoEjPS2_")) {
      make_info_11(info_, &kVoid, 1, &kReceiver);
      usable_ = true;
    }
  }

  const FoundV8& v8_ = FoundV8::instance();
  bool usable_ = false;
  MakeFunction make_function_ = nullptr;
  MakeTemplate make_template_ = nullptr;
  GetFunction get_function_ = nullptr;
  // A v8::CFunctionInfo, which is smaller.
  alignas(8) unsigned char info_[64] = {};
};

}  // namespace

bool has_fast_functions() {
  return FastCalls::instance().usable();
}

napi_value make_fast_function(FastCallback callback) {
  return FastCalls::instance().make(callback);
}

}  // namespace tracewright
