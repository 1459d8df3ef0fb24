// Preloaded by test/faults: while the file named by TRACEWRIGHT_TEST_SWITCH exists, positioned
// writes to files below TRACEWRIGHT_TEST_BROKEN fail with EIO, as those of a dying disk do.
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

bool is_broken(int fd) {
  const char* const on = getenv("TRACEWRIGHT_TEST_SWITCH");
  const char* const below = getenv("TRACEWRIGHT_TEST_BROKEN");
  if (on == nullptr || below == nullptr || access(on, F_OK) != 0) return false;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  char path[4096];
  const ssize_t bytes = readlink(link, path, sizeof path - 1);
  return bytes > 0 && strncmp(path, below, strlen(below)) == 0;
}

using Write = ssize_t (*)(int, const void*, size_t, off_t);

ssize_t write_or_fail(const char* name, int fd, const void* bytes, size_t count, off_t offset) {
  if (is_broken(fd)) {
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<Write>(dlsym(RTLD_NEXT, name))(fd, bytes, count, offset);
}

}  // namespace

extern "C" {

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return write_or_fail("pwrite", fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) {
  return write_or_fail("pwrite64", fd, bytes, count, offset);
}

}  // extern "C"
