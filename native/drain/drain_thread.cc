#include "drain/drain_thread.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/eventfd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "clock/clock.h"
#include "process/fence.h"
#include "process/process_end.h"
#include "ring/ring_sink.h"

namespace tracewright {

namespace {

constexpr int kRoundMs = 80;
constexpr int kHurriedRoundMs = 2;
// Rounds without work before the thread sleeps.
constexpr int kIdleRounds = 10;
// Without a fence on other threads a commit might go unnoticed; then the thread looks now and then.
constexpr int kUnfencedSleepMs = 100;
// How old the sign of life gets while a record is open.
constexpr int kBeatMs = 1000;
// What is kept of streams that ended while their files refused: their threads come and go, and each
// costs a descriptor and its memory.
constexpr size_t kMostKept = 64;
constexpr size_t kMostKeptBytes = 64 << 20;
// For a holder that will never release, because its thread was terminated.
constexpr int kHoldLimitMs = 500;
// Far longer than a producer takes from one store to the next.
constexpr useconds_t kStepUs = 500;
// After that a further signal ends the process at once.
constexpr int64_t kSecondSignalMs = 1000;

// Also in a signal handler. Never 0.
int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000 + 1;
}

thread_local int holds = 0;

}  // namespace

DrainThread& DrainThread::instance() {
  // Never destroyed: producers and exit handlers may outlive every static.
  static DrainThread* const thread = new DrainThread();
  return *thread;
}

DrainThread::DrainThread() : process_(getpid()) {
  // process.exit() and uncaught exceptions run no environment hook of the main thread.
  std::atexit([] { instance().stop(); });
}

bool DrainThread::open_wake_up() {
  if (wake_from_ != -1) return true;
#if defined(__linux__)
  wake_from_ = wake_to_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return wake_from_ != -1;
#else
  int ends[2];
  if (::pipe(ends) != 0) return false;
  for (const int fd : ends) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  wake_from_ = ends[0];
  wake_to_ = ends[1];
  return true;
#endif
}

bool DrainThread::start_once() {
  std::lock_guard<std::mutex> lock(start_lock_);
  if (started_ || stopping_.load()) return true;
  // Without a descriptor left there is no trace, but the service goes on.
  if (!open_wake_up()) return false;
  // The host's signals are none of this thread's business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not std::thread, which would throw where the system has no thread left.
  const auto run_it = [](void* self) -> void* {
    static_cast<DrainThread*>(self)->run();
    return nullptr;
  };
  const int error = pthread_create(&thread_, nullptr, run_it, this);
  started_ = error == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return started_;
}

bool DrainThread::add(const std::shared_ptr<Ring>& ring) {
  if (!start_once()) return false;
  {
    std::lock_guard<std::mutex> lock(rings_lock_);
    rings_.push_back(ring);
  }
  wake();
  return true;
}

void DrainThread::remove(const Ring* ring) {
  std::shared_ptr<Ring> last;  // not destroyed under the lock
  std::lock_guard<std::mutex> lock(rings_lock_);
  const auto found = std::find_if(rings_.begin(), rings_.end(),
                                  [ring](const auto& each) { return each.get() == ring; });
  if (found == rings_.end()) return;
  last = std::move(*found);
  rings_.erase(found);
}

bool DrainThread::keep(Ring* ring) {
  if (ProcessEnd::begun() || !ring->sink()->may_take_more()) return false;
  if (ring->kept()) return true;
  {
    std::lock_guard<std::mutex> lock(rings_lock_);
    size_t kept = 1;
    size_t bytes = ring->capacity();
    for (const auto& each : rings_) {
      if (!each->kept()) continue;
      ++kept;
      bytes += each->capacity();
    }
    if (kept > kMostKept || bytes > kMostKeptBytes) return false;
    ring->note_kept();
  }
  ring->sink()->count_kept(1);
  // It may be asleep: of a stream that lacks nothing but its end, say.
  wake();
  return true;
}

std::vector<std::shared_ptr<Ring>> DrainThread::rings() {
  std::lock_guard<std::mutex> lock(rings_lock_);
  return rings_;
}

// Also in a signal handler.
void DrainThread::post() {
  // As an eventfd takes it. Where nothing more fits in, there already is a reason to wake up.
  const uint64_t one = 1;
  const ssize_t written = ::write(wake_to_, &one, sizeof one);
  (void)written;
}

void DrainThread::post_round() {
  round_asked_.store(true);
  post();
}

void DrainThread::wake() {
  if (!woken_.exchange(true)) post_round();
}

void DrainThread::hurry() {
  hurried_.store(true);
  wake();
}

