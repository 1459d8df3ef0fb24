// Replaces a file as a whole.
#pragma once

#include <string>

#include "file/failure.h"
#include "file/file_mode.h"

namespace tracewright {

// Readers see either the old or the new content. `mode`, less the umask, is that of the new file;
// kModeOfReplaced: mode and owner of the file that is replaced, otherwise 0600.
constexpr mode_t kModeOfReplaced = static_cast<mode_t>(-1);
bool replace_file(const std::string& path, const std::string& content, Failure* failure,
                  mode_t mode = kPrivateFile);

}  // namespace tracewright
