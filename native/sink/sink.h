// Where the records of a ring go.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "file/failure.h"
#include "ring/ring.h"
#include "ring/ring_sink.h"
#include "sink/counts.h"
#include "sink/target_group.h"

namespace tracewright {

class Sink : public RingSink {
 public:
  ~Sink() override {
    if (group_) group_->leave(&counts_);
  }
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Before any ring feeds it: with whom it fails and works in the eyes of the service.
  void join(std::shared_ptr<TargetGroup> group) {
    group_ = std::move(group);
    group_->enter(&counts_, slow());
  }
  TargetGroup* group() const { return group_.get(); }

  bool append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
              size_t body_bytes, Failure* failure) override;

  // Adds whole packets to those with which every later file, piece and connection begins. What is
  // open already gets them from a ring.
  virtual void extend_preamble(const std::string&) {}

  void retire(Ring& ring) override {
    const auto add = [](std::atomic<uint64_t>& to, double events) {
      to.fetch_add(static_cast<uint64_t>(events), std::memory_order_relaxed);
    };
    leave(ring);
    add(counts_.dropped_records, ring.control().dropped_events);
    add(counts_.refused_records, ring.control().refused_events);
    add(counts_.unkept_records, ring.control().unkept_records);
    const uint64_t tail = ring.tail();
    const uint64_t left = std::max(ring.head(), tail) - tail;
    counts_.left_bytes.fetch_add(left, std::memory_order_relaxed);
    if ((!slow() || patient()) && !ring.has_file()) count_gone(ring, left);
    if (group_) group_->release(ring.capacity());
  }

  void hold() override {
    holders_.fetch_add(1);
    was_held_.store(true);
  }
  void let_go() override {
    if (holders_.fetch_sub(1) != 1) return;
    shut();
    stop_failing(false);
  }
  // Deletes what was made for a stream that never began.
  virtual void discard_unused() {}
  void count_kept(int more) override { kept_.fetch_add(more); }
  // Whether all have let go, but for rings that are kept in vain.
  bool abandoned() const {
    if (!was_held_.load()) return false;
    const int holders = holders_.load();
    return holders <= 0 || (holders <= kept_.load() && !may_take_more());
  }

  bool failing() const override { return failing_.load(std::memory_order_relaxed); }
  Failure refusal() const override { return spent() ? group_->state().failure : last_failure(); }
  void count_lost(uint64_t records) override { counts_.lost_records.fetch_add(records); }

  bool spent() const override { return group_ && group_->spent(); }
  void reserve(uint64_t bytes) override {
    if (group_) group_->reserve(bytes);
  }
  bool admit(uint64_t bytes, Failure* failure) override {
    return !group_ || group_->admit(bytes, failure);
  }
  void give_back(uint64_t bytes) override {
    if (group_) group_->give_back(bytes);
  }
  void charge(uint64_t bytes) override {
    if (group_) group_->charge(bytes);
  }

  // Counts what the network has reported since.
  virtual void update_counts() {}
  SinkCounts& counts() { return counts_; }
  const SinkCounts& counts() const { return counts_; }
  Failure last_failure() const {
    std::lock_guard<std::mutex> lock(failure_lock_);
    return last_failure_;
  }

 protected:
  // Closes connections. A ring that comes after all opens them again.
  virtual void shut() {}

  void fail(const Failure& failure) {
    counts_.errors.fetch_add(1, std::memory_order_relaxed);
    {
      std::lock_guard<std::mutex> lock(failure_lock_);
      last_failure_ = failure;
    }
    if (!failing_.exchange(true) && group_) group_->failed(failure);
  }
  void recovered() { stop_failing(true); }
  void count_bytes(uint64_t bytes) {
    counts_.bytes.fetch_add(bytes, std::memory_order_relaxed);
    charge(bytes);
  }

  SinkCounts counts_;

 private:
  // Nothing recovers what this ring still holds.
  void count_gone(Ring& ring, uint64_t left) {
    uint64_t records = 0;
    counts_.gone_left_bytes.fetch_add(left, std::memory_order_relaxed);
    if (ring.count_left(&records)) {
      counts_.gone_records.fetch_add(records + ring.open_at_end(), std::memory_order_relaxed);
    } else {
      counts_.gone_bytes.fetch_add(left, std::memory_order_relaxed);
    }
  }
  void stop_failing(bool works) {
    if (!failing_.load(std::memory_order_relaxed)) return;
    if (failing_.exchange(false) && group_) group_->stopped_failing(works);
  }

  std::shared_ptr<TargetGroup> group_;
  std::atomic<int> holders_{0};
  std::atomic<int> kept_{0};
  std::atomic<bool> was_held_{false};
  std::atomic<bool> failing_{false};
  mutable std::mutex failure_lock_;
  Failure last_failure_;
};

// The sink of a ring that has one: there are no other classes of them.
inline Sink& sink_of(const Ring& ring) {
  return static_cast<Sink&>(*ring.sink());
}

}  // namespace tracewright
