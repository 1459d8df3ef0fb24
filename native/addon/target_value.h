// A shared target as JavaScript holds it.
#pragma once

#include <napi.h>

#include <memory>

#include "sink/shared_target.h"

namespace tracewright {

inline std::shared_ptr<SharedTarget> target_of(const Napi::Value& value) {
  return *value.As<Napi::External<std::shared_ptr<SharedTarget>>>().Data();
}

}  // namespace tracewright
