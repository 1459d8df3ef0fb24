// What V8 has compiled of a function and the functions in it. Node itself offers that of a
// vm.Script only, which makes V8 collect at rest (docs/architecture/decisions.md).
#include <cstdint>

#include "addon/calls.h"
#include "addon/found_v8.h"

namespace tracewright {

namespace {

// The first fields of v8::ScriptCompiler::CachedData.
struct CachedData {
  const uint8_t* bytes;
  int length;
};

struct CodeCache {
  CachedData* (*make)(V8Handle function) = nullptr;
  void (*destroy)(CachedData* data) = nullptr;
  bool usable;

  CodeCache()
      : usable(
            FoundV8::instance().usable() &&
            find_symbol(
                &make,
                "_ZN2v814ScriptCompiler26CreateCodeCacheForFunctionENS_5LocalINS_8FunctionEEE") &&
            find_symbol(&destroy, "_ZN2v814ScriptCompiler10CachedDataD1Ev")) {}
};

// compiledCode(fn)
Napi::Value compiled_code(const Napi::CallbackInfo& info) {
  static const CodeCache cache;
  const Napi::Env env = info.Env();
  if (!cache.usable) return env.Undefined();
  CachedData* const data = cache.make(static_cast<napi_value>(info[0]));
  if (data == nullptr) return env.Undefined();
  const auto bytes =
      Napi::Buffer<uint8_t>::Copy(env, data->bytes, static_cast<size_t>(data->length));
  // The struct stays: it is some 24 bytes, of Node's allocator, and a process saves once.
  cache.destroy(data);
  return bytes;
}

}  // namespace

void add_code_calls(Napi::Object exports) {
  add_call(exports, "compiledCode", compiled_code);
}

}  // namespace tracewright
