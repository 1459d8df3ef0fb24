#include "addon/collection_log.h"

#include <algorithm>
#include <new>

#include "addon/call_listener.h"
#include "addon/collection_callbacks.h"
#include "clock/clock.h"

namespace tracewright {

namespace {

// 1.5 MB, which is taken page by page: of a minute in which the loop does not turn, and more.
constexpr size_t kMostNoted = 65536;

thread_local CollectionLog* of_this_thread = nullptr;

}  // namespace

CollectionLog::CollectionLog(Napi::Env env, const Napi::Function& listener)
    : env_(env), listener_(Napi::Persistent(listener)) {}

bool CollectionLog::start(Napi::Env env, const Napi::Function& listener) {
  const CollectionCallbacks& callbacks = CollectionCallbacks::instance();
  if (!callbacks.usable || of_this_thread != nullptr) return false;
  auto self = std::unique_ptr<CollectionLog>(new CollectionLog(env, listener));
  self->noted_.reset(new (std::nothrow) Collection[kMostNoted]);
  if (self->noted_ == nullptr) return false;
  self->handle_ = PrepareHandle::start(env, on_prepare, self.get());
  if (self->handle_ == nullptr) return false;
  self->isolate_ = FoundV8::instance().isolate();
  callbacks.add_begin(self->isolate_, on_begin, self.get(), CollectionCallbacks::kAllKinds);
  callbacks.add_end(self->isolate_, on_end, self.get(), CollectionCallbacks::kAllKinds);
  of_this_thread = self.release();
  napi_add_async_cleanup_hook(env, end, of_this_thread, &of_this_thread->hook_);
  return true;
}

size_t CollectionLog::take(double* to, size_t most) {
  CollectionLog* const self = of_this_thread;
  if (self == nullptr) return 0;
  const size_t count = std::min(most, self->noted_count_ - self->taken_);
  for (size_t i = 0; i < count; ++i) {
    const Collection& collection = self->noted_[self->taken_ + i];
    to[3 * i] = static_cast<double>(collection.from);
    to[3 * i + 1] = static_cast<double>(collection.to);
    to[3 * i + 2] = collection.kind;
  }
  self->taken_ += count;
  if (self->taken_ == self->noted_count_) {
    self->noted_count_ = 0;
    self->taken_ = 0;
  }
  return count;
}

uint64_t CollectionLog::lost() {
  return of_this_thread == nullptr ? 0 : of_this_thread->lost_;
}

void CollectionLog::note(const Collection& collection) {
  if (noted_count_ == kMostNoted) {
    ++lost_;
    return;
  }
  noted_[noted_count_++] = collection;
}

void CollectionLog::on_begin(void*, int kind, int, void* data) {
  auto* const self = static_cast<CollectionLog*>(data);
  if (self->kind_ != 0) return;
  self->kind_ = kind;
  self->begun_ = Clock::monotonic();
}

void CollectionLog::on_end(void*, int kind, int, void* data) {
  auto* const self = static_cast<CollectionLog*>(data);
  if (self->kind_ != kind) return;
  self->kind_ = 0;
  self->note({self->begun_, Clock::monotonic(), static_cast<uint32_t>(kind)});
}

void CollectionLog::on_prepare(void* data) {
  auto* const self = static_cast<CollectionLog*>(data);
  if (__builtin_expect(self->noted_count_ != 0, 0)) call_listener(self->env_, self->listener_);
}

void CollectionLog::end(napi_async_cleanup_hook_handle, void* data) {
  auto* const self = static_cast<CollectionLog*>(data);
  of_this_thread = nullptr;
  const CollectionCallbacks& callbacks = CollectionCallbacks::instance();
  callbacks.remove_begin(self->isolate_, on_begin, self);
  callbacks.remove_end(self->isolate_, on_end, self);
  self->listener_.Reset();
  PrepareHandle::close(std::move(self->handle_), [](void* closed) {
    const std::unique_ptr<CollectionLog> self(static_cast<CollectionLog*>(closed));
    napi_remove_async_cleanup_hook(self->hook_);
  });
}

}  // namespace tracewright
