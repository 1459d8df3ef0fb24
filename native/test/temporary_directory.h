#pragma once

#include <string>

namespace tracewright {
namespace test {

// A directory of the test's own that is removed with what is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  bool holds(const std::string& name) const;

 private:
  std::string directory_;
};

}  // namespace test
}  // namespace tracewright
