#include "addon/heap_end.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>

#include "addon/found_v8.h"
#include "clock/clock.h"

namespace tracewright {

namespace {

// What V8 gets more than its limit, so that it calls the callback that was added before ours.
constexpr size_t kMore = size_t{4} << 20;
constexpr uint64_t kMiB = uint64_t{1} << 20;
// A heap that is below this share of its limit has recovered.
constexpr uint64_t kRecoveredPercent = 90;

using NearLimit = size_t (*)(void* data, size_t current, size_t initial);

struct LimitCalls {
  void (*add)(void* isolate, NearLimit callback, void* data);
  void (*remove)(void* isolate, NearLimit callback, size_t limit);
  bool usable;

  static const LimitCalls& instance() {
    static const LimitCalls calls = [] {
      LimitCalls found{};
      found.usable =
          FoundV8::instance().usable() &&
          find_symbol(&found.add, "_ZN2v87Isolate24AddNearHeapLimitCallbackEPFmPvmmES1_") &&
          find_symbol(&found.remove, "_ZN2v87Isolate27RemoveNearHeapLimitCallbackEPFmPvmmEm");
      return found;
    }();
    return calls;
  }
};

// The handler of a signal reads these. A forked child inherits them.
std::atomic<uint64_t> limit{0};  // bytes; 0: the heap is not near it
std::atomic<uint64_t> near_since{0};
std::atomic<PreparedRecord*> prepared{nullptr};
pid_t process = 0;
struct sigaction previous {};

size_t near_limit(void* isolate, size_t current, size_t) {
  near_since.store(Clock::monotonic(), std::memory_order_relaxed);
  limit.store(current, std::memory_order_release);
  LimitCalls::instance().remove(isolate, near_limit, 0);
  return current + kMore;
}

void on_abort(int signal_number) {
  const uint64_t reached = limit.load(std::memory_order_acquire);
  PreparedRecord* const record = prepared.load(std::memory_order_acquire);
  if (reached != 0 && record != nullptr && getpid() == process) {
    record->ring->open_records().begin_prepared(
        record->at, record->state, record->start_at, near_since.load(std::memory_order_relaxed),
        record->cause_at, static_cast<uint32_t>(reached / kMiB));
  }
  // It comes again, and ends the process as it would have.
  sigaction(signal_number, &previous, nullptr);
  raise(signal_number);
}

}  // namespace

bool HeapEnd::watch() {
  const LimitCalls& calls = LimitCalls::instance();
  if (!calls.usable || process != 0) return false;
  if (sigaction(SIGABRT, nullptr, &previous) != 0 || (previous.sa_flags & SA_SIGINFO) != 0 ||
      previous.sa_handler != SIG_DFL)
    return false;
  struct sigaction ours {};
  ours.sa_handler = on_abort;
  sigemptyset(&ours.sa_mask);
  process = getpid();
  if (sigaction(SIGABRT, &ours, nullptr) != 0) return false;
  void* const isolate = FoundV8::instance().isolate();
  calls.add(isolate, near_limit, isolate);
  return true;
}

void HeapEnd::prepare(const PreparedRecord& record) {
  // A signal may come at any time: the one before is never freed.
  prepared.store(new PreparedRecord(record), std::memory_order_release);
}

void HeapEnd::note_used(uint64_t bytes) {
  const uint64_t reached = limit.load(std::memory_order_relaxed);
  if (reached == 0 || bytes >= reached / 100 * kRecoveredPercent) return;
  limit.store(0);
  // It may fill again: V8 removes what it has called, and what it gave is taken back.
  const LimitCalls& calls = LimitCalls::instance();
  void* const isolate = FoundV8::instance().isolate();
  calls.add(isolate, near_limit, isolate);
  calls.remove(isolate, near_limit, reached);
  calls.add(isolate, near_limit, isolate);
}

}  // namespace tracewright
