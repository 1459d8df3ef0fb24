// Which file it is, whatever becomes of its name.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>
#include <string>

#include "file/anchor.h"

namespace tracewright {

class FileIdentity {
 public:
  FileIdentity() = default;
  // Of an open file. As long as that, or a mapping of it, is there, no other file gets the same.
  explicit FileIdentity(int fd) {
    struct stat about {};
    if (fstat(fd, &about) == 0) set(about, fd, "");
  }
  // Of what lies at a path now, without following a link; of nothing the identity is 0.
  explicit FileIdentity(const std::string& path) {
    struct stat about {};
    const Place place(path);
    if (fstatat(place.directory(), place.name(), &about, AT_SYMLINK_NOFOLLOW) == 0) {
      set(about, place.directory(), place.name());
    }
  }

  // Whether `path` still names it. It may have been removed, or replaced by another file.
  bool lies_at(const std::string& path) const {
    struct stat about {};
    return status_of(path, &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
  }

  bool operator==(const FileIdentity& other) const {
    return device_ == other.device_ && inode_ == other.inode_ && born_ == other.born_;
  }

  // Number and birth identify it in its file system, also after it was closed. Numbers
  // are given again. Devices are numbered anew by every mount, so they say nothing.
  uint64_t inode() const { return inode_; }
  // Nanoseconds since 1970; 0 where the file system does not say.
  uint64_t born() const { return born_; }

 private:
  void set(const struct stat& about, int directory, const char* path) {
    device_ = about.st_dev;
    inode_ = about.st_ino;
#if defined(__APPLE__)
    static_cast<void>(directory);
    static_cast<void>(path);
    born_ = static_cast<uint64_t>(about.st_birthtimespec.tv_sec) * 1000000000u +
            static_cast<uint64_t>(about.st_birthtimespec.tv_nsec);
#elif defined(STATX_BTIME)
    struct statx more {};
    const int flags = AT_SYMLINK_NOFOLLOW | (*path == '\0' ? AT_EMPTY_PATH : 0);
    // musl has the function since 1.2.5, Alpine since 3.20.
    const unsigned int fields = STATX_INO | STATX_BTIME;
    if (syscall(SYS_statx, directory, path, flags, fields, &more) == 0 &&
        (more.stx_mask & STATX_BTIME) != 0 && more.stx_ino == inode_) {
      born_ = static_cast<uint64_t>(more.stx_btime.tv_sec) * 1000000000u + more.stx_btime.tv_nsec;
    }
#endif
  }

  dev_t device_ = 0;
  ino_t inode_ = 0;
  uint64_t born_ = 0;
};

}  // namespace tracewright
