#include "process/free_descriptors.h"

#include <dirent.h>
#include <sys/resource.h>

#include <cerrno>
#include <limits>

namespace tracewright {

double free_descriptors() {
  constexpr double kNotKnown = std::numeric_limits<double>::infinity();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNotKnown;
  DIR* const listing = opendir("/proc/self/fd");
  if (listing == nullptr) return errno == EMFILE ? 0 : kNotKnown;
  // The listing has a descriptor too.
  double open = -1;
  while (const dirent* const entry = readdir(listing)) {
    if (entry->d_name[0] != '.') open++;
  }
  closedir(listing);
  return static_cast<double>(limit.rlim_cur) - open;
}

}  // namespace tracewright
