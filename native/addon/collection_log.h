// Notes the garbage collections of an environment. V8 calls it at their beginning and end, because
// Node's observer makes too many objects for each.
#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>

#include "addon/prepare_handle.h"

namespace tracewright {

class CollectionLog {
 public:
  // Notes the collections of the calling thread until its environment ends, and calls `listener`
  // before its loop waits if there are any. False where that cannot be.
  static bool start(Napi::Env env, const Napi::Function& listener);

  // Moves the oldest collections of the calling thread to `to`, each as (from, to, kind), with
  // times of CLOCK_MONOTONIC in ns and one of V8's kinds. Returns how many, at most `most`.
  static size_t take(double* to, size_t most);

  // What the calling thread has not noted, because nothing was taken for too long.
  static uint64_t lost();

 private:
  struct Collection {
    uint64_t from;
    uint64_t to;
    uint32_t kind;
  };

  CollectionLog(Napi::Env env, const Napi::Function& listener);
  void note(const Collection& collection);
  static void on_begin(void* isolate, int kind, int flags, void* self);
  static void on_end(void* isolate, int kind, int flags, void* self);
  static void on_prepare(void* self);
  static void end(napi_async_cleanup_hook_handle hook, void* self);

  const Napi::Env env_;
  Napi::FunctionReference listener_;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  std::unique_ptr<PrepareHandle> handle_;
  void* isolate_ = nullptr;
  std::unique_ptr<Collection[]> noted_;
  size_t noted_count_ = 0;
  // Those of `noted_` that were taken.
  size_t taken_ = 0;
  uint64_t lost_ = 0;
  uint64_t begun_ = 0;
  // Of the collection that is under way; 0: none is. Others that it contains are part of it.
  int kind_ = 0;
};

}  // namespace tracewright
