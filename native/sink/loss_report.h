// What a process says at its end of the events that its traces lack.
#pragma once

#include <string>

namespace tracewright {

class LossReport {
 public:
  // The program hears of this group by its own handler.
  static void leave_to_program(const std::string& group);

  // One line on standard error for each group that lacks events. Once, when every ring is finished.
  // TRACEWRIGHT_QUIET=1 suppresses it.
  static void write();
};

}  // namespace tracewright
