// The watched event loops of a process, as the drain thread sees them.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "loop/loop_watch.h"

namespace tracewright {

class LoopWatches {
 public:
  const LostTime& lost() const { return lost_; }

  void add(const std::shared_ptr<LoopWatch>& watch);
  // Once it returns, nobody looks at the loop any more.
  void remove(const LoopWatch* watch);

  // ---- The drain thread only ----

  // How long the thread may wait, of `most` ms (-1: for ever), before it looks again.
  int begin_wait(int most, bool can_fence);
  void end_wait();

 private:
  std::mutex lock_;
  std::vector<std::shared_ptr<LoopWatch>> watches_;
  LostTime lost_;
  uint64_t look_at_ = 0;
};

}  // namespace tracewright
