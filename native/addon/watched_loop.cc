#include "addon/watched_loop.h"

#include "addon/arguments.h"
#include "addon/call_listener.h"
#include "addon/found_v8.h"
#include "drain/drain_thread.h"

namespace tracewright {

namespace {

// V8 calls back before it runs code that native code has called: the first thing that happens after
// a loop has waited.
struct EntryCallbacks {
  using Callback = void (*)(void* isolate);
  void (*add)(void* isolate, Callback callback);
  void (*remove)(void* isolate, Callback callback);
  bool usable;

  static const EntryCallbacks& instance() {
    static const EntryCallbacks callbacks = [] {
      EntryCallbacks found{};
      found.usable =
          FoundV8::instance().has_isolate() &&
          find_symbol(&found.add, "_ZN2v87Isolate28AddBeforeCallEnteredCallbackEPFvPS0_E") &&
          find_symbol(&found.remove, "_ZN2v87Isolate31RemoveBeforeCallEnteredCallbackEPFvPS0_E");
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

WatchedLoop::WatchedLoop(Napi::Env env, std::string own_scripts, const Napi::Function& listener)
    : env_(env), listener_(Napi::Persistent(listener)), stacks_(std::move(own_scripts)) {}

bool WatchedLoop::start(Napi::Env env, uint64_t limit_ns, uint64_t sample_ns, bool has_spans,
                        const Napi::Value& own_scripts, const Napi::Function& listener) {
  const EntryCallbacks& entries = EntryCallbacks::instance();
  if (!entries.usable || of_this_thread != nullptr) return false;
  const std::string own = own_scripts.IsString() ? string_of(own_scripts) : std::string();
  auto self = std::unique_ptr<WatchedLoop>(new WatchedLoop(env, own, listener));
  DrainThread& drain = DrainThread::instance();
  self->watch_ = std::make_shared<LoopWatch>(limit_ns, sample_ns, has_spans, drain.loops().lost());
  self->isolate_ = FoundV8::instance().isolate();
  if (own_scripts.IsString() && StallStacks::usable()) {
    const auto ask = [](void* isolate) { StallStacks::interrupt(isolate, on_interrupt); };
    self->watch_->ask_by(ask, self->isolate_);
  }
  if (!drain.watch(self->watch_)) return false;
  self->handle_ = PrepareHandle::start(env, on_prepare, self.get());
  if (self->handle_ == nullptr) {
    drain.loops().remove(self->watch_.get());
    return false;
  }
  of_this_thread = self.release();
  napi_add_async_cleanup_hook(env, end, of_this_thread, &of_this_thread->hook_);
  return true;
}

LoopWatch* WatchedLoop::of_thread() {
  return of_this_thread == nullptr ? nullptr : of_this_thread->watch_.get();
}

bool WatchedLoop::rest() {
  WatchedLoop* const self = of_this_thread;
  if (self == nullptr || !self->watch_->entered()) return false;
  const uint32_t reports = self->watch_->turn();
  if (reports != 0) self->report(reports);
  self->watch_->wait();
  return true;
}

void WatchedLoop::wake() {
  WatchedLoop* const self = of_this_thread;
  if (self != nullptr && self->watch_->enter()) DrainThread::instance().look_at_loops();
}

void WatchedLoop::end(napi_async_cleanup_hook_handle, void* data) {
  auto* const self = static_cast<WatchedLoop*>(data);
  of_this_thread = nullptr;
  DrainThread::instance().loops().remove(self->watch_.get());
  self->watch_entry(false);
  self->listener_.Reset();
  self->stacks_.clear(self->env_);
  PrepareHandle::close(std::move(self->handle_), [](void* closed) {
    const std::unique_ptr<WatchedLoop> self(static_cast<WatchedLoop*>(closed));
    napi_remove_async_cleanup_hook(self->hook_);
  });
}

void WatchedLoop::on_prepare(void* data) {
  static_cast<WatchedLoop*>(data)->begin_turn();
}

void WatchedLoop::begin_turn() {
  const uint32_t reports = watch_->turn();
  if (__builtin_expect(reports != 0, 0)) report(reports);
  stacks_.clear(env_);
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

// The isolate may have lost its watch since it was asked.
void WatchedLoop::on_interrupt(void* isolate, void*) {
  WatchedLoop* const self = of_this_thread;
  if (self != nullptr && self->isolate_ == isolate) self->add_stack();
}

void WatchedLoop::add_stack() {
  const LoopWatch::Answer answer = watch_->answer();
  if (answer != LoopWatch::Answer::none) watch_->put_text(stacks_.add(env_, isolate_, answer));
}

void WatchedLoop::report(uint32_t reports) {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return;
  if ((reports & LoopWatch::kStall) != 0) {
    const Stall& stall = watch_->stall();
    napi_value recorded = nullptr;
    napi_get_boolean(env_, stall.recorded, &recorded);
    const bool called = call_listener(
        env_, listener_,
        {number(env_, LoopWatch::kStall), number(env_, static_cast<double>(stall.from)),
         number(env_, static_cast<double>(stall.to)), number(env_, static_cast<double>(stall.cpu)),
         number(env_, static_cast<double>(stall.cause)), recorded, stacks_.take(env_),
         stacks_.take_contexts(env_)});
    // A thread that is being terminated leaves the record as it is.
    if (called) watch_->resume();
  }
  if ((reports & LoopWatch::kSample) != 0) {
    const LoopSample& sample = watch_->sample();
    napi_value nothing = nullptr;
    napi_get_undefined(env_, &nothing);
    call_listener(env_, listener_,
                  {number(env_, LoopWatch::kSample), number(env_, static_cast<double>(sample.from)),
                   number(env_, static_cast<double>(sample.to)),
                   number(env_, static_cast<double>(sample.busy)),
                   number(env_, static_cast<double>(sample.longest)), nothing,
                   number(env_, static_cast<double>(sample.turns)),
                   number(env_, static_cast<double>(sample.delay))});
  }
  napi_close_handle_scope(env_, scope);
}

}  // namespace tracewright
