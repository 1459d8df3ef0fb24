#include "addon/target_changes.h"

#include <new>

namespace tracewright {

namespace {

void deliver(napi_env env, napi_value listener, void*, void* data) {
  const std::unique_ptr<std::string> group(static_cast<std::string*>(data));
  if (env == nullptr || listener == nullptr) return;
  napi_value receiver = nullptr;
  napi_value name = nullptr;
  napi_get_undefined(env, &receiver);
  if (napi_create_string_utf8(env, group->data(), group->size(), &name) != napi_ok) return;
  napi_call_function(env, receiver, listener, 1, &name, nullptr);
}

}  // namespace

bool TargetChanges::start(napi_env env, napi_value listener) {
  napi_value name = nullptr;
  napi_create_string_utf8(env, "tracewright.target-changes", NAPI_AUTO_LENGTH, &name);
  if (napi_create_threadsafe_function(env, listener, nullptr, name, 0, 1, nullptr, nullptr, nullptr,
                                      deliver, &function_) != napi_ok) {
    function_ = nullptr;
    return false;
  }
  // It must not keep the service from ending.
  napi_unref_threadsafe_function(env, function_);
  // Hooks run in reverse order: this one before that of the function, which frees it.
  napi_add_env_cleanup_hook(
      env, [](void* self) { static_cast<TargetChanges*>(self)->stop(); }, this);
  return true;
}

void TargetChanges::group_changed(const std::string& group) {
  auto* const text = new (std::nothrow) std::string(group);
  if (text != nullptr &&
      napi_call_threadsafe_function(function_, text, napi_tsfn_nonblocking) != napi_ok) {
    delete text;
  }
}

void TargetChanges::watch(const std::string& group) {
  auto& known = groups_[group];
  if (known) return;
  known = TargetGroup::of(group);
  known->watch(this);
}

void TargetChanges::unwatch(const std::string& group) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  found->second->unwatch(this);
  groups_.erase(found);
}

void TargetChanges::stop() {
  for (const auto& [_, group] : groups_) group->unwatch(this);
  groups_.clear();
  if (function_ != nullptr) napi_release_threadsafe_function(function_, napi_tsfn_abort);
  function_ = nullptr;
}

}  // namespace tracewright