bool DrainThread::wait(int timeout_ms) {
  std::vector<pollfd> entries;
  entries.push_back({wake_from_, POLLIN, 0});
  for (const auto& ring : rings()) {
    short events = 0;
    const int fd = ring->sink()->poll_descriptor(&events);
    const bool known = std::any_of(entries.begin(), entries.end(),
                                   [fd](const pollfd& entry) { return entry.fd == fd; });
    if (fd != -1 && !known) entries.push_back({fd, events, 0});
  }
  const uint64_t until =
      timeout_ms < 0 ? UINT64_MAX
                     : Clock::monotonic() + uint64_t{1000000} * static_cast<unsigned>(timeout_ms);
  for (;;) {
    const int wait_ms = loops_.begin_wait(timeout_ms, can_fence_);
    bool came = poll(entries.data(), static_cast<nfds_t>(entries.size()), wait_ms) < 0;
    loops_.end_wait();
    for (size_t i = 1; i < entries.size(); ++i) came = came || entries[i].revents != 0;
    if (read_messages() || came) return true;
    if (timeout_ms < 0) continue;
    const uint64_t now = Clock::monotonic();
    if (now >= until) return false;
    timeout_ms = static_cast<int>((until - now + 999999) / 1000000);
  }
}

// Whether there is a reason to go round.
bool DrainThread::read_messages() {
  uint64_t posts[8];
  if (::read(wake_from_, posts, sizeof posts) <= 0) return false;
  // Exchanged, not stored: what a producer did before it found this set must be seen from here on.
  woken_.exchange(false);
  const int signal_number = signal_.exchange(0);
  if (signal_number != 0) end_by_signal(signal_number);
  return round_asked_.exchange(false) || signal_number != 0;
}

bool DrainThread::watch(const std::shared_ptr<LoopWatch>& loop) {
  if (!start_once()) return false;
  loops_.add(loop);
  return true;
}

void DrainThread::look_at_loops() {
  post();
}

bool DrainThread::round() {
  rounds_.fetch_add(1, std::memory_order_relaxed);
  Clock::instance().anchor();
  bool busy = false;
  const uint64_t now = Clock::monotonic();
  for (const auto& ring : rings()) {
    ring->sink()->tick(now);
    const bool undrained = ring->head() != ring->tail();
    busy = busy || undrained || ring->kept();
    if (ring->kept()) {
      ring->finish(0);
    } else if (undrained || ring->awaited()) {
      // Also if a thread waits for what has left already: it may have missed the notification.
      ring->drain();
    }
    ring->follow();
    ring->beat();
    busy = busy || ring->sink()->restless();
    ring->wake_when_half_full();
  }
  return busy;
}

bool DrainThread::fall_asleep() {
  const auto all = rings();
  for (const auto& ring : all) {
    ring->wake_at_next_commit();
    // Of a ring with an open record it comes round anyway.
    ring->open_records().ask_for_call(!ring->open_records().any());
  }
  // Every producer either sees the new wake_at at its next commit, or its last commit is seen here.
  // The same holds for `attention` and the records that it opens.
  fence_all_threads();
  return std::all_of(all.begin(), all.end(),
                     [](const auto& ring) { return ring->head() == ring->tail(); });
}

// How long it may sleep: while a record is open, the sign of life must stay true.
int DrainThread::sleep_ms() {
  bool open = false;
  for (const auto& ring : rings()) open = ring->beat() || open;
  if (!can_fence_) return kUnfencedSleepMs;
  return open ? kBeatMs : -1;
}

void DrainThread::prepare_fence_once() {
  if (fence_prepared_) return;
  // The kernel takes 10 ms for this, which would delay the start of the service.
  fence_prepared_ = true;
  can_fence_ = prepare_fence();
}

void DrainThread::run() {
  int idle = 0;
  while (!stopping_.load()) {
    const bool hurried = hurried_.exchange(false);
    idle = round() ? 0 : idle + 1;
    bool waiting = false;
    // A full pipe says by itself when it has room.
    for (const auto& ring : rings()) {
      waiting = waiting || (ring->awaited() && !ring->sink()->patient());
    }
    if (hurried || waiting) {
      wait(kHurriedRoundMs);
    } else if (idle < kIdleRounds) {
      wait(kRoundMs);
    } else if (!fence_prepared_) {
      prepare_fence_once();
    } else if (fall_asleep()) {
      const bool woken = wait(sleep_ms());
      if (!woken && can_fence_) continue;
      if (!hurried_.load() && !stopping_.load()) {
        // The first record after a silence is seldom the last: take its companions along.
        for (const auto& ring : rings()) {
          ring->wake_when_half_full();
          ring->open_records().ask_for_call(false);
        }
        wait(kRoundMs);
      }
      if (can_fence_) idle = 0;
    }
  }
}

Backlog DrainThread::backlog_of(const std::function<bool(const Ring&)>& belongs,
                                const std::function<void()>& read_counts) {
  Backlog backlog;
  std::vector<std::shared_ptr<Ring>> feeding;
  std::vector<std::unique_lock<std::mutex>> held;
  for (const auto& ring : rings()) {
    if (!belongs(*ring)) continue;
    held.push_back(ring->hold_still());
    feeding.push_back(ring);
  }
  for (const auto& ring : feeding) ring->add_backlog(&backlog);
  read_counts();
  held.clear();
  return backlog;
}

