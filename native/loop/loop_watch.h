// Whether the event loop of a thread turns. The thread notes each turn with a few stores; the drain
// thread looks now and then whether the turn still lasts, and notices while it does.
//
// A turn begins with the first code that runs after the loop has waited, and ends before it waits
// again. A worker of a pool may sleep within a turn until there is work: a thread that sleeps while
// no span of it is open waits, too. The drain thread looks only while there is something to see: it
// sleeps once it has found the loop waiting several times, and the first code that runs then wakes
// it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <string_view>

#include "ring/ring.h"

namespace tracewright {

// Why a loop did not turn.
enum class StallCause : uint32_t {
  code,  // its thread was on a CPU
  wait,  // its thread slept in a call
  held,  // its thread was ready and got no CPU
  stop,  // the process did not run
};
constexpr size_t kStallCauses = 4;

// A record in a place of a table of open records (open_records.h) that counts only once its state
// is stored: what a stall leaves that never ends. Its thread has prepared it.
struct PreparedRecord {
  std::shared_ptr<Ring> ring;
  uint32_t at = 0;                     // from the start of the table
  uint32_t state = 0;                  // of its place
  uint32_t start_at = 0;               // of the record: u64 big-endian, when the stall began
  uint32_t cause_at = 0;               // of the record: a word that says the cause
  uint32_t causes[kStallCauses] = {};  // the words
  // Where a text about the stall may follow, after the record: u16 big-endian length, then the
  // text. What lies before it counts with the text; 0: nowhere.
  uint32_t text_at = 0;
};

// Asks the loop's thread to call LoopWatch::answer() as soon as it runs code. On any thread.
using AskThread = void (*)(void* isolate);

struct Stall {
  uint64_t from = 0;  // CLOCK_MONOTONIC
  uint64_t to = 0;
  uint64_t cpu = 0;  // what the thread spent on a CPU meanwhile, about
  StallCause cause = StallCause::code;
  bool recorded = false;  // whether the prepared record counts
};

// The turns since the last sample. A loop that has waited for longer than the time between two
// samples was idle: the sample ends before that. One ends with each stall, and one with the turn
// that follows: what ends within it may have waited for the stall.
struct LoopSample {
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t busy = 0;  // ns of that
  uint64_t turns = 0;
  uint64_t longest = 0;  // turn
  uint64_t delay = 0;    // that an event at a random moment waited on average
};

// Adds up turns.
class TurnSums {
 public:
  void add(uint64_t ns) {
    busy_ += ns;
    ++turns_;
    if (ns > longest_) longest_ = ns;
    squares_ += static_cast<double>(ns) * static_cast<double>(ns);
  }
  // Begins anew.
  LoopSample take(uint64_t from, uint64_t to);

 private:
  uint64_t busy_ = 0;
  uint64_t turns_ = 0;
  uint64_t longest_ = 0;
  double squares_ = 0;
};

// How long a thread was ready and had no CPU, as the kernel counts it: always 0 where it does not.
class RunDelay {
 public:
  uint64_t read(pid_t thread);

 private:
  std::atomic<uint64_t> last_{0};
};

// What the drain thread did not run although it wanted to: nobody did, if the process was stopped.
// Time for which it worked, or for which it was ready and others had the CPU, is not lost.
class LostTime {
 public:
  // The drain thread runs, and expects to come here again at `due`, the same as `now` if it does
  // not wait; 0: when something happens.
  void expect(uint64_t now, uint64_t due);
  // The drain thread notes what it has had so far, now and then: what it had before explains no
  // later delay.
  void note_own();
  uint64_t by(uint64_t now) const;

 private:
  uint64_t own();

  RunDelay own_delay_;
  uint64_t own_before_ = 0;
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> since_{0};
  std::atomic<uint64_t> due_{0};
};

class LoopWatch {
 public:
  // On the loop's thread. `sample_ns` lie between two samples; 0: there are none. `has_spans`:
  // whether the process knows the open spans, so that a thread without one has nothing to do.
  LoopWatch(uint64_t limit_ns, uint64_t sample_ns, bool has_spans, const LostTime& lost);
  ~LoopWatch();
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  uint64_t limit() const { return limit_; }
  // Before the drain thread knows this: a stall is asked about while it lasts.
  void ask_by(AskThread ask, void* isolate) {
    ask_ = ask;
    isolate_ = isolate;
  }

  // ---- The loop's thread only ----

