#include "drain/drain_thread.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "check.h"
#include "eventually.h"
#include "producer.h"
#include "record.h"
#include "sink/file_sink.h"
#include "temporary_directory.h"
#include "test_ring.h"

// Whether this process is a forked child. What only the stacks of its parent's other threads refer
// to is no leak of it.
static bool forked = false;

// Asked by the leak sanitizer, where there is one, before it looks.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
  return forked ? 1 : 0;
}

namespace tracewright {
namespace test {

namespace {

// Waits until the thread has not come round for `ns`, which is far more than a round.
bool stands_still_for(uint64_t ns) {
  uint64_t rounds = DrainThread::instance().rounds();
  uint64_t since = Clock::monotonic();
  return eventually([&] {
    const uint64_t now = DrainThread::instance().rounds();
    if (now != rounds) {
      rounds = now;
      since = Clock::monotonic();
    }
    return Clock::monotonic() - since > ns;
  });
}

bool can_sleep_without_a_look() {
#if defined(__linux__)
  return true;
#else
  return false;
#endif
}

}  // namespace

TEST(drain_thread_sleeps_when_there_is_nothing_to_do) {
  if (!can_sleep_without_a_look()) SKIP("no fence on other threads: it looks now and then");
  TemporaryDirectory directory;
  const auto ring = open_own_file_ring(own_file_options(directory, "stream", 1 << 20));
  Producer producer(*ring, 1);
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(producer.write<Stamp::native>(100));
    CHECK(eventually([&] { return ring->tail() == ring->head(); }));
    CHECK(stands_still_for(2000000000));
  }
  ring->finish(0);
}

TEST(drain_thread_wakes_at_the_first_commit) {
  TemporaryDirectory directory;
  const auto ring = open_own_file_ring(own_file_options(directory, "stream", 1 << 20));
  Producer producer(*ring, 1);
  for (int turn = 0; turn < 5; ++turn) {
    stands_still_for(400000000);
    CHECK(producer.write<Stamp::native>(100));
    CHECK(eventually([&] { return ring->tail() == ring->head(); }));
  }
  ring->finish(0);
}

TEST(drain_thread_loses_no_wake_up) {
  // One record at a time, each awaited: a single one that is overlooked stops the test.
  TemporaryDirectory directory;
  const auto ring = open_own_file_ring(own_file_options(directory, "stream", 1 << 20));
  Producer producer(*ring, 1);
  for (uint64_t turn = 0; turn < scaled(20000); ++turn) {
    CHECK(producer.write<Stamp::native>(100));
    CHECK(ring->wait_drained(ring->head(), 60000));
  }
  ring->finish(0);
}

TEST(drain_thread_comes_when_a_ring_is_half_full) {
  TemporaryDirectory directory;
  const auto ring = open_own_file_ring(own_file_options(directory, "stream", 1 << 20));
  Producer producer(*ring, 1);
  std::vector<uint64_t> times;
  for (int turn = 0; turn < 15; ++turn) {
    CHECK(producer.write<Stamp::native>(100));
    CHECK(eventually([&] { return ring->tail() == ring->head(); }));
    // It is awake now, and would come by itself only after 80 ms.
    for (int i = 0; i < 6; ++i) CHECK(producer.write<Stamp::native>(100 << 10));
    const uint64_t from = Clock::monotonic();
    CHECK(eventually([&] { return ring->tail() == ring->head(); }));
    times.push_back(Clock::monotonic() - from);
    CHECK_EQUAL(ring->control().stalled, 0);
  }
  // A busy machine lets both threads wait, but not each time.
  CHECK(*std::min_element(times.begin(), times.end()) < 40000000);
  ring->finish(0);
}

TEST(drain_thread_serves_rings_that_come_and_go) {
  TemporaryDirectory directory;
  constexpr int kThreads = 8;
  const uint64_t turns = scaled(800);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t turn = 0; turn < turns; ++turn) {
        const std::string name = std::to_string(thread) + "-" + std::to_string(turn);
        const RingOptions options = own_file_options(directory, name, 64 << 10);
        const auto ring = open_own_file_ring(options);
        Producer producer(*ring, static_cast<uint32_t>(thread));
        const uint64_t records = turn % 1500;
        for (uint64_t i = 0; i < records; ++i) CHECK(producer.write<Stamp::native>(100));
        ring->finish(0);
        CHECK_EQUAL(survey_file(options.target, 0).records(static_cast<uint32_t>(thread)), records);
        CHECK(unlink(options.target.c_str()) == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(drain_thread_that_cannot_start_is_an_error_of_the_ring) {
#if defined(__linux__)
  if (kSlow) SKIP("sanitizers need the address space");
  TemporaryDirectory directory;
  const RingOptions options = own_file_options(directory, "stream", 64 << 10);
  Failure failure;
  const auto sink = OwnFileSink::create(options.target, "", &failure);
  // Address space for a ring, but for no thread's stack.
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  CHECK(std::fscanf(file, "%lu", &pages) == 1);
  std::fclose(file);
  rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) + (2 << 20);
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(Ring::open(options, sink, DrainThread::instance(), &failure) == nullptr);
  CHECK_EQUAL(failure.error, EAGAIN);
  CHECK(!directory.holds(".stream.ring"));
  limit.rlim_cur = before;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  const auto ring = Ring::open(options, sink, DrainThread::instance(), &failure);
  CHECK(ring != nullptr);
  Producer producer(*ring, 1);
  CHECK(producer.write<Stamp::native>(100));
  CHECK(eventually([&] { return ring->tail() == ring->head(); }));
  ring->finish(0);
#else
  SKIP("address space is not limited here");
#endif
}

TEST(drain_thread_finishes_what_is_open_at_exit) {
  TemporaryDirectory directory;
  const RingOptions options = own_file_options(directory, "stream", 1 << 20);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const auto ring = open_own_file_ring(options);
    Producer producer(*ring, 1);
    for (int i = 0; i < 1000; ++i) CHECK(producer.write<Stamp::native>(100));
    std::exit(3);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(survey_file(options.target, 0).records(1), 1000u);
  CHECK(!directory.holds(".stream.ring"));
}

TEST(drain_thread_leaves_the_rings_of_a_parent_alone) {
  TemporaryDirectory directory;
  const RingOptions options = own_file_options(directory, "stream", 1 << 20);
  const auto ring = open_own_file_ring(options);
  Producer producer(*ring, 1);
  for (int i = 0; i < 10; ++i) CHECK(producer.write<Stamp::native>(100));
  const pid_t child = fork();
  CHECK(child >= 0);
  // The exit handlers of the child are this process's; its drain thread is not there.
  if (child == 0) {
    forked = true;
    std::exit(4);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 4);
  CHECK(directory.holds(".stream.ring"));
  CHECK(producer.write<Stamp::native>(100));
  ring->finish(0);
  CHECK_EQUAL(survey_file(options.target, 0).records(1), 11u);
}

TEST(drain_thread_finishes_on_a_signal_that_then_takes_effect) {
  for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) {
    TemporaryDirectory directory;
    const RingOptions options = own_file_options(directory, "stream", 1 << 20);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      const auto ring = open_own_file_ring(options);
      Producer producer(*ring, 1);
      CHECK(DrainThread::instance().finish_on_signal(signal_number));
      CHECK(DrainThread::instance().finish_on_signal(signal_number));
      for (int i = 0; i < 1000; ++i) CHECK(producer.write<Stamp::native>(100));
      raise(signal_number);
      for (;;) pause();
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQUAL(WTERMSIG(status), signal_number);
    CHECK_EQUAL(survey_file(options.target, 0).records(1), 1000u);
    CHECK(!directory.holds(".stream.ring"));
  }
}

TEST(drain_thread_lets_a_handler_that_cleans_up_once_do_so) {
  TemporaryDirectory directory;
  const RingOptions options = own_file_options(directory, "stream", 1 << 20);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const auto ring = open_own_file_ring(options);
    Producer producer(*ring, 1);
    struct sigaction theirs {};
    theirs.sa_handler = [](int) { _exit(9); };
    theirs.sa_flags = static_cast<int>(SA_RESETHAND);
    sigfillset(&theirs.sa_mask);
    CHECK(sigaction(SIGTERM, &theirs, nullptr) == 0);
    CHECK(DrainThread::instance().finish_on_signal(SIGTERM));
    CHECK(producer.write<Stamp::native>(100));
    raise(SIGTERM);
    for (;;) pause();
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 9);
  CHECK_EQUAL(survey_file(options.target, 0).records(1), 1u);
}

