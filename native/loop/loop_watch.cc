#include "loop/loop_watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "file/file_descriptor.h"
#include "process/fence.h"

#if defined(__linux__)
#include <sys/syscall.h>
#endif

namespace tracewright {

namespace {

// A thread is seldom woken at the very moment; a stopped one is late by far more.
constexpr uint64_t kUsualDelayNs = 5000000;
constexpr uint64_t kLongDelayNs = 30000000;
// Looks that find the loop idle before the drain thread sleeps: requests seldom come alone.
constexpr uint32_t kQuietLooks = 4;
// Between two questions about one stall, and how many there are of a long one, about.
constexpr uint64_t kAskAgainNs = 50000000;
constexpr uint64_t kQuestions = 64;
// A loop answers within microseconds. A thread that has run or slept for longer since the question
// was in native code, which cannot be interrupted.
constexpr uint64_t kPromptCpuNs = 300000;
constexpr uint64_t kPromptNs = 5000000;

uint64_t minus(uint64_t left, uint64_t right) {
  return left > right ? left - right : 0;
}

// `explained`: of the delay. Who is late by a lot was stopped some time before: nobody knows when.
uint64_t lost_of_wait(uint64_t now, uint64_t due, uint64_t since, uint64_t explained) {
  if (due == 0 || now <= due + kUsualDelayNs) return 0;
  const uint64_t late = minus(now - due, explained);
  if (late <= kUsualDelayNs) return 0;
  return late > kLongDelayNs ? minus(now, since) : late;
}

pid_t this_thread() {
#if defined(__linux__)
  return static_cast<pid_t>(syscall(SYS_gettid));
#else
  return 0;
#endif
}

#if defined(__linux__)
FileDescriptor open_file_of(pid_t thread, const char* name) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
  return FileDescriptor(::open(path, O_RDONLY | O_CLOEXEC));
}
#endif

}  // namespace

uint64_t RunDelay::read(pid_t thread) {
#if defined(__linux__)
  const FileDescriptor fd = open_file_of(thread, "schedstat");
  char text[96];
  const ssize_t bytes = fd ? ::read(fd.get(), text, sizeof text - 1) : 0;
  // Without a descriptor left the delay has not grown, as far as is known.
  if (bytes <= 0) return last_.load(std::memory_order_relaxed);
  text[bytes] = 0;
  char* rest = nullptr;
  strtoull(text, &rest, 10);
  const uint64_t delay = strtoull(rest, nullptr, 10);
  last_.store(delay, std::memory_order_relaxed);
  return delay;
#else
  (void)thread;
  return 0;
#endif
}

uint64_t LostTime::own() {
  return Clock::cpu(true) + own_delay_.read(this_thread());
}

void LostTime::note_own() {
  own_before_ = own();
}

void LostTime::expect(uint64_t now, uint64_t due) {
  const uint64_t expected = due_.load(std::memory_order_relaxed);
  const uint64_t since = since_.load(std::memory_order_relaxed);
  if (lost_of_wait(now, expected, since, 0) != 0) {
    const uint64_t have = own();
    const uint64_t lost = lost_of_wait(now, expected, since, minus(have, own_before_));
    own_before_ = have;
    lost_.store(lost_.load(std::memory_order_relaxed) + lost, std::memory_order_release);
  }
  since_.store(now, std::memory_order_release);
  due_.store(due, std::memory_order_release);
}

uint64_t LostTime::by(uint64_t now) const {
  for (;;) {
    const uint64_t due = due_.load(std::memory_order_acquire);
    const uint64_t since = since_.load(std::memory_order_acquire);
    const uint64_t lost = lost_.load(std::memory_order_acquire);
    // Otherwise the wait has just ended, and may be counted already.
    if (due_.load(std::memory_order_acquire) == due &&
        since_.load(std::memory_order_acquire) == since) {
      return lost + lost_of_wait(now, due, since, 0);
    }
  }
}

LoopSample TurnSums::take(uint64_t from, uint64_t to) {
  const double length = static_cast<double>(std::max<uint64_t>(minus(to, from), 1));
  const LoopSample sample{from,   to,       busy_,
                          turns_, longest_, static_cast<uint64_t>(squares_ / 2 / length)};
  *this = TurnSums();
  return sample;
}

LoopWatch::LoopWatch(uint64_t limit_ns, uint64_t sample_ns, bool has_spans, const LostTime& lost)
    : limit_(limit_ns),
      sample_ns_(sample_ns),
      has_spans_(has_spans),
      lost_(lost),
      cpu_clock_(),
      thread_id_(0) {
#if defined(__linux__)
  has_cpu_clock_ = pthread_getcpuclockid(pthread_self(), &cpu_clock_) == 0;
#endif
  thread_id_ = this_thread();
}

