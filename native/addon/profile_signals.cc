#include "addon/profile_signals.h"

#include <cerrno>
#include <csignal>
#include <mutex>
#include <new>

#include "clock/clock.h"

namespace tracewright {

namespace {

// Threads that are profiled at the same time. A handler cannot ask for memory of its thread: that
// may allocate.
constexpr size_t kMostThreads = 256;
struct Place {
  std::atomic<bool> used{false};
  std::atomic<pthread_t> thread{};
  std::atomic<ProfileSignals*> signals{nullptr};
};
Place places[kMostThreads];
std::atomic<size_t> places_used{0};

std::mutex mutex;
// What was there before; set once.
std::atomic<void (*)(int, siginfo_t*, void*)> next{nullptr};

}  // namespace

std::unique_ptr<ProfileSignals> ProfileSignals::start(const ActiveSpan& span) {
  std::unique_ptr<ProfileSignals> self(new (std::nothrow)
                                           ProfileSignals(span, new (std::nothrow) Taken[kMost]));
  if (self == nullptr || self->taken_ == nullptr) return nullptr;
  for (size_t at = 0; at < kMostThreads; ++at) {
    bool is_used = false;
    if (!places[at].used.compare_exchange_strong(is_used, true)) continue;
    self->place_ = at;
    places[at].thread.store(pthread_self());
    places[at].signals.store(self.get());
    size_t used = places_used.load();
    while (used <= at && !places_used.compare_exchange_weak(used, at + 1)) {
    }
    return self;
  }
  self->place_ = kMostThreads;
  return nullptr;
}

ProfileSignals::~ProfileSignals() {
  if (place_ == kMostThreads || places[place_].signals.load() != this) return;
  places[place_].signals.store(nullptr);
  places[place_].thread.store(pthread_t{});
  places[place_].used.store(false);
}

void ProfileSignals::chain() {
  const std::lock_guard<std::mutex> lock(mutex);
  struct sigaction now {};
  if (sigaction(SIGPROF, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0) return;
  // Another profiler may have put its handler before ours: to be before that again has no end.
  const auto known = next.load();
  if (now.sa_sigaction == on_signal || (known != nullptr && known != now.sa_sigaction)) return;
  next.store(now.sa_sigaction);
  struct sigaction ours = now;
  ours.sa_sigaction = on_signal;
  sigaction(SIGPROF, &ours, nullptr);
}

ProfileSignals* ProfileSignals::of_thread() {
  const pthread_t self = pthread_self();
  const size_t used = places_used.load(std::memory_order_acquire);
  for (size_t at = 0; at < used; ++at) {
    if (places[at].thread.load(std::memory_order_relaxed) == self)
      return places[at].signals.load(std::memory_order_relaxed);
  }
  return nullptr;
}

void ProfileSignals::on_signal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  ProfileSignals* const self = of_thread();
  const auto other = next.load();
  const uint32_t head = self == nullptr ? 0 : self->head_.load(std::memory_order_relaxed);
  if (self == nullptr || head - self->tail_ == kMost) {
    other(number, info, context);
    errno = error;
    return;
  }
  Taken& taken = self->taken_[head % kMost];
  taken.high = taken.low = 0;
  self->span_.read(taken.high, taken.low);
  taken.before = Clock::monotonic();
  other(number, info, context);
  taken.after = Clock::monotonic();
  self->head_.store(head + 1, std::memory_order_release);
  errno = error;
}

}  // namespace tracewright
