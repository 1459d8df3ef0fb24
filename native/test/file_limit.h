// A disk that is full for this process.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <cstdint>

#include "check.h"

namespace tracewright {
namespace test {

// Lets files of this process grow to `bytes` only, as if the disk were full beyond; 0: as before.
inline void limit_files(uint64_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

}  // namespace test
}  // namespace tracewright
