#include "file/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "file/anchor.h"
#include "file/file_descriptor.h"

namespace tracewright {

namespace {

// `dir/name` becomes `dir/.name.new`, which no reader of a format takes for a trace.
std::string hidden_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".new";
}

// Gives a new file the mode and the owner of the file at a path. What is not allowed stays private.
void take_over(const std::string& path, int fd) {
  struct stat replaced {};
  struct stat fresh {};
  if (status_of(path, &replaced) != 0 || !S_ISREG(replaced.st_mode) || fstat(fd, &fresh) != 0) {
    return;
  }
  const bool is_ours = replaced.st_uid == fresh.st_uid && replaced.st_gid == fresh.st_gid;
  if (!is_ours && fchown(fd, replaced.st_uid, replaced.st_gid) != 0) return;
  if (fchmod(fd, replaced.st_mode & 0666) != 0) return;
}

}  // namespace

bool replace_file(const std::string& path, const std::string& content, Failure* failure,
                  mode_t mode) {
  const std::string fresh = hidden_name(path);
  // A process that died here may have left one. An attacker may have put a link to another file, or
  // a FIFO, in its place.
  unlink_file(fresh);
  FileDescriptor fd(
      open_file(fresh, O_WRONLY | O_CREAT | O_EXCL, mode == kModeOfReplaced ? kPrivateFile : mode));
  if (!fd) {
    failure->set("create", fresh);
    return false;
  }
  if (mode == kModeOfReplaced) take_over(path, fd.get());
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = write(fd.get(), content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      failure->set("write", fresh);
      unlink_file(fresh);
      return false;
    }
    done += static_cast<size_t>(written);
  }
  if (rename_file(fresh, path) != 0) {
    failure->set("rename to", path);
    unlink_file(fresh);
    return false;
  }
  return true;
}

}  // namespace tracewright
