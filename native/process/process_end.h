// The one wait that the sockets of a process get when it ends, whichever of its threads comes
// first: Node ends them one after another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "clock/clock.h"

namespace tracewright {

class ProcessEnd {
 public:
  static constexpr uint32_t kSocketLimitMs = 1000;

  // The process ends from here on, for good.
  static void begin() {
    uint64_t none = 0;
    since().compare_exchange_strong(none, Clock::monotonic());
  }

  // A signal ends it: nothing waits without a limit from here on.
  static void hasten() {
    begin();
    hasty().store(true);
  }
  static bool hastened() { return hasty().load(); }

  static bool begun() { return since().load() != 0; }

  // How long a ring that ends now may wait for its socket: `wanted`, or what is left of the wait of
  // all.
  static uint32_t socket_limit_ms(uint32_t wanted) {
    const uint64_t begun = since().load();
    if (begun == 0) return wanted;
    const uint64_t spent_ms = (Clock::monotonic() - begun) / 1000000;
    if (spent_ms >= kSocketLimitMs) return 0;
    return std::min(wanted, kSocketLimitMs - static_cast<uint32_t>(spent_ms));
  }

  // What comes first when a signal ends the process.
  static void prepare_by(void (*steps)()) { preparer().store(steps); }
  static void prepare() {
    if (const auto steps = preparer().load()) steps();
  }

  // What the process says once its traces are finished.
  static void say_by(void (*words)()) { speaker().store(words); }
  static void say() {
    if (const auto words = speaker().load()) words();
  }

 private:
  static std::atomic<void (*)()>& speaker() {
    static std::atomic<void (*)()> words{nullptr};
    return words;
  }
  static std::atomic<void (*)()>& preparer() {
    static std::atomic<void (*)()> steps{nullptr};
    return steps;
  }
  static std::atomic<bool>& hasty() {
    static std::atomic<bool> by_signal{false};
    return by_signal;
  }
  static std::atomic<uint64_t>& since() {
    static std::atomic<uint64_t> ns{0};  // 0: it does not end
    return ns;
  }
};

}  // namespace tracewright