LoopWatch::~LoopWatch() = default;

// ---- The loop's thread ----

bool LoopWatch::enter() {
  entered_at_.store(Clock::instance().now(), std::memory_order_release);
  // The other thread fences the processor, not the compiler.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return asleep_.load(std::memory_order_relaxed) && asleep_.exchange(false);
}

uint32_t LoopWatch::turn() {
  const uint64_t now = Clock::instance().now();
  const uint64_t entered = entered_at_.load(std::memory_order_relaxed);
  uint64_t spent = entered == 0 ? 0 : minus(now, entered);
  uint32_t reports = 0;
  if (__builtin_expect(spent > limit_, 0)) {
    spent -= rest_of_turn(now, spent);
    if (spent > limit_) {
      // Before the turn ends: the drain thread notes a new base then.
      const Verdict verdict = judge(now, spent);
      stall_ = {now - spent, now, verdict.cpu, verdict.cause, false};
      reports = kStall;
    }
  }
  turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (__builtin_expect(state_.load(std::memory_order_acquire) != kNone, 0)) {
    const bool recorded = take_state() == kActive;
    if (reports != 0)
      stall_.recorded = recorded;
    else if (recorded)
      resume();
  }
  if (sample_ns_ != 0) {
    // What the loop did before it was idle is a sample of its own.
    const bool was_idle = entered > turned_at_ && entered - turned_at_ > sample_ns_;
    if (!was_idle) sums_.add(spent);
    const bool is_due = now - sampled_at_ >= sample_ns_ || reports != 0 || stalled_;
    if (__builtin_expect(is_due, 0) && take_sample(entered, now, was_idle)) reports |= kSample;
    stalled_ = (reports & kStall) != 0;
    if (was_idle) sums_.add(spent);
    turned_at_ = now;
  }
  // To report takes time, too, which is none of the turn that is over.
  if (reports != 0) entered_at_.store(now, std::memory_order_release);
  return reports;
}

bool LoopWatch::take_sample(uint64_t entered, uint64_t now, bool was_idle) {
  const bool is_first = sampled_at_ == 0;
  const uint64_t from = sampled_at_;
  sampled_at_ = was_idle ? entered : now;
  const LoopSample taken =
      sums_.take(from, was_idle ? std::max(turned_at_, from + sample_ns_) : now);
  // It was idle from the last sample on.
  if (is_first || taken.turns == 0) return false;
  sample_ = taken;
  return true;
}

// Takes the record over from the drain thread. Returns kActive if it counts.
uint32_t LoopWatch::take_state() {
  for (;;) {
    uint32_t state = state_.load(std::memory_order_acquire);
    if (state == kChanging) {
      sched_yield();
    } else if (state != kActive) {
      return state;
    } else if (state_.compare_exchange_strong(state, kTaken)) {
      return kActive;
    }
  }
}

void LoopWatch::resume() {
  if (state_.load(std::memory_order_acquire) != kTaken) return;
  std::lock_guard<std::mutex> lock(record_lock_);
  if (record_.ring) record_.ring->open_records().free_prepared(record_.at);
  // What it says is no longer true.
  record_.ring = nullptr;
  state_.store(kNone, std::memory_order_release);
}

void LoopWatch::prepare(const PreparedRecord& record) {
  std::lock_guard<std::mutex> lock(record_lock_);
  record_ = record;
  spans_ = record.ring;
  uint32_t taken = kTaken;
  state_.compare_exchange_strong(taken, kNone);
}

LoopWatch::Answer LoopWatch::answer() {
  const uint64_t turn = asked_turn_.exchange(kNotAsked, std::memory_order_acquire);
  if (turn != turns_.load(std::memory_order_relaxed) || !entered()) return Answer::none;
  if (minus(cpu(), asked_cpu_.load(std::memory_order_relaxed)) > kPromptCpuNs) return Answer::late;
  const uint64_t waited = minus(Clock::instance().now(), asked_at_.load(std::memory_order_relaxed));
  if (waited <= kPromptNs) return Answer::prompt;
  const uint64_t delay = run_delay_.read(thread_id_);
  const uint64_t held = minus(delay, asked_delay_.load(std::memory_order_relaxed));
  return minus(waited, held) <= kPromptNs ? Answer::prompt : Answer::late;
}

void LoopWatch::put_text(std::string_view text) {
  std::lock_guard<std::mutex> lock(record_lock_);
  if (!record_.ring || record_.text_at == 0) return;
  Ring& ring = *record_.ring;
  const auto held = ring.hold_still();
  if (ring.finished() || state_.load(std::memory_order_acquire) != kActive) return;
  ring.open_records().put_text(record_.at, record_.state, record_.text_at, text);
}

