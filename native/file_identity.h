// Which file it is, whatever becomes of its name.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

namespace tracewright {

class FileIdentity {
 public:
  FileIdentity() = default;
  // Of an open file. As long as that, or a mapping of it, is there, no other file gets the same.
  explicit FileIdentity(int fd) {
    struct stat about {};
    if (fstat(fd, &about) != 0) return;
    device_ = about.st_dev;
    inode_ = about.st_ino;
  }

  // Whether `path` still names it: somebody may have removed it, and put another in its place.
  bool lies_at(const std::string& path) const {
    struct stat about {};
    return lstat(path.c_str(), &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
  }

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace tracewright
