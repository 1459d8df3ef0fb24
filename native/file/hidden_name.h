// Whether something below a directory has a name that it has only for a while.
#pragma once

#include <string>

#include "file/failure.h"

namespace tracewright {

// Whether a name below a directory begins with a dot, or is `other`. Reads names alone, and follows
// no link. False with a failure: a directory could not be read.
bool has_hidden_name(const std::string& directory, const std::string& other, Failure* failure);

}  // namespace tracewright
