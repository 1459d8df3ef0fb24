// Nanoseconds of CLOCK_MONOTONIC, at the price of reading a register where that can be trusted.
//
// On x86-64 Linux, where the kernel itself keeps time by the TSC, the drain thread measures how the
// TSC runs against CLOCK_MONOTONIC and publishes an anchor (tsc, ns, ns per tick). Readers extend
// the line from that anchor. An anchor is good for a limited window of ticks; outside it (the drain
// thread sleeps, or the machine was suspended) readers ask the kernel instead, so a stale line is
// never followed. Everywhere else every reader asks the kernel.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#if defined(__x86_64__) && defined(__linux__)
#define TRACEWRIGHT_HAS_TSC 1
#include <x86intrin.h>
#else
#define TRACEWRIGHT_HAS_TSC 0
#endif

namespace tracewright {

class Clock {
 public:
  // The clock of the process.
  static Clock& instance();

  static uint64_t monotonic() {
    timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return static_cast<uint64_t>(ts.tv_sec) * 1000000000u + static_cast<uint64_t>(ts.tv_nsec);
  }

  // Time that the process, or the calling thread, has spent on a CPU.
  static uint64_t cpu(bool of_thread) {
    timespec ts;
    clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &ts);
    return static_cast<uint64_t>(ts.tv_sec) * 1000000000u + static_cast<uint64_t>(ts.tv_nsec);
  }

  // May step back by some nanoseconds between two anchors; a ring keeps its own stamps in order.
  uint64_t now() const {
    uint64_t ns;
    return read_scaled(&ns) ? ns : monotonic();
  }

  // Reads the scaled counter. False if its line does not hold now: then only the kernel knows.
  [[gnu::always_inline]] bool read_scaled(uint64_t* ns) const {
#if TRACEWRIGHT_HAS_TSC
    for (;;) {
      const uint32_t turn = turn_.load(std::memory_order_acquire);
      const Anchor& anchor = anchors_[turn & 1];
      // Before an anchor that was set since: then the difference wraps, and exceeds every window.
      const uint64_t delta = __rdtsc() - anchor.tsc.load(std::memory_order_relaxed);
      const bool holds = delta <= anchor.window.load(std::memory_order_relaxed);
      const uint64_t since = (delta * anchor.mul.load(std::memory_order_relaxed)) >> kShift;
      *ns = anchor.ns.load(std::memory_order_relaxed) + since;
      std::atomic_thread_fence(std::memory_order_acquire);
      // The writer fills the slot that is not in use; it takes two turns to overwrite this one.
      if (__builtin_expect(turn_.load(std::memory_order_relaxed) == turn, 1)) return holds;
    }
#else
    static_cast<void>(ns);
    return false;
#endif
  }

  // Measures the line anew. Called by the drain thread only, about every 80 ms while it is awake.
  void anchor();

  // Whether the kernel keeps time by the TSC, so that now() may.
  bool scaled() const {
    return trusted_;
  }

 private:
  Clock();

  static constexpr int kShift = 32;

  struct Anchor {
    std::atomic<uint64_t> tsc{0};
    std::atomic<uint64_t> ns{0};
    std::atomic<uint64_t> mul{0};     // ns per tick, 32.32 fixed point
    std::atomic<uint64_t> window{0};  // ticks for which the line holds; 0: ask the kernel
  };

  struct Reading {
    uint64_t tsc;
    uint64_t ns;
  };

  static Reading read_pair();
  void publish(Reading at, double ns_per_tick, uint64_t window);

  alignas(64) std::atomic<uint32_t> turn_{0};
  Anchor anchors_[2];
  bool trusted_ = false;
  [[maybe_unused]] bool running_ = false;
  Reading first_{0, 0};
  Reading previous_{0, 0};
};

}  // namespace tracewright
