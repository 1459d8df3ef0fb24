#include "addon/prepare_handle.h"

#include "addon/found_symbol.h"

namespace tracewright {

namespace {

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
      found.usable = find_symbol(&found.handle_size, "uv_handle_size") &&
                     find_symbol(&found.prepare_init, "uv_prepare_init") &&
                     find_symbol(&found.prepare_start, "uv_prepare_start") &&
                     find_symbol(&found.unref, "uv_unref") &&
                     find_symbol(&found.close, "uv_close") &&
                     find_symbol(&found.get_data, "uv_handle_get_data") &&
                     find_symbol(&found.set_data, "uv_handle_set_data");
      return found;
    }();
    return libuv;
  }
};

}  // namespace

std::unique_ptr<PrepareHandle> PrepareHandle::start(napi_env env, Callback callback, void* data) {
  const Libuv& libuv = Libuv::instance();
  struct uv_loop_s* loop = nullptr;
  if (!libuv.usable || napi_get_uv_event_loop(env, &loop) != napi_ok) return nullptr;
  auto self = std::unique_ptr<PrepareHandle>(new PrepareHandle(callback, data));
  self->memory_.reset(new uint64_t[libuv.handle_size(kPrepare) / sizeof(uint64_t) + 1]());
  void* const handle = self->memory_.get();
  libuv.prepare_init(loop, handle);
  libuv.set_data(handle, self.get());
  libuv.prepare_start(handle, [](void* started) {
    const auto* const self = static_cast<PrepareHandle*>(Libuv::instance().get_data(started));
    self->callback_(self->data_);
  });
  // It must not keep the service from ending.
  libuv.unref(handle);
  return self;
}

void PrepareHandle::close(std::unique_ptr<PrepareHandle> handle, Callback closed) {
  PrepareHandle* const self = handle.release();
  self->callback_ = closed;
  Libuv::instance().close(self->memory_.get(), [](void* memory) {
    const std::unique_ptr<PrepareHandle> self(
        static_cast<PrepareHandle*>(Libuv::instance().get_data(memory)));
    self->callback_(self->data_);
  });
}

}  // namespace tracewright
