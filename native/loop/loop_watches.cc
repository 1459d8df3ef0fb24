#include "loop/loop_watches.h"

#include <algorithm>

#include "clock/clock.h"
#include "process/fence.h"

namespace tracewright {

namespace {

constexpr uint64_t kMsNs = 1000000;

}  // namespace

void LoopWatches::add(const std::shared_ptr<LoopWatch>& watch) {
  std::lock_guard<std::mutex> lock(lock_);
  watches_.push_back(watch);
}

void LoopWatches::remove(const LoopWatch* watch) {
  std::lock_guard<std::mutex> lock(lock_);
  watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                [watch](const auto& each) { return each.get() == watch; }),
                 watches_.end());
}

int LoopWatches::begin_wait(int most, bool can_fence) {
  uint64_t interval = 0;
  {
    std::lock_guard<std::mutex> lock(lock_);
    bool sleeps = false;
    for (const auto& watch : watches_) {
      if (can_fence && !watch->asleep() && watch->may_sleep()) {
        watch->fall_asleep();
        sleeps = true;
      }
    }
    if (sleeps) fence_all_threads();
    for (const auto& watch : watches_) {
      if (watch->asleep() && watch->stays_asleep()) continue;
      const uint64_t half = watch->limit() / 2;
      interval = interval == 0 ? half : std::min(interval, half);
    }
  }
  const uint64_t now = Clock::monotonic();
  int wait_ms = most;
  look_at_ = interval == 0 ? 0 : std::min(look_at_ == 0 ? UINT64_MAX : look_at_, now + interval);
  if (look_at_ != 0) {
    const uint64_t ns = look_at_ > now ? look_at_ - now : 0;
    const int look_ms = static_cast<int>((ns + kMsNs - 1) / kMsNs);
    wait_ms = most < 0 ? look_ms : std::min(most, look_ms);
  }
  lost_.expect(now, wait_ms < 0 ? 0 : now + static_cast<uint64_t>(wait_ms) * kMsNs);
  return wait_ms;
}

void LoopWatches::end_wait() {
  const uint64_t now = Clock::monotonic();
  lost_.expect(now, now);
  std::lock_guard<std::mutex> lock(lock_);
  if (watches_.empty() || (look_at_ != 0 && now < look_at_)) return;
  look_at_ = 0;
  lost_.note_own();
  for (const auto& watch : watches_) {
    if (!watch->asleep()) watch->look(now);
  }
}

}  // namespace tracewright
