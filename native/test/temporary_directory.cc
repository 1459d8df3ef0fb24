#include "temporary_directory.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "check.h"

namespace tracewright {
namespace test {

TemporaryDirectory::TemporaryDirectory() {
  const char* const parent = std::getenv("TMPDIR");
  directory_ = std::string(parent == nullptr ? "/tmp" : parent) + "/tracewright-native-XXXXXX";
  CHECK(mkdtemp(&directory_[0]) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

bool TemporaryDirectory::holds(const std::string& name) const {
  return access(path(name).c_str(), F_OK) == 0;
}

}  // namespace test
}  // namespace tracewright
