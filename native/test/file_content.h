// What a file contains.
#pragma once

#include <cstdio>
#include <string>

namespace tracewright {
namespace test {

// Empty if there is no file.
inline std::string content_of(const std::string& path) {
  std::string content;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return content;
  char part[4096];
  while (const size_t read = std::fread(part, 1, sizeof part, file)) content.append(part, read);
  std::fclose(file);
  return content;
}

}  // namespace test
}  // namespace tracewright
