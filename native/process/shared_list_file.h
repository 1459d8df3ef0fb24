// A text file with one list, whose entries several threads of the process contribute.
#pragma once

#include <string>

#include "file/failure.h"
#include "file/file_mode.h"

namespace tracewright {

// Stores the entry `key` of the list and replaces the file: `before`, the entries in the order of
// their keys, separated by commas, and `after`. An empty entry changes only what surrounds the
// list. One call does both, because a thread can be terminated between two. `mode`, less the umask,
// is that of the file.
bool put_list_entry(const std::string& path, const std::string& key, const std::string& entry,
                    const std::string& before, const std::string& after, Failure* failure,
                    mode_t mode = kPrivateFile);

// The same with what surrounds the list as it was last. True if nobody has written the list, or the
// file is gone.
bool renew_list_entry(const std::string& path, const std::string& key, const std::string& entry,
                      Failure* failure, mode_t mode);

}  // namespace tracewright
