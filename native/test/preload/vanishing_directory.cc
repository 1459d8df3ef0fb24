// Preloaded by test/core/files: the first calls that make the directory TRACEWRIGHT_TEST_VANISHING
// find it made by another process, which then deletes it.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int mkdir(const char* path, mode_t mode) {
  using Call = int (*)(const char*, mode_t);
  static const Call call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "mkdir"));
  static int times = 3;
  const char* const vanishing = getenv("TRACEWRIGHT_TEST_VANISHING");
  if (vanishing == nullptr || strcmp(path, vanishing) != 0 || times-- <= 0) {
    return call(path, mode);
  }
  call(path, mode);
  const int result = call(path, mode);
  const int error = errno;
  rmdir(path);
  errno = error;
  return result;
}
