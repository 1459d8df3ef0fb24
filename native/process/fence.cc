#include "process/fence.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tracewright {

#if defined(__linux__)
namespace {

bool membarrier(int command) {
  return syscall(__NR_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool prepare_fence() {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
void fence_all_threads() {
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
bool prepare_fence() {
  return false;
}
void fence_all_threads() {}
#endif

}  // namespace tracewright
