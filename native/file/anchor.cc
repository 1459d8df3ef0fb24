#include "file/anchor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

namespace tracewright {

namespace {

struct Anchors {
  std::mutex lock;
  std::vector<std::weak_ptr<Anchor>> all;
};

Anchors& anchors() {
  // Never destroyed: threads may outlive every static.
  static Anchors* const all = new Anchors();
  return *all;
}

constexpr int kMakeAttempts = 10;
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string without_slash(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  return end == std::string::npos ? path.substr(0, 1) : path.substr(0, end + 1);
}

bool was_removed(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && about.st_nlink == 0;
}

// Whether a directory belongs to the user of this process, or to root. Network volumes may map
// users: then the owner of a new file is the owner of all that this process makes.
bool is_trusted(int fd, uid_t owner) {
  if (owner == geteuid() || owner == 0) return true;
  const std::string probe = ".tracewright-" + std::to_string(getpid()) + ".probe";
  unlinkat(fd, probe.c_str(), 0);
  FileDescriptor fresh(
      openat(fd, probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat about {};
  const bool same = fresh && fstat(fresh.get(), &about) == 0 && about.st_uid == owner;
  if (fresh) unlinkat(fd, probe.c_str(), 0);
  return same;
}

}  // namespace

Anchor::Anchor(const std::string& path, FileDescriptor fd, uid_t owner)
    : path_(path), fd_(std::move(fd)), owner_(owner) {}

std::shared_ptr<Anchor> Anchor::hold(const std::string& given, bool is_ours, Failure* failure) {
  const std::string path = without_slash(given);
  const Place place(path);
  FileDescriptor fd(
      openat(place.directory(), place.name(), kDirectoryFlags | (is_ours ? O_NOFOLLOW : 0)));
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0) {
    failure->set("open the directory", path);
    return nullptr;
  }
  if (is_ours && !is_trusted(fd.get(), about.st_uid)) {
    failure->set("use the directory of another user,", path, EPERM);
    return nullptr;
  }
  Anchors& known = anchors();
  std::lock_guard<std::mutex> lock(known.lock);
  std::vector<std::weak_ptr<Anchor>> left;
  for (const auto& each : known.all) {
    if (const auto anchor = each.lock()) {
      if (anchor->path_ == path && !was_removed(anchor->fd_.get())) return anchor;
      left.push_back(each);
    }
  }
  const auto anchor = std::make_shared<Anchor>(path, std::move(fd), about.st_uid);
  left.push_back(anchor);
  known.all = std::move(left);
  return anchor;
}

void Anchor::renew() {
  if (!was_removed(fd_.get())) return;
  const Place place(path_);
  FileDescriptor fresh(openat(place.directory(), place.name(), kDirectoryFlags | O_NOFOLLOW));
  struct stat about {};
  if (!fresh || fstat(fresh.get(), &about) != 0 || about.st_uid != owner_) return;
    // Others may be using the number at this moment.
#if defined(__linux__)
  dup3(fresh.get(), fd_.get(), O_CLOEXEC);
#else
  if (dup2(fresh.get(), fd_.get()) != -1) fcntl(fd_.get(), F_SETFD, FD_CLOEXEC);
#endif
}

Place::Place(const std::string& path) : name_(path) {
  size_t longest = 0;
  {
    Anchors& known = anchors();
    std::lock_guard<std::mutex> lock(known.lock);
    for (const auto& each : known.all) {
      const auto anchor = each.lock();
      if (!anchor) continue;
      const size_t size = anchor->path_.size();
      const bool is_below =
          path.size() > size + 1 && path[size] == '/' && path.compare(0, size, anchor->path_) == 0;
      if (is_below && size > longest) {
        longest = size;
        anchor_ = anchor;
      }
    }
  }
  if (!anchor_) return;
  anchor_->renew();
  const size_t start = path.find_first_not_of('/', longest);
  name_ = start == std::string::npos ? "." : path.substr(start);
}

int Place::directory() const {
  return anchor_ ? anchor_->fd_.get() : AT_FDCWD;
}

std::string Place::path() const {
  if (!anchor_) return name_;
#if defined(__linux__)
  const std::string self = "/proc/self/fd/" + std::to_string(anchor_->fd_.get());
  if (access(self.c_str(), F_OK) == 0) return self + "/" + name_;
#endif
  return anchor_->path_ + "/" + name_;
}

int open_file(const std::string& path, int flags, mode_t mode) {
  const Place place(path);
  return openat(place.directory(), place.name(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

int status_of(const std::string& path, struct stat* about) {
  const Place place(path);
  return fstatat(place.directory(), place.name(), about, AT_SYMLINK_NOFOLLOW);
}

int unlink_file(const std::string& path) {
  const Place place(path);
  return unlinkat(place.directory(), place.name(), 0);
}

int remove_directory(const std::string& path) {
  const Place place(path);
  return unlinkat(place.directory(), place.name(), AT_REMOVEDIR);
}

int rename_file(const std::string& from, const std::string& to) {
  const Place source(from);
  const Place target(to);
  return renameat(source.directory(), source.name(), target.directory(), target.name());
}

int link_file(const std::string& from, const std::string& to) {
  const Place source(from);
  const Place target(to);
  return linkat(source.directory(), source.name(), target.directory(), target.name(), 0);
}

bool make_directories(const std::string& given, mode_t mode) {
  const std::string path = without_slash(given);
  struct stat about {};
  // Other processes can make and delete a parent between two of our calls.
  for (int attempt = 0; attempt < kMakeAttempts; ++attempt) {
    const Place place(path);
    if (mkdirat(place.directory(), place.name(), mode) == 0) return true;
    if (errno == EEXIST) {
      if (status_of(path, &about) == 0 && S_ISDIR(about.st_mode)) return true;
      errno = EEXIST;
      return false;
    }
    const size_t slash = path.rfind('/');
    if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
    if (!make_directories(path.substr(0, slash), mode)) return false;
  }
  return false;
}

DIR* open_directory(const std::string& path) {
  // A path that ends in a slash leads into its directory.
  const Place place(path.empty() ? "." : path.back() == '/' ? path + "." : path);
  const int fd = openat(place.directory(), place.name(), kDirectoryFlags);
  DIR* const directory = fd == -1 ? nullptr : fdopendir(fd);
  if (directory == nullptr && fd != -1) close(fd);
  return directory;
}

}  // namespace tracewright
