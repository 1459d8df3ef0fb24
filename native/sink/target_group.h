// Targets that fail and work again as one in the eyes of the service: a Heph file, a collector, the
// streams of an ovni process. Watchers of a group are called when its state changes, and its counts
// cover the sinks that are gone as well.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "file/failure.h"

namespace tracewright {

struct SinkCounts;

// Called on the thread that found the target failing, while locks are held. It notifies
// its own thread and returns.
class TargetWatcher {
 public:
  virtual ~TargetWatcher() = default;
  virtual void group_changed(const std::string& group) = 0;
};

class TargetGroup {
 public:
  // The group of that name; it lives as long as a sink or a watcher holds it.
  static std::shared_ptr<TargetGroup> of(const std::string& name);
  explicit TargetGroup(std::string name) : name_(std::move(name)) {}
  ~TargetGroup();
  TargetGroup(const TargetGroup&) = delete;
  TargetGroup& operator=(const TargetGroup&) = delete;

  const std::string& name() const { return name_; }

  struct State {
    bool failing = false;
    // Whether the last of the failing sinks works again; otherwise it went away as it was.
    bool recovered = false;
    uint64_t changes = 0;
    Failure failure;  // the last one
  };
  State state() const;

  struct Counts {
    uint64_t bytes = 0;
    uint64_t errors = 0;
    uint64_t lost_records = 0;
    uint64_t left_bytes = 0;  // in the rings of streams that ended before their target took them
    uint64_t dropped_records = 0;
    uint64_t refused_records = 0;
    // Of rings whose files are gone, so that nothing recovers them: records of those that know
    // their boundaries, bytes of the others, and bytes of both.
    uint64_t gone_records = 0;
    uint64_t gone_bytes = 0;
    uint64_t gone_left_bytes = 0;
    uint64_t unsent_records = 0;  // of sockets: nothing recovers them

    void add(const Counts& more);
    bool lack_events() const {
      return missing_records() > 0 || gone_bytes > 0 || left_bytes > gone_left_bytes;
    }
    // That no recovery brings back.
    uint64_t missing_records() const {
      return dropped_records + refused_records + gone_records + unsent_records;
    }
  };
  // Of every sink that belongs or belonged to the group.
  Counts counts() const;
  // Of the groups that are there, and of those that are gone and lack events, by their names.
  static std::map<std::string, Counts> counts_of_all();

  // A budget: when what the targets hold and what their rings can still bring reach `bytes`, no
  // further event is taken, for good. `used`: what is there already. 0: no budget.
  void limit(uint64_t bytes, uint64_t used);
  void reserve(uint64_t bytes);
  void release(uint64_t bytes) { reserved_.fetch_sub(bytes, std::memory_order_relaxed); }
  void charge(uint64_t bytes);
  // Charges what goes past the rings, if it fits in addition to what these can still bring.
  bool admit(uint64_t bytes, Failure* failure);
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool spent() const { return spent_.load(std::memory_order_relaxed); }

  // News comes until `unwatch` returns, and never after.
  void watch(TargetWatcher* watcher);
  void unwatch(TargetWatcher* watcher);
  // Whether no other watcher that is still there came earlier: one of them speaks for all.
  bool is_first(const TargetWatcher* watcher) const;

 private:
  friend class Sink;
  struct Member {
    const SinkCounts* counts;
    bool is_socket;
    void add_to(Counts* all) const;
  };
  // By its counts. A socket's losses are in no ring.
  void enter(const SinkCounts* sink, bool is_socket);
  void leave(const SinkCounts* sink);
  void failed(const Failure& failure);
  void stopped_failing(bool works);
  void notify_watchers();
  void check_budget();
  Failure over_budget() const;

  const std::string name_;
  std::atomic<uint64_t> budget_{0};
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> reserved_{0};
  std::atomic<bool> spent_{false};
  mutable std::mutex lock_;
  State state_;
  int failing_ = 0;
  Counts gone_;
  std::vector<Member> sinks_;
  std::vector<TargetWatcher*> watchers_;
};

}  // namespace tracewright
