#include "process/process_identity.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tracewright {

namespace {

size_t read_text(const char* path, char* text, size_t bytes) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  const size_t read = std::fread(text, 1, bytes - 1, file);
  std::fclose(file);
  text[read] = '\0';
  return read;
}

uint64_t start_of_this_process() {
  char text[1024];
  if (read_text("/proc/self/stat", text, sizeof text) == 0) return 0;
  // Field 2 is the name in parentheses and may hold anything; count from its end.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

std::string read_boot_id() {
  char text[64];
  const size_t read = read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
  return std::string(text, read > 0 && text[read - 1] == '\n' ? read - 1 : read);
}

}  // namespace

const ProcessIdentity& ProcessIdentity::current() {
  static const ProcessIdentity* const identity =
      new ProcessIdentity{static_cast<int64_t>(getpid()), start_of_this_process(), read_boot_id()};
  return *identity;
}

}  // namespace tracewright
