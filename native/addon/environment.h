// What one environment of Node (the main thread or a worker) has open.
#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "addon/ring_slots.h"
#include "addon/target_changes.h"
#include "ring/ring.h"

namespace tracewright {

struct Environment {
  TargetChanges changes;
  RingSlots slots;
  // By the number that JavaScript knows a ring by; null once it is closed.
  std::vector<std::shared_ptr<Ring>> rings;

  // How long a ring that ends with its environment may wait for its socket: all share one wait.
  uint32_t ending_limit_ms();
  void close(size_t id, uint32_t socket_limit_ms);

 private:
  uint64_t ending_since_ = 0;
};

inline const std::shared_ptr<Environment>& shared_environment(Napi::Env env) {
  return *env.GetInstanceData<std::shared_ptr<Environment>>();
}

inline Environment& environment(Napi::Env env) {
  return *shared_environment(env);
}

}  // namespace tracewright
