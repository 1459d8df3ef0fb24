// Directories that a process opens once, and works in from then on even if their paths change:
// the owner of a directory above one of them can replace it by a link at any time.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <memory>
#include <string>

#include "file/failure.h"
#include "file/file_descriptor.h"

namespace tracewright {

// Holds a directory open under its path.
class Anchor {
 public:
  // Opens `path`, or joins those that hold it. With `is_ours` a link is refused, and a directory
  // that belongs neither to the user of the process nor to root. Null, and why, when it cannot be
  // held.
  static std::shared_ptr<Anchor> hold(const std::string& path, bool is_ours, Failure* failure);

  Anchor(const std::string& path, FileDescriptor fd, uid_t owner);

 private:
  friend class Place;
  // Opens the directory again if it was deleted: one at its path that belongs to the same user.
  void renew();

  const std::string path_;
  const FileDescriptor fd_;  // its number stays the same
  const uid_t owner_;
};

// Where a path leads: from the innermost directory above it that is held, otherwise the path
// itself.
class Place {
 public:
  explicit Place(const std::string& path);

  // For the calls of the system that end in `at`.
  int directory() const;
  const char* name() const { return name_.c_str(); }
  // A path for calls that take no directory; where the system has none, the path as it was given.
  std::string path() const;

 private:
  std::shared_ptr<Anchor> anchor_;
  std::string name_;
};

// As the calls of the system of these names, which the paths of held directories do not mislead.
// Links at the end of a path are not followed.
int open_file(const std::string& path, int flags, mode_t mode = 0);
int status_of(const std::string& path, struct stat* about);
int unlink_file(const std::string& path);
int remove_directory(const std::string& path);
int rename_file(const std::string& from, const std::string& to);
int link_file(const std::string& from, const std::string& to);
// Makes a directory and those above it that are missing. False, with errno, when it cannot.
bool make_directories(const std::string& path, mode_t mode);
DIR* open_directory(const std::string& path);

}  // namespace tracewright