void DrainThread::finish_all() {
  ProcessEnd::begin();
  // One wait for the sockets of all rings, not one for each.
  const uint64_t begin = Clock::monotonic();
  for (const auto& ring : rings()) {
    const uint64_t spent_ms = (Clock::monotonic() - begin) / 1000000;
    constexpr uint32_t kLimitMs = ProcessEnd::kSocketLimitMs;
    ring->finish(spent_ms >= kLimitMs ? 0 : kLimitMs - static_cast<uint32_t>(spent_ms));
  }
}

void DrainThread::stop() {
  // A forked child has inherited the exit handler, but neither the thread nor the traces.
  if (getpid() != process_) return;
  // Sockets are drained by the thread, so it must still be there.
  finish_all();
  ProcessEnd::say();
  std::lock_guard<std::mutex> lock(start_lock_);
  stopping_.store(true);
  if (!started_) return;
  post_round();
  pthread_join(thread_, nullptr);
  started_ = false;
}

void DrainThread::on_signal(int signal_number) {
  static std::atomic<int64_t> first{0};
  const int saved = errno;
  DrainThread& self = instance();
  const int64_t now = milliseconds();
  const int64_t begun = first.load();
  // `timeout` sends two signals, and so do a terminal and a shell that it runs.
  if (begun != 0 && now - begun < kSecondSignalMs && getpid() == self.process_) return;
  if (begun != 0 || self.stopping_.load() || getpid() != self.process_) {
    // A later signal, or the traces are finished and the thread has ended, or a forked child has
    // inherited the handler together with the pipe of its parent's thread.
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    errno = saved;
    return;
  }
  first.store(now);
  self.ending_.store(true);
  self.signal_.store(signal_number);
  self.post();
  errno = saved;
}

// Whether the signal ends the process as things stand: by default, or by a handler that cleans up
// once and lets the signal come again, as Node installs for SIGINT and SIGTERM to restore the
// terminal. libuv's handlers, which call a program's own, restart system calls. Process 1, as in a
// container, ignores by default what ends others.
bool DrainThread::ends_process(const struct sigaction& action) {
  if (getpid() == 1) return false;
  const auto flags = static_cast<unsigned>(action.sa_flags);
  if ((flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN) return false;
  if ((flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL) return true;
  return (flags & SA_RESETHAND) != 0 && (flags & SA_RESTART) == 0;
}

bool DrainThread::finish_on_signal(int signal_number) {
  if (signal_number <= 0 || signal_number >= kSignals) return false;
  struct sigaction current {};
  if (sigaction(signal_number, nullptr, &current) != 0) return false;
  if ((current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == on_signal) return true;
  if (!ends_process(current)) return false;
  if (!start_once()) return false;
  previous_[signal_number] = current;
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART;
  sigemptyset(&ours.sa_mask);
  return sigaction(signal_number, &ours, nullptr) == 0;
}

void DrainThread::hold_signals() {
  if (holds++ > 0) return;
  std::unique_lock<std::mutex> lock(hold_lock_);
  // For good, when the process is ending.
  held_.wait(lock, [this] { return !ending_.load(); });
  ++holders_;
}

void DrainThread::release_signals() {
  if (--holds > 0) return;
  {
    std::lock_guard<std::mutex> lock(hold_lock_);
    --holders_;
  }
  held_.notify_all();
}

// At the end of the process, on this thread, which nobody else can wait for any more. All of them
// side by side: one that does not read takes no time from the others.
void DrainThread::drain_sockets() {
  const auto all = rings();
  for (;;) {
    std::vector<pollfd> waiting;
    for (const auto& ring : all) {
      RingSink& sink = *ring->sink();
      if (!sink.slow() || ring->drain()) continue;
      sink.tick(Clock::monotonic());
      short events = 0;
      const int fd = sink.poll_descriptor(&events);
      waiting.push_back({fd, events, 0});
    }
    if (waiting.empty() || ProcessEnd::socket_limit_ms(1) == 0) return;
    poll(waiting.data(), static_cast<nfds_t>(waiting.size()), kHurriedRoundMs);
  }
}

// What is open is written by this thread, so its own must not end it meanwhile.
void DrainThread::hold_producers() {
  const auto all = rings();
  const bool needed = std::any_of(all.begin(), all.end(),
                                  [](const auto& ring) { return ring->open_records().exist(); });
  if (!needed) return;
  prepare_fence_once();
  holds_producers_.store(true);
  for (const auto& ring : all) ring->hold_producer();
  fence_all_threads();
  // For the step in which the fence has met a thread.
  usleep(kStepUs);
}

void DrainThread::end_by_signal(int signal_number) {
  ProcessEnd::prepare();
  {
    std::unique_lock<std::mutex> lock(hold_lock_);
    held_.wait_for(lock, std::chrono::milliseconds(kHoldLimitMs), [this] { return holders_ == 0; });
  }
  ProcessEnd::hasten();
  hold_producers();
  drain_sockets();
  for (const auto& ring : rings()) ring->finish(0);
  ProcessEnd::say();
  sigaction(signal_number, &previous_[signal_number], nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  kill(getpid(), signal_number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace tracewright
