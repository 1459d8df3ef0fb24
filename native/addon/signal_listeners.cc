#include "addon/signal_listeners.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "process/process_end.h"

namespace tracewright {

namespace {

// A thread that computes does not turn its event loop. The signal does not wait for it longer.
constexpr std::chrono::milliseconds kLimit{250};

struct Listeners {
  std::mutex lock;
  std::condition_variable answered;
  std::vector<napi_threadsafe_function> all;
  int waiting = 0;

  // Never destroyed: the drain thread outlives static objects.
  static Listeners& instance() {
    static auto* const listeners = new Listeners;
    return *listeners;
  }
};

// On the thread of the listener, which its environment has left if there is no `env`.
void call(napi_env env, napi_value listener, void*, void*) {
  if (env != nullptr) {
    napi_value self = nullptr;
    napi_value result = nullptr;
    napi_get_undefined(env, &self);
    if (napi_call_function(env, self, listener, 0, nullptr, &result) == napi_pending_exception) {
      napi_get_and_clear_last_exception(env, &result);
    }
  }
  Listeners& listeners = Listeners::instance();
  {
    const std::lock_guard<std::mutex> lock(listeners.lock);
    --listeners.waiting;
  }
  listeners.answered.notify_all();
}

void forget(napi_env, void* data, void*) {
  const std::unique_ptr<napi_threadsafe_function> own(static_cast<napi_threadsafe_function*>(data));
  Listeners& listeners = Listeners::instance();
  const std::lock_guard<std::mutex> lock(listeners.lock);
  auto& all = listeners.all;
  all.erase(std::remove(all.begin(), all.end(), *own), all.end());
}

// On the drain thread.
void call_all() {
  Listeners& listeners = Listeners::instance();
  std::unique_lock<std::mutex> lock(listeners.lock);
  for (const napi_threadsafe_function each : listeners.all) {
    if (napi_call_threadsafe_function(each, nullptr, napi_tsfn_nonblocking) == napi_ok) {
      ++listeners.waiting;
    }
  }
  // One whose environment ends meanwhile is not called any more.
  listeners.all.clear();
  listeners.answered.wait_for(lock, kLimit, [&] { return listeners.waiting <= 0; });
}

}  // namespace

bool call_before_signal(napi_env env, napi_value listener) {
  auto own = std::unique_ptr<napi_threadsafe_function>(new (std::nothrow) napi_threadsafe_function);
  napi_value name = nullptr;
  napi_create_string_latin1(env, "tracewright.signal", NAPI_AUTO_LENGTH, &name);
  if (own == nullptr ||
      napi_create_threadsafe_function(env, listener, nullptr, name, 0, 1, own.get(), forget,
                                      nullptr, call, own.get()) != napi_ok) {
    return false;
  }
  const napi_threadsafe_function created = *own.release();
  napi_unref_threadsafe_function(env, created);
  Listeners& listeners = Listeners::instance();
  const std::lock_guard<std::mutex> lock(listeners.lock);
  listeners.all.push_back(created);
  ProcessEnd::prepare_by(call_all);
  return true;
}

}  // namespace tracewright
