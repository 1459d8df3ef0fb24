#include "addon/calls.h"
#include "addon/collection_log.h"

namespace tracewright {

namespace {

// watchCollections(listener)
Napi::Value watch_collections(const Napi::CallbackInfo& info) {
  const bool started = CollectionLog::start(info.Env(), info[0].As<Napi::Function>());
  return Napi::Boolean::New(info.Env(), started);
}

// takeCollections(to)
Napi::Value take_collections(const Napi::CallbackInfo& info) {
  auto to = info[0].As<Napi::Float64Array>();
  const size_t count = CollectionLog::take(to.Data(), to.ElementLength() / 3);
  return Napi::Number::New(info.Env(), static_cast<double>(count));
}

// lostCollections()
Napi::Value lost_collections(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(CollectionLog::lost()));
}

}  // namespace

void add_collection_calls(Napi::Object exports) {
  add_call(exports, "watchCollections", watch_collections);
  add_call(exports, "takeCollections", take_collections);
  add_call(exports, "lostCollections", lost_collections);
}

}  // namespace tracewright
