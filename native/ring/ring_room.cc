// What a thread does whose ring is full: it drops the event, writes the ring itself, or waits.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "ring/drainer.h"
#include "ring/ring.h"
#include "ring/ring_sink.h"

namespace tracewright {

int64_t Ring::make_room(uint32_t bytes) {
  control_->stalled = 0;
  if (finished()) return static_cast<int64_t>(Room::closed);
  if (wants_file_.load(std::memory_order_relaxed)) restore_file();
  // What the ring holds still goes out; its size is set aside.
  if (sink_->spent()) return static_cast<int64_t>(Room::full);
  if (free_bytes() < bytes) {
    if (options_.full == FullPolicy::drop || bytes > capacity_ || sink_->failing()) {
      wake();
      return static_cast<int64_t>(Room::full);
    }
    const uint64_t from = stamp_.not_before_last();
    if (sink_->slow()) {
      wake();
      // After a wait in vain there is no other until something moves: a peer that does not read
      // costs one wait, not one for each event.
      if (tail() == waited_at_) return static_cast<int64_t>(Room::full);
      if (!wait_drained(head_ - capacity_ + bytes, options_.block_limit_ms)) waited_at_ = tail();
    } else {
      drain();
    }
    note_stall(from);
    if (free_bytes() < bytes) return static_cast<int64_t>(Room::full);
  }
  const uint64_t room = unspent_bytes();
  if (room == 0 && sink_->spent()) return static_cast<int64_t>(Room::full);
  control_->position = static_cast<int32_t>(head_ & mask_);
  return static_cast<int64_t>(room);
}

uint64_t Ring::unspent_bytes() const {
  const uint64_t room = free_bytes();
  // After the room: the thread that made it has charged the budget before.
  std::atomic_thread_fence(std::memory_order_acquire);
  return sink_->spent() ? 0 : room;
}

void Ring::note_stall(uint64_t from) {
  control_->stalled = 1;
  control_->stall_from = from;
  control_->stall_to = std::max(now(), from);
}

void Ring::notify_waiters() {
  if (waiters_.load() == 0) return;
  std::lock_guard<std::mutex> lock(waiters_lock_);
  drained_.notify_all();
}

bool Ring::wait_drained(uint64_t position, uint32_t limit_ms) {
  waiters_.fetch_add(1);
  drainer_->hurry();
  bool reached;
  {
    std::unique_lock<std::mutex> lock(waiters_lock_);
    reached = drained_.wait_for(lock, std::chrono::milliseconds(limit_ms), [&] {
      return finished() || sink_->gone() ||
             control_->tail.load(std::memory_order_acquire) >= position;
    });
  }
  waiters_.fetch_sub(1);
  return reached && !sink_->gone();
}

}  // namespace tracewright
