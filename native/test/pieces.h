// Names of pieces: `trace.log` becomes `trace.000001.log`, `trace.000002.log` and so on.
#pragma once

#include <string>

#include "sink/piece_series.h"

namespace tracewright {
namespace test {

// `rings`: the directory of the rings; default: that of the trace.
inline PieceNames piece_names(const std::string& path, std::string rings = "") {
  const size_t name = path.rfind('/') + 1;
  const size_t last = path.rfind('.');
  const size_t dot = last == std::string::npos || last <= name ? path.size() : last;
  const std::string stem = path.substr(name, dot - name);
  const std::string extension = path.substr(dot);
  if (rings.empty()) rings = path.substr(0, name);
  PieceNames names;
  names.before = path.substr(0, dot) + ".";
  names.after = extension;
  names.rings = rings + "." + stem + extension + ".";
  names.rings_before = rings + "." + stem + ".";
  names.rings_after = extension + ".";
  names.digits = 6;
  return names;
}

}  // namespace test
}  // namespace tracewright
