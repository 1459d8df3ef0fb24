// Which process this is, so that a later one with the same pid is not taken for it.
#pragma once

#include <cstdint>
#include <string>

namespace tracewright {

struct ProcessIdentity {
  int64_t pid;
  uint64_t start;       // ticks after boot, field 22 of /proc/<pid>/stat; 0 where unknown
  std::string boot_id;  // empty where unknown

  static const ProcessIdentity& current();
};

}  // namespace tracewright
