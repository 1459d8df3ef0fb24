// Reports changes of target groups to the thread of an environment. Any thread can find a target
// failing, until the environment is gone.
#pragma once

#include <napi.h>

#include <map>
#include <memory>
#include <string>

#include "sink/target_group.h"

namespace tracewright {

class TargetChanges : public TargetWatcher {
 public:
  // `listener` is called with the name of a group that has changed. False when the thread is being
  // terminated.
  bool start(napi_env env, napi_value listener);
  bool started() const { return function_ != nullptr; }

  void group_changed(const std::string& group) override;

  // The environment's thread only.
  void watch(const std::string& group);
  void unwatch(const std::string& group);
  void stop();

 private:
  napi_threadsafe_function function_ = nullptr;
  std::map<std::string, std::shared_ptr<TargetGroup>> groups_;
};

}  // namespace tracewright
