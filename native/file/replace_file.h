// Replaces a file as a whole.
#pragma once

#include <string>

#include "file/failure.h"

namespace tracewright {

// Readers see either the old or the new content.
bool replace_file(const std::string& path, const std::string& content, Failure* failure);

}  // namespace tracewright
