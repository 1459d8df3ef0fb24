// Which builds of V8 the fast calls are known to work with.
#pragma once

#include <cstring>
#include <initializer_list>

namespace tracewright {

// Whether `version`, as v8::V8::GetVersion() returns it, is a V8 line of a Node release that was
// tested: 20, 22, 24, 25 or 26. The calling convention of an unknown line may differ. Other
// programs that contain Node (Electron) build V8 with other options; their versions lack "-node.".
inline bool is_tested_v8(const char* version) {
  if (std::strstr(version, "-node.") == nullptr) return false;
  for (const char* line : {"11.3.", "12.4.", "13.6.", "14.1.", "14.6."}) {
    if (std::strncmp(version, line, std::strlen(line)) == 0) return true;
  }
  return false;
}

}  // namespace tracewright
