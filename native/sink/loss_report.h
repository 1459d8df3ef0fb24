// What a process says at its end of the events that its traces lack.
#pragma once

#include <string>

#include "sink/target_group.h"

namespace tracewright {

class LossReport {
 public:
  // What a group has lost that goes away before the process does.
  static void keep(const std::string& group, const TargetGroup::Counts& counts);

  // The program hears of this group by its own handler.
  static void leave_to_program(const std::string& group);

  // One line on standard error for each group that lacks events. Once, when every ring is finished.
  // TRACEWRIGHT_QUIET=1 suppresses it.
  static void write();
};

}  // namespace tracewright
