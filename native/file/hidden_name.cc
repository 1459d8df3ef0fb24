#include "file/hidden_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace tracewright {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// A trace has four levels.
constexpr int kDeepest = 16;

bool is_directory(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat found {};
  return fstatat(parent, entry.d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

// The error number, 0 where all names were read, or kFound.
constexpr int kFound = -1;

int look_below(int parent, const char* name, const std::string& other, int depth) {
  if (depth == kDeepest) return ELOOP;
  const int own = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (own == -1) return errno;
  const std::unique_ptr<DIR, CloseDirectory> directory(fdopendir(own));
  if (!directory) {
    const int error = errno;
    close(own);
    return error;
  }
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(directory.get());
    if (entry == nullptr) return errno;
    const std::string_view found = entry->d_name;
    if (found == "." || found == "..") continue;
    if (found[0] == '.' || found == other) return kFound;
    if (!is_directory(own, *entry)) continue;
    const int below = look_below(own, entry->d_name, other, depth + 1);
    if (below != 0) return below;
  }
}

}  // namespace

bool has_hidden_name(const std::string& directory, const std::string& other, Failure* failure) {
  const int found = look_below(AT_FDCWD, directory.c_str(), other, 0);
  if (found > 0) failure->set("read", directory, found);
  return found == kFound;
}

}  // namespace tracewright
