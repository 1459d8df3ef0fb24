// What is known of a thread at the moment of each SIGPROF by which V8's profiler takes a sample.
// The handler comes before V8's, which it calls.
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>

#include "addon/active_span.h"

namespace tracewright {

class ProfileSignals {
 public:
  struct Taken {
    // CLOCK_MONOTONIC before V8's handler and after it.
    uint64_t before;
    uint64_t after;
    // The active span's id; both 0: none is known.
    int32_t high;
    int32_t low;
  };

  // Of the calling thread, whose profile has begun. Null: there is no memory, or too many threads.
  static std::unique_ptr<ProfileSignals> start(const ActiveSpan& span);
  ~ProfileSignals();
  ProfileSignals(const ProfileSignals&) = delete;
  ProfileSignals& operator=(const ProfileSignals&) = delete;

  // V8 puts its own handler when the first profile of a process begins: has this one called first.
  static void chain();

  // Those that were not dropped, the oldest first, on the thread.
  uint32_t count() const { return head_.load(std::memory_order_acquire) - tail_; }
  const Taken& at(uint32_t number) const { return taken_[(tail_ + number) % kMost]; }
  void drop(uint32_t count) { tail_ += count; }

 private:
  // Of seconds in which the loop does not turn. Its memory is taken page by page.
  static constexpr uint32_t kMost = 1 << 16;

  ProfileSignals(const ActiveSpan& span, Taken* taken) : span_(span), taken_(taken) {}
  static void on_signal(int number, siginfo_t* info, void* context);
  static ProfileSignals* of_thread();

  const ActiveSpan& span_;
  const std::unique_ptr<Taken[]> taken_;
  std::atomic<uint32_t> head_{0};
  uint32_t tail_ = 0;
  size_t place_ = 0;
};

}  // namespace tracewright
