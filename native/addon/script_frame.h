// A frame of a JavaScript stack as text: `at function (script:line:column)`.
#pragma once

#include <node_api.h>

#include <cstdlib>
#include <string>

#include "addon/found_v8.h"
#include "file/path_text.h"

namespace tracewright {

// The name of a function, or the address of a script: not more than 511 bytes.
inline std::string text_of(napi_env env, V8Handle text) {
  char bytes[512];
  size_t length = 0;
  if (text == nullptr || napi_get_value_string_utf8(env, static_cast<napi_value>(text), bytes,
                                                    sizeof bytes, &length) != napi_ok)
    return {};
  return std::string(bytes, length);
}

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

  // As profiles name it: scripts whose paths begin with `own_scripts` are `tracewright/…`.
  std::string profiled(const std::string& own_scripts) const {
    if (script.empty()) return function.empty() ? "(native code)" : function;
    if (own_scripts.empty() || !begins_with(script, own_scripts)) return text();
    ScriptFrame own = *this;
    own.script = "tracewright/" + script.substr(own_scripts.size());
    return own.text();
  }
};

}  // namespace tracewright
