// Permissions of the files of a trace.
#pragma once

#include <sys/types.h>

namespace tracewright {

// Traces contain personal data: only the user of the process reads them, unless asked otherwise.
constexpr mode_t kPrivateFile = 0600;

// Of a directory for files of a mode: who may read them may enter it.
constexpr mode_t directory_mode(mode_t file_mode) {
  return file_mode | ((file_mode & 0444) >> 2);
}

}  // namespace tracewright
