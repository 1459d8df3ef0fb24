// Permissions of the files of a trace.
#pragma once

#include <sys/types.h>

namespace tracewright {

// Traces contain personal data: only the user of the process reads them, unless asked otherwise.
constexpr mode_t kPrivateFile = 0600;

}  // namespace tracewright