  static constexpr uint32_t kStall = 1;
  static constexpr uint32_t kSample = 2;
  // The first code runs after the loop has waited. True when the drain thread sleeps and is to be
  // woken.
  bool enter();
  // The loop is about to wait: a turn ends. Returns what there is to report.
  uint32_t turn();
  // That is reported, and the loop waits.
  void wait() { entered_at_.store(0, std::memory_order_release); }
  const Stall& stall() const { return stall_; }
  const LoopSample& sample() const { return sample_; }
  // Whether a turn has begun and not ended.
  bool entered() const { return entered_since() != 0; }
  // When it began, CLOCK_MONOTONIC; 0: the loop waits.
  uint64_t entered_since() const { return entered_at_.load(std::memory_order_relaxed); }
  // The stall is reported. Frees its record unless another has been prepared.
  void resume();
  void prepare(const PreparedRecord& record);

  enum class Answer : uint32_t {
    none,    // the turn that was meant is over
    prompt,  // the thread runs what it ran when it was asked
    late,    // it has done something else first, which cannot be interrupted
  };
  // The thread was asked, and runs code.
  Answer answer();
  // Puts a text to the record that counts, instead of the one before.
  void put_text(std::string_view text);

  // ---- The drain thread only ----

  void look(uint64_t now);
  // Whether there is nothing to see before the loop's thread wakes the drain thread.
  bool may_sleep() const;
  void fall_asleep() {
    slept_ = true;
    asleep_.store(true, std::memory_order_relaxed);
  }
  bool asleep() const { return asleep_.load(std::memory_order_relaxed); }
  // After a fence on all threads: false if code runs since.
  bool stays_asleep();

 private:
  enum State : uint32_t {
    kNone,
    kChanging,  // the drain thread is at work on the record
    kActive,    // the record counts
    kTaken,     // the loop turns again, and its thread reports the stall
  };

  // What the thread has had since some moment.
  struct Usage {
    uint64_t at;
    uint64_t cpu;
    uint64_t delay;  // ready without a CPU
    uint64_t lost;   // see LostTime
  };
  struct Verdict {
    StallCause cause;
    uint64_t cpu;
  };

  Usage usage(uint64_t now);
  void note_base(uint64_t now);
  Verdict judge(uint64_t now, uint64_t busy);
  bool sleeps() const;
  void activate(uint64_t from, StallCause cause);
  void say_cause(StallCause cause);
  void ask(uint64_t now, uint64_t spent);
  uint32_t take_state();
  bool take_sample(uint64_t entered, uint64_t now, bool was_idle);
  uint64_t cpu() const;
  bool has_work();
  void note_rest(uint64_t now, uint64_t entered, uint64_t turn);
  uint64_t rest_of_turn(uint64_t now, uint64_t spent);

  const uint64_t limit_;
  const uint64_t sample_ns_;
  const bool has_spans_;
  const LostTime& lost_;
  clockid_t cpu_clock_;
  // No number of a clock says "none" on every system: on macOS they are an enumeration.
  bool has_cpu_clock_ = false;
  pid_t thread_id_;
  RunDelay run_delay_;

  // Written by the loop's thread: when the turn began, 0: the loop waits.
  alignas(64) std::atomic<uint64_t> entered_at_{0};
  std::atomic<uint64_t> turns_{0};
  TurnSums sums_;
  uint64_t sampled_at_ = 0;
  uint64_t turned_at_ = 0;
  bool stalled_ = false;  // in the turn before
  Stall stall_;
  LoopSample sample_;

  alignas(64) std::atomic<uint32_t> state_{kNone};
  std::atomic<bool> asleep_{true};
  // Of the first look in the turn that lasts.
  std::atomic<uint64_t> base_at_{0};
  std::atomic<uint64_t> base_cpu_{0};
  // Of the look before that: the process may have been stopped between the two.
  std::atomic<uint64_t> base_delay_{0};
  std::atomic<uint64_t> base_lost_{0};
  // What the thread has slept of a turn while no span of it was open, and that turn. It counts up
  // to a look, at which the thread had used so much CPU time.
  std::atomic<uint64_t> rest_{0};
  std::atomic<uint64_t> rest_turn_{~uint64_t{0}};
  std::atomic<uint64_t> looked_at_{0};
  std::atomic<uint64_t> looked_cpu_{0};
  uint64_t seen_turns_ = 0;
  uint64_t about_turn_ = ~uint64_t{0};
  uint32_t quiet_looks_ = 0;
  bool slept_ = true;
  Usage last_{};
  StallCause said_ = StallCause::code;
  AskThread ask_ = nullptr;
  void* isolate_ = nullptr;
  // The question: about which turn, when, and what the thread had had by then. The turn is stored
  // last.
  static constexpr uint64_t kNotAsked = ~uint64_t{0};
  std::atomic<uint64_t> asked_turn_{kNotAsked};
  std::atomic<uint64_t> asked_at_{0};
  std::atomic<uint64_t> asked_cpu_{0};
  std::atomic<uint64_t> asked_delay_{0};
  std::mutex record_lock_;
  PreparedRecord record_;
  // With the spans of the thread; null: it has had none.
  std::shared_ptr<Ring> spans_;
};

}  // namespace tracewright
