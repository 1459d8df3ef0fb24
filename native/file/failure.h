// What went wrong in a call that returns false or null: the native core throws nothing.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace tracewright {

// In place of errno if a host's name was not found; the number that libuv calls EAI_FAIL.
constexpr int kLookupFailed = 3004;

struct Failure {
  int error = 0;       // errno, or kLookupFailed
  std::string action;  // what was being done, with its object: "create /tmp/x"

  void set(const char* verb, const std::string& object, int error_number = errno) {
    error = error_number;
    action = std::string(verb) + " " + object;
  }
  // What was being done, and why it failed. A look-up says why by itself.
  std::string text() const {
    return error == kLookupFailed ? action : action + ": " + std::strerror(error);
  }
};

}  // namespace tracewright
