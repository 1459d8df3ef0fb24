// Where the records of a ring go.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "file/failure.h"
#include "ring/ring.h"
#include "sink/target_group.h"

namespace tracewright {

// Counted for the life of the sink, all rings together. Records are counted only where the ring
// knows its record boundaries (RingOptions::length_offset).
struct SinkCounts {
  std::atomic<uint64_t> records{0};  // handed over to the file or the network
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> datagrams{0};
  std::atomic<uint64_t> connections{0};  // made, the first one included
  std::atomic<uint64_t> errors{0};
  std::atomic<uint64_t> lost_records{0};  // committed, but never handed over
  // Of datagrams that the network reported as not delivered; they are not in `records`.
  std::atomic<uint64_t> peer_refused_records{0};
  std::atomic<uint64_t> peer_refused_datagrams{0};
  // What the kernel took for the network, with what was sent again; records of connections only.
  std::atomic<uint64_t> sent_records{0};
  std::atomic<uint64_t> sent_bytes{0};
  // The kernel took them, but the trace ended before they were acknowledged.
  std::atomic<uint64_t> unacknowledged_records{0};
  // Connections that broke, and what was acknowledged on them: its program may not have read it.
  std::atomic<uint64_t> broken_connections{0};
  std::atomic<uint64_t> doubtful_records{0};
  // Of rings that are finished; the control pages of the others have theirs.
  std::atomic<uint64_t> left_bytes{0};
  std::atomic<uint64_t> dropped_records{0};
  std::atomic<uint64_t> refused_records{0};
  std::atomic<uint64_t> unkept_records{0};
  // Of what is left, the part whose rings' files are gone: records where the ring knows their
  // boundaries, bytes where it does not, and the bytes of both.
  std::atomic<uint64_t> gone_records{0};
  std::atomic<uint64_t> gone_bytes{0};
  std::atomic<uint64_t> gone_left_bytes{0};
  // Of `records`: in pieces that were deleted to keep within the budget.
  std::atomic<uint64_t> deleted_records{0};
};

class Sink {
 public:
  virtual ~Sink() {
    if (group_) group_->leave(this);
  }
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Before any ring feeds it: with whom it fails and works in the eyes of the service.
  void join(std::shared_ptr<TargetGroup> group) {
    group_ = std::move(group);
    is_socket_ = slow();
    group_->enter(this);
  }
  TargetGroup* group() const { return group_.get(); }
  // As slow() was when it joined: a group also asks a sink that is being destroyed.
  bool is_socket() const { return is_socket_; }

  // Moves the committed records up to position `to` (a record boundary) and releases them. The
  // caller holds the ring's consumer lock. False when something remains in the ring.
  virtual bool drain(Ring& ring, uint64_t to) = 0;

  // Writes bytes that never were in the ring after all that was; the caller has charged the budget
  // with them. Files only.
  virtual bool append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
                      size_t body_bytes, Failure* failure);

  // Adds whole packets to those with which every later file, piece and connection begins. What is
  // open already gets them from a ring.
  virtual void extend_preamble(const std::string&) {}

  // Writes the records that were open when the ring's stream ended at position `end`, to which it
  // is drained. A call that follows one in vain goes on with it. Files that rings share only.
  virtual bool append_open(Ring&, uint64_t /*end*/, const OpenRecords::Closed&) { return false; }

  // Says where a ring that is about to be opened, and its target, lie.
  virtual void place(RingOptions*) {}
  // Called now and then, under the consumer lock: the ring goes along with a target that has gone
  // on to its next piece.
  virtual void follow(Ring&) {}

  // Whether the path of a file that one ring feeds still names that file. If it was
  // removed, another trace may lie there.
  virtual bool in_place() const { return true; }

  // Whether what the target refuses now may find room later, and with it the end of the stream.
  virtual bool may_take_more() const { return false; }

  // The ring is finished; what it still holds stays where it is.
  virtual void leave(Ring&) {}
  void retire(Ring& ring) {
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
    if (!slow() && !ring.has_file()) count_gone(ring, left);
    if (group_) group_->release(ring.capacity());
  }

  // A sink is held once for each ring that feeds it or is about to; the last one to let go shuts
  // it, whenever the garbage collector gets round to freeing it.
  void hold() {
    holders_.fetch_add(1);
    was_held_.store(true);
  }
  void let_go() {
    if (holders_.fetch_sub(1) != 1) return;
    shut();
    stop_failing(false);
  }
  // Deletes what was made for a stream that never began.
  virtual void discard_unused() {}
  // How many of those that hold it are finished rings that are kept.
  void count_kept(int more) { kept_.fetch_add(more); }
  // Whether all have let go, but for rings that are kept in vain.
  bool abandoned() const {
    if (!was_held_.load()) return false;
    const int holders = holders_.load();
    return holders <= 0 || (holders <= kept_.load() && !may_take_more());
  }

  // Work that is due whether or not there are records: connecting, repeating the preamble.
  virtual void tick(uint64_t /*now*/) {}

  // A descriptor for the drain thread to poll, and for what; -1: none.
  virtual int poll_descriptor(short* /*events*/) { return -1; }
  // Whether the drain thread has to come back soon although no producer wakes it.
  virtual bool restless() { return false; }

  // Draining waits for another machine: no producing thread may do it itself.
  virtual bool slow() const { return false; }
  // The last attempt failed: nobody should wait for room.
  bool failing() const { return failing_.load(std::memory_order_relaxed); }
  // Its budget has come to an end: nothing more is taken, for good.
  bool spent() const { return group_ && group_->spent(); }

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
    if (group_) group_->charge(bytes);
  }

  SinkCounts counts_;

 private:
  // Nothing recovers what this ring still holds.
  void count_gone(Ring& ring, uint64_t left) {
    const bool knows_records = ring.options().length_offset >= 0;
    counts_.gone_left_bytes.fetch_add(left, std::memory_order_relaxed);
    if (knows_records) {
      counts_.gone_records.fetch_add(
          ring.count_records(ring.tail(), ring.tail() + left) + ring.open_at_end(),
          std::memory_order_relaxed);
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
  bool is_socket_ = false;
  mutable std::mutex failure_lock_;
  Failure last_failure_;
};

}  // namespace tracewright
