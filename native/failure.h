// What went wrong in a call that returns false or null: the native core throws nothing.
#pragma once

#include <cerrno>
#include <string>

namespace tracewright {

struct Failure {
  int error = 0;       // errno
  std::string action;  // what was being done, with its object: "create /tmp/x"

  void set(const char* verb, const std::string& object, int error_number = errno) {
    error = error_number;
    action = std::string(verb) + " " + object;
  }
};

}  // namespace tracewright
