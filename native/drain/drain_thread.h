// The one background thread of a process: it moves records from all rings to their targets, keeps
// the clock's line true, and ends the traces when a signal ends the process. With nothing to do it
// sleeps until a producer commits.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "loop/loop_watches.h"
#include "ring/drainer.h"
#include "ring/ring.h"

namespace tracewright {

class DrainThread final : public Drainer {
 public:
  static DrainThread& instance();

  bool add(const std::shared_ptr<Ring>& ring) override;
  void remove(const Ring* ring) override;
  bool keep(Ring* ring) override;
  void wake() override;
  void hurry() override;

  // Looks at an event loop from now on. False, with errno, when there is no thread to do so.
  bool watch(const std::shared_ptr<LoopWatch>& loop);
  // A loop is no longer idle of which the thread sleeps.
  void look_at_loops();
  LoopWatches& loops() { return loops_; }

  // What the rings in question hold and have turned away. `read_counts` runs while all of them are
  // held still, so that no record is on its way from one count to the other.
  Backlog backlog_of(const std::function<bool(const Ring&)>& belongs,
                     const std::function<void()>& read_counts);

  // Finishes every ring. Called when the process ends in an orderly way.
  void finish_all();

  // Lets the process end with complete traces when it gets `signal_number`, as long as the program
  // does not handle it: the traces are finished, then the signal takes the effect that it had
  // before. False when the program handles or ignores the signal, or it would not end the process.
  bool finish_on_signal(int signal_number);

  // A stream begins in several steps: its directory, its metadata, its ring, its first records. A
  // signal that ends the process waits a moment for the streams that are between the two calls, and
  // holds those that come after it: they would be torn. Calls nest.
  void hold_signals();
  void release_signals();

  bool holds_producers() const override { return holds_producers_.load(std::memory_order_acquire); }

  // How often the thread came round, for the test that it sleeps.
  uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }

 private:
  DrainThread();
  bool start_once();
  void run();
  bool round();
  bool fall_asleep();
  // Whether something came before the time was over.
  bool wait(int timeout_ms);
  bool read_messages();
  int sleep_ms();
  void hold_producers();
  void prepare_fence_once();
  void stop();
  void end_by_signal(int signal_number);
  void drain_sockets();
  static void on_signal(int signal_number);
  static bool ends_process(const struct sigaction& action);
  bool open_wake_up();
  void post();
  void post_round();
  std::vector<std::shared_ptr<Ring>> rings();

  std::mutex rings_lock_;
  std::vector<std::shared_ptr<Ring>> rings_;
  LoopWatches loops_;
  std::mutex start_lock_;
  pthread_t thread_{};
  const pid_t process_;
  bool started_ = false;
  // Only the drain thread uses these two.
  bool fence_prepared_ = false;
  bool can_fence_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> woken_{false};
  std::atomic<bool> hurried_{false};
  std::atomic<uint64_t> rounds_{0};
  // What wakes the thread: both ends are one descriptor where the system has such a thing.
  int wake_to_ = -1;
  int wake_from_ = -1;
  // Why it was woken. Neither: an event loop is no longer idle.
  std::atomic<bool> round_asked_{false};
  std::atomic<int> signal_{0};
  std::mutex hold_lock_;
  std::condition_variable held_;
  int holders_ = 0;
  std::atomic<bool> holds_producers_{false};
  std::atomic<bool> ending_{false};  // set where the signal arrives
  // Every signal with a number below this can be finished on; those of a terminal and an operator
  // are far below.
  static constexpr int kSignals = 32;
  struct sigaction previous_[kSignals] = {};
};

}  // namespace tracewright