// ---- Either thread ----

// Whether the thread waits for something other than a CPU. How long it has waited for one the
// kernel counts only once it has it.
bool LoopWatch::sleeps() const {
#if defined(__linux__)
  const FileDescriptor fd = open_file_of(thread_id_, "stat");
  char text[128];
  const ssize_t bytes = fd ? ::read(fd.get(), text, sizeof text - 1) : 0;
  if (bytes <= 0) return true;
  text[bytes] = 0;
  // After the name, which is in parentheses.
  const char* const name_end = std::strrchr(text, ')');
  return name_end == nullptr || name_end[1] != ' ' || name_end[2] != 'R';
#else
  return true;
#endif
}

uint64_t LoopWatch::cpu() const {
  timespec ts;
  if (!has_cpu_clock_ || clock_gettime(cpu_clock_, &ts) != 0) return 0;
  return static_cast<uint64_t>(ts.tv_sec) * 1000000000u + static_cast<uint64_t>(ts.tv_nsec);
}

LoopWatch::Usage LoopWatch::usage(uint64_t now) {
  return {now, cpu(), run_delay_.read(thread_id_), lost_.by(now)};
}

// What the thread has slept, of the `spent` ns of the turn that ends, while no span was open. What
// comes after the last look counts too: it slept then, and was woken.
uint64_t LoopWatch::rest_of_turn(uint64_t now, uint64_t spent) {
  if (rest_turn_.load(std::memory_order_acquire) != turns_.load(std::memory_order_relaxed)) {
    return 0;
  }
  const uint64_t rest = rest_.load(std::memory_order_relaxed);
  if (rest == 0) return 0;
  const uint64_t since = minus(now, looked_at_.load(std::memory_order_relaxed));
  const uint64_t used = minus(cpu(), looked_cpu_.load(std::memory_order_relaxed));
  return std::min(rest + minus(since, used), spent);
}

// Why the last `busy` ns went by without a turn. What came between the base and them is taken for
// time on a CPU, so that the thread is never said to have run more than it did.
LoopWatch::Verdict LoopWatch::judge(uint64_t now, uint64_t busy) {
  if (!has_cpu_clock_) return {StallCause::code, 0};
  const Usage have = usage(now);
  const uint64_t base = base_at_.load(std::memory_order_relaxed);
  const uint64_t before = base == 0 ? 0 : minus(now - busy, base);
  const uint64_t delay =
      std::min(minus(have.delay, base_delay_.load(std::memory_order_relaxed)), busy);
  const uint64_t lost =
      std::min(minus(have.lost, base_lost_.load(std::memory_order_relaxed)), busy);
  const uint64_t cpu =
      std::min(minus(minus(have.cpu, base_cpu_.load(std::memory_order_relaxed)), before), busy);
  // Both threads may have lacked a CPU at once, and then this is too much: what is called blocking
  // code surely is.
  const uint64_t held = std::min(delay + lost, busy);
  const uint64_t blocking = std::max(busy - held, cpu);
  if (blocking <= limit_) {
    return {delay >= lost ? StallCause::held : StallCause::stop, cpu};
  }
  // Of the time since the base: nobody knows what was before.
  const uint64_t unseen = base == 0 ? 0 : minus(base, now - busy);
  const uint64_t seen = minus(busy, unseen);
  return {cpu >= minus(seen, held) / 2 ? StallCause::code : StallCause::wait, cpu};
}

// ---- The drain thread ----

void LoopWatch::note_base(uint64_t now) {
  const Usage have = usage(now);
  base_at_.store(have.at, std::memory_order_relaxed);
  base_cpu_.store(have.cpu, std::memory_order_relaxed);
  const Usage& before = slept_ ? have : last_;
  base_delay_.store(before.delay, std::memory_order_relaxed);
  base_lost_.store(before.lost, std::memory_order_relaxed);
  last_ = have;
}

bool LoopWatch::has_work() {
  if (!has_spans_) return true;
  std::lock_guard<std::mutex> lock(record_lock_);
  return spans_ && spans_->open_records().any();
}

// At a look: whether the thread has slept since the one before, and had nothing else to do.
void LoopWatch::note_rest(uint64_t now, uint64_t entered, uint64_t turn) {
  if (!has_cpu_clock_) return;
  const uint64_t used = cpu();
  const uint64_t since =
      slept_ ? now : std::max(looked_at_.load(std::memory_order_relaxed), entered);
  const uint64_t before = looked_cpu_.load(std::memory_order_relaxed);
  if (rest_turn_.load(std::memory_order_relaxed) != turn) {
    rest_turn_.store(~uint64_t{0}, std::memory_order_relaxed);
    rest_.store(0, std::memory_order_relaxed);
  }
  looked_at_.store(now, std::memory_order_relaxed);
  looked_cpu_.store(used, std::memory_order_relaxed);
  if (entered != 0 && state_.load(std::memory_order_relaxed) == kNone && !has_work() && sleeps()) {
    const uint64_t slept = minus(minus(now, since), minus(used, before));
    rest_.store(rest_.load(std::memory_order_relaxed) + slept, std::memory_order_relaxed);
  }
  rest_turn_.store(turn, std::memory_order_release);
}

