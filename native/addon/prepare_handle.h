// A function that libuv calls once a turn of a loop, before the loop waits.
#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>

namespace tracewright {

// The types of libuv 1, whose interface does not change, are plain here.
class PrepareHandle {
 public:
  using Callback = void (*)(void* data);

  // Calls `callback` from now on, on the loop of `env`, which it does not keep alive. What was
  // started later is called first. Null where libuv is not to be found.
  static std::unique_ptr<PrepareHandle> start(napi_env env, Callback callback, void* data);
  // The memory is libuv's until the loop has turned once more; then `closed` is called.
  static void close(std::unique_ptr<PrepareHandle> handle, Callback closed);

 private:
  PrepareHandle(Callback callback, void* data) : callback_(callback), data_(data) {}

  Callback callback_;
  void* const data_;
  std::unique_ptr<uint64_t[]> memory_;
};

}  // namespace tracewright