TEST(drain_thread_waits_on_a_signal_for_what_must_not_be_parted) {
  TemporaryDirectory directory;
  const RingOptions options = own_file_options(directory, "stream", 1 << 20);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    DrainThread& drain_thread = DrainThread::instance();
    CHECK(drain_thread.finish_on_signal(SIGTERM));
    drain_thread.hold_signals();
    raise(SIGTERM);
    raise(SIGTERM);  // as `timeout` does, and a terminal that signals its whole group
    const auto ring = open_own_file_ring(options);
    Producer producer(*ring, 1);
    drain_thread.hold_signals();
    CHECK(producer.write<Stamp::native>(100));
    drain_thread.release_signals();
    CHECK(producer.write<Stamp::native>(100));
    drain_thread.release_signals();
    drain_thread.hold_signals();  // too late: never comes back
    _exit(1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK_EQUAL(WTERMSIG(status), SIGTERM);
  CHECK_EQUAL(survey_file(options.target, 0).records(1), 2u);
  CHECK(!directory.holds(".stream.ring"));
}

TEST(drain_thread_outlives_a_signal_to_a_forked_child) {
#if defined(__SANITIZE_THREAD__)
  SKIP("the thread sanitizer runs no handler in a child of several threads");
#endif
  TemporaryDirectory directory;
  const RingOptions options = own_file_options(directory, "stream", 1 << 20);
  const pid_t parent = fork();
  CHECK(parent >= 0);
  if (parent == 0) {
    const auto ring = open_own_file_ring(options);
    Producer producer(*ring, 1);
    CHECK(DrainThread::instance().finish_on_signal(SIGTERM));
    CHECK(producer.write<Stamp::native>(100));
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      raise(SIGTERM);
      for (;;) pause();
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    usleep(100 * 1000);  // for the thread to end this process, if the signal came to it
    CHECK(producer.write<Stamp::native>(100));
    exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 9 : 1);
  }
  int status = 0;
  CHECK(waitpid(parent, &status, 0) == parent);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 9);
  CHECK_EQUAL(survey_file(options.target, 0).records(1), 2u);
}

TEST(drain_thread_takes_no_signal_that_the_program_handles) {
  signal(SIGTERM, SIG_IGN);
  CHECK(!DrainThread::instance().finish_on_signal(SIGTERM));
  struct sigaction theirs {};
  theirs.sa_handler = [](int) {};
  CHECK(sigaction(SIGTERM, &theirs, nullptr) == 0);
  CHECK(!DrainThread::instance().finish_on_signal(SIGTERM));
  theirs.sa_sigaction = [](int, siginfo_t*, void*) {};
  theirs.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGTERM, &theirs, nullptr) == 0);
  CHECK(!DrainThread::instance().finish_on_signal(SIGTERM));
  struct sigaction now {};
  CHECK(sigaction(SIGTERM, nullptr, &now) == 0);
  CHECK(now.sa_sigaction == theirs.sa_sigaction);
}

}  // namespace test
}  // namespace tracewright
