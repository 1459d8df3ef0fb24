#include "addon/watched_loop.h"

#include <dlfcn.h>

#include "drain/drain_thread.h"

namespace tracewright {

namespace {

template <typename Function>
bool find(Function* function, const char* name) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

// Of libuv 1, whose interface does not change.
constexpr int kPrepare = 9;
using HandleCallback = void (*)(void* handle);

struct Libuv {
  size_t (*handle_size)(int type);
  int (*prepare_init)(void* loop, void* handle);
  int (*prepare_start)(void* handle, HandleCallback callback);
  void (*unref)(void* handle);
  void (*close)(void* handle, HandleCallback callback);
  void* (*get_data)(const void* handle);
  void (*set_data)(void* handle, void* data);
  bool usable;

  static const Libuv& instance() {
    static const Libuv libuv = [] {
      Libuv found{};
      found.usable = find(&found.handle_size, "uv_handle_size") &&
                     find(&found.prepare_init, "uv_prepare_init") &&
                     find(&found.prepare_start, "uv_prepare_start") &&
                     find(&found.unref, "uv_unref") && find(&found.close, "uv_close") &&
                     find(&found.get_data, "uv_handle_get_data") &&
                     find(&found.set_data, "uv_handle_set_data");
      return found;
    }();
    return libuv;
  }
};

// V8 calls back before it runs code that native code has called: the first thing that happens after
// a loop has waited.
struct EntryCallbacks {
  using Callback = void (*)(void* isolate);
  void* (*current_isolate)();
  void (*add)(void* isolate, Callback callback);
  void (*remove)(void* isolate, Callback callback);
  bool usable;

  static const EntryCallbacks& instance() {
    static const EntryCallbacks callbacks = [] {
      EntryCallbacks found{};
      found.usable =
          find(&found.current_isolate, "_ZN2v87Isolate10GetCurrentEv") &&
          find(&found.add, "_ZN2v87Isolate28AddBeforeCallEnteredCallbackEPFvPS0_E") &&
          find(&found.remove, "_ZN2v87Isolate31RemoveBeforeCallEnteredCallbackEPFvPS0_E");
      return found;
    }();
    return callbacks;
  }
};

thread_local WatchedLoop* of_this_thread = nullptr;

napi_value number(napi_env env, double value) {
  napi_value made = nullptr;
  napi_create_double(env, value, &made);
  return made;
}

}  // namespace

WatchedLoop::WatchedLoop(Napi::Env env, const Napi::Function& listener)
    : env_(env), listener_(Napi::Persistent(listener)) {}

bool WatchedLoop::start(Napi::Env env, uint64_t limit_ns, uint64_t sample_ns,
                        const Napi::Function& listener) {
  const Libuv& libuv = Libuv::instance();
  struct uv_loop_s* loop = nullptr;
  const EntryCallbacks& entries = EntryCallbacks::instance();
  if (!libuv.usable || !entries.usable || of_this_thread != nullptr ||
      napi_get_uv_event_loop(env, &loop) != napi_ok) {
    return false;
  }
  auto self = std::unique_ptr<WatchedLoop>(new WatchedLoop(env, listener));
  DrainThread& drain = DrainThread::instance();
  self->watch_ = std::make_shared<LoopWatch>(limit_ns, sample_ns, drain.loops().lost());
  if (!drain.watch(self->watch_)) return false;
  self->handle_.reset(new uint64_t[libuv.handle_size(kPrepare) / sizeof(uint64_t) + 1]());
  self->isolate_ = entries.current_isolate();
  void* const handle = self->handle_.get();
  libuv.prepare_init(loop, handle);
  libuv.set_data(handle, self.get());
  libuv.prepare_start(handle, on_prepare);
  // It must not keep the service from ending.
  libuv.unref(handle);
  of_this_thread = self.release();
  napi_add_async_cleanup_hook(env, end, of_this_thread, &of_this_thread->hook_);
  return true;
}

LoopWatch* WatchedLoop::of_thread() {
  return of_this_thread == nullptr ? nullptr : of_this_thread->watch_.get();
}

void WatchedLoop::end(napi_async_cleanup_hook_handle, void* data) {
  auto* const self = static_cast<WatchedLoop*>(data);
  of_this_thread = nullptr;
  DrainThread::instance().loops().remove(self->watch_.get());
  self->watch_entry(false);
  self->listener_.Reset();
  Libuv::instance().close(self->handle_.get(), [](void* handle) {
    auto* const closed = static_cast<WatchedLoop*>(Libuv::instance().get_data(handle));
    const napi_async_cleanup_hook_handle hook = closed->hook_;
    delete closed;
    napi_remove_async_cleanup_hook(hook);
  });
}

void WatchedLoop::on_prepare(void* handle) {
  static_cast<WatchedLoop*>(Libuv::instance().get_data(handle))->begin_turn();
}

void WatchedLoop::begin_turn() {
  const uint32_t reports = watch_->turn();
  if (__builtin_expect(reports != 0, 0)) report(reports);
  watch_entry(true);
  watch_->wait();
}

void WatchedLoop::watch_entry(bool on) {
  if (entry_watched_ == on) return;
  entry_watched_ = on;
  const EntryCallbacks& callbacks = EntryCallbacks::instance();
  if (on)
    callbacks.add(isolate_, on_entry);
  else
    callbacks.remove(isolate_, on_entry);
}

void WatchedLoop::on_entry(void*) {
  WatchedLoop* const self = of_this_thread;
  if (self == nullptr) return;
  self->watch_entry(false);
  if (self->watch_->enter()) DrainThread::instance().look_at_loops();
}

void WatchedLoop::report(uint32_t reports) {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return;
  if ((reports & LoopWatch::kStall) != 0) {
    const Stall& stall = watch_->stall();
    napi_value recorded = nullptr;
    napi_get_boolean(env_, stall.recorded, &recorded);
    const napi_value arguments[] = {number(env_, LoopWatch::kStall),
                                    number(env_, static_cast<double>(stall.from)),
                                    number(env_, static_cast<double>(stall.to)),
                                    number(env_, static_cast<double>(stall.cpu)),
                                    number(env_, static_cast<double>(stall.cause)),
                                    recorded};
    // A thread that is being terminated leaves the record as it is.
    if (call(arguments, 6)) watch_->resume();
  }
  if ((reports & LoopWatch::kSample) != 0) {
    const LoopSample& sample = watch_->sample();
    napi_value nothing = nullptr;
    napi_get_undefined(env_, &nothing);
    const napi_value arguments[] = {number(env_, LoopWatch::kSample),
                                    number(env_, static_cast<double>(sample.from)),
                                    number(env_, static_cast<double>(sample.to)),
                                    number(env_, static_cast<double>(sample.busy)),
                                    number(env_, static_cast<double>(sample.longest)),
                                    nothing,
                                    number(env_, static_cast<double>(sample.turns)),
                                    number(env_, static_cast<double>(sample.delay))};
    call(arguments, 8);
  }
  napi_close_handle_scope(env_, scope);
}

// The listener throws nothing. False if it cannot be called.
bool WatchedLoop::call(napi_value const* arguments, size_t count) {
  napi_value receiver = nullptr;
  if (napi_get_global(env_, &receiver) != napi_ok) return false;
  const napi_status status =
      napi_make_callback(env_, nullptr, receiver, listener_.Value(), count, arguments, nullptr);
  bool pending = false;
  napi_value thrown = nullptr;
  if (napi_is_exception_pending(env_, &pending) == napi_ok && pending) {
    napi_get_and_clear_last_exception(env_, &thrown);
  }
  return status == napi_ok;
}

}  // namespace tracewright
