// A frame of a JavaScript stack as text: `at function (script:line:column)`.
#pragma once

#include <cstdlib>
#include <string>

#include "file/path_text.h"

namespace tracewright {

// The path of a `file:` URL; any other text is as it was.
inline std::string path_of_script(const std::string& script) {
  static const std::string protocol = "file://";
  if (!begins_with(script, protocol)) return script;
  std::string path;
  for (size_t i = protocol.size(); i < script.size(); ++i) {
    const bool is_escaped = script[i] == '%' && i + 2 < script.size();
    path += is_escaped
                ? static_cast<char>(std::strtol(script.substr(i + 1, 2).c_str(), nullptr, 16))
                : script[i];
    if (is_escaped) i += 2;
  }
  return path;
}

struct ScriptFrame {
  std::string function;
  std::string script;
  // Both from 1.
  int line;
  int column;

  std::string text() const {
    std::string place = script.empty() ? "<anonymous>" : script;
    place += ':' + std::to_string(line) + ':' + std::to_string(column);
    std::string text = function.empty() ? "at " + place : "at " + function + " (" + place + ')';
    // A computed name may have them.
    for (char& each : text) {
      if (each == '\n') each = ' ';
    }
    return text;
  }
};

}  // namespace tracewright