void LoopWatch::look(uint64_t now) {
  const uint64_t turns = turns_.load(std::memory_order_acquire);
  const uint64_t entered = entered_at_.load(std::memory_order_acquire);
  const bool turned = turns != seen_turns_;
  seen_turns_ = turns;
  quiet_looks_ = turned || entered != 0 ? 0 : quiet_looks_ + 1;
  note_rest(now, entered, turns);
  if (turned || entered == 0 || slept_) note_base(now);
  slept_ = false;
  if (turned || entered == 0) return;
  const uint64_t spent = minus(minus(now, entered), rest_.load(std::memory_order_relaxed));
  if (spent <= limit_) return;
  Verdict verdict = judge(now, spent);
  if (verdict.cause == StallCause::wait && !sleeps()) verdict.cause = StallCause::held;
  if (state_.load(std::memory_order_acquire) == kActive) {
    say_cause(verdict.cause);
  } else {
    activate(now - spent, verdict.cause);
  }
  ask(now, spent);
}

void LoopWatch::ask(uint64_t now, uint64_t spent) {
  if (ask_ == nullptr || !has_cpu_clock_) return;
  // One that waits for its answer is asked once.
  if (asked_turn_.load(std::memory_order_acquire) == seen_turns_) return;
  const bool is_first = about_turn_ != seen_turns_;
  const uint64_t rest = std::max(kAskAgainNs, spent / kQuestions);
  if (!is_first && now < asked_at_.load(std::memory_order_relaxed) + rest) return;
  about_turn_ = seen_turns_;
  asked_at_.store(Clock::monotonic(), std::memory_order_relaxed);
  asked_cpu_.store(cpu(), std::memory_order_relaxed);
  asked_delay_.store(run_delay_.read(thread_id_), std::memory_order_relaxed);
  asked_turn_.store(seen_turns_, std::memory_order_release);
  ask_(isolate_);
}

void LoopWatch::activate(uint64_t from, StallCause cause) {
  std::lock_guard<std::mutex> lock(record_lock_);
  if (!record_.ring) return;
  Ring& ring = *record_.ring;
  // What completes open records must not meet one that comes.
  const auto held = ring.hold_still();
  if (ring.finished()) return;
  uint32_t none = kNone;
  if (!state_.compare_exchange_strong(none, kChanging)) return;
  OpenRecords& records = ring.open_records();
  said_ = cause;
  records.beat(ring.now());
  records.begin_prepared(record_.at, record_.state, record_.start_at, from, record_.cause_at,
                         record_.causes[static_cast<size_t>(cause)]);
  state_.store(kActive, std::memory_order_release);
  // Either the loop's thread sees that the record counts, or its turn is seen here.
  fence_all_threads();
  if (turns_.load(std::memory_order_acquire) == seen_turns_) return;
  uint32_t active = kActive;
  if (!state_.compare_exchange_strong(active, kChanging)) return;
  records.free_prepared(record_.at);
  state_.store(kNone, std::memory_order_release);
}

void LoopWatch::say_cause(StallCause cause) {
  std::lock_guard<std::mutex> lock(record_lock_);
  if (!record_.ring) return;
  Ring& ring = *record_.ring;
  const auto held = ring.hold_still();
  uint32_t active = kActive;
  if (ring.finished() || !state_.compare_exchange_strong(active, kChanging)) return;
  // The process is alive.
  ring.open_records().beat(ring.now());
  if (cause != said_) {
    said_ = cause;
    ring.open_records().put_word(record_.at, record_.cause_at,
                                 record_.causes[static_cast<size_t>(cause)]);
  }
  state_.store(kActive, std::memory_order_release);
}

bool LoopWatch::may_sleep() const {
  return turns_.load(std::memory_order_relaxed) == 0 || quiet_looks_ >= kQuietLooks;
}

bool LoopWatch::stays_asleep() {
  const bool stays = turns_.load(std::memory_order_acquire) == seen_turns_ &&
                     entered_at_.load(std::memory_order_acquire) == 0;
  if (!stays) asleep_.store(false, std::memory_order_relaxed);
  return stays;
}

}  // namespace tracewright
