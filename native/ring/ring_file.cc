#include "ring/ring_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "clock/clock.h"
#include "file/anchor.h"
#include "process/process_identity.h"
#include "ring/control_page.h"

namespace tracewright {

namespace {

// For who looks at a ring in the very moment in which it is made.
constexpr uint64_t kHoldLimitNs = 100000000;
constexpr useconds_t kHoldAgainUs = 500;

// For file systems that cannot allocate ahead.
bool write_zeros(int fd, size_t from, size_t to) {
  static const char zeros[1 << 16] = {};
  while (from < to) {
    const ssize_t written =
        pwrite(fd, zeros, std::min(to - from, sizeof zeros), static_cast<off_t>(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += static_cast<size_t>(written);
  }
  return true;
}

// Writes which process owns the ring, at its place in a file that has nothing else yet.
bool write_identity(int fd) {
  const ProcessIdentity& identity = ProcessIdentity::current();
  char boot_id[sizeof ControlPage::boot_id] = {};
  std::memcpy(boot_id, identity.boot_id.c_str(),
              std::min(identity.boot_id.size(), sizeof boot_id - 1));
  char bytes[sizeof identity.pid + sizeof identity.start + sizeof boot_id];
  static_assert(offsetof(ControlPage, boot_id) - offsetof(ControlPage, pid) ==
                sizeof bytes - sizeof boot_id);
  std::memcpy(bytes, &identity.pid, sizeof identity.pid);
  std::memcpy(bytes + sizeof identity.pid, &identity.start, sizeof identity.start);
  std::memcpy(bytes + sizeof bytes - sizeof boot_id, boot_id, sizeof boot_id);
  return pwrite(fd, bytes, sizeof bytes, offsetof(ControlPage, pid)) == sizeof bytes;
}

}  // namespace

bool allocate_ring_blocks(int fd, size_t from, size_t to) {
  if (from == to) return true;
#if defined(__APPLE__)
  fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, static_cast<off_t>(to - from), 0};
  if (fcntl(fd, F_PREALLOCATE, &store) == -1) {
    return errno == ENOTSUP && write_zeros(fd, from, to);
  }
  return ftruncate(fd, static_cast<off_t>(to)) == 0;
#else
  int error;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (error == EINTR);
  if (error == 0) return true;
  errno = error;
  // glibc does the same by itself, musl does not.
  return (error == EOPNOTSUPP || error == EINVAL) && write_zeros(fd, from, to);
#endif
}

FileDescriptor anonymous_ring_file() {
#if defined(__linux__)
  return FileDescriptor(memfd_create("tracewright-ring", MFD_CLOEXEC));
#else
  char path[] = "/tmp/tracewright-ring-XXXXXX";
  FileDescriptor fd(mkstemp(path));
  if (fd) unlink(path);
  return fd;
#endif
}

FileDescriptor named_ring_file(const std::string& path) {
  const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
#if defined(O_TMPFILE)
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const Place place(path);
  FileDescriptor nameless(open_file(directory + ".", flags | O_TMPFILE, 0600));
  if (nameless && write_identity(nameless.get())) {
    hold_ring_file(nameless.get());
    const std::string self = "/proc/self/fd/" + std::to_string(nameless.get());
    if (linkat(AT_FDCWD, self.c_str(), place.directory(), place.name(), AT_SYMLINK_FOLLOW) == 0) {
      return nameless;
    }
  }
#endif
  FileDescriptor fd(open_file(path, flags | O_CREAT | O_EXCL, 0600));
  if (fd && !write_identity(fd.get())) {
    const int error = errno;
    unlink_file(path);
    fd.reset();
    errno = error;
  }
  if (fd) hold_ring_file(fd.get());
  return fd;
}

void hold_ring_file(int fd) {
  const uint64_t limit = Clock::monotonic() + kHoldLimitNs;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    // A recovery that looks whether it is held has it for an instant.
    if (errno == EWOULDBLOCK && Clock::monotonic() < limit) {
      usleep(kHoldAgainUs);
    } else if (errno != EINTR) {
      return;
    }
  }
}

bool is_ring_file_held(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

}  // namespace tracewright
