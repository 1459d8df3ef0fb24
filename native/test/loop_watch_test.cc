#include "loop/loop_watch.h"

#include <atomic>
#include <random>
#include <thread>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "opener.h"
#include "record.h"
#include "sink/file_sink.h"
#include "temporary_directory.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint32_t kStartAt = 16;  // a record's number
constexpr uint32_t kCauseAt = 24;
constexpr uint32_t kCauses = 0x636f6465;

// A ring with a place for the stalls of a loop, and the watch over that loop.
class Stage {
 public:
  Stage() {
    RingOptions options = shared_options(TargetKind::shared_file, 64 << 10);
    options.target = directory_.path("trace");
    options.path = directory_.path(".trace.0.ring");
    options.epoch = Clock::monotonic() - 1000 * kMs;
    options.open_records = open_record_options(4);
    Failure failure;
    const auto sink = SharedFileSink::create(options.target, "", true, {}, &failure);
    CHECK(sink != nullptr);
    sink->hold();
    ring_ = open_ring(options, sink);
  }

  ~Stage() {
    if (watch) DrainThread::instance().loops().remove(watch.get());
    ring_->finish(0);
  }

  // On the loop's thread.
  void begin(uint64_t limit_ms, bool has_spans = true) {
    watch = std::make_shared<LoopWatch>(limit_ms * kMs, 0, has_spans,
                                        DrainThread::instance().loops().lost());
    CHECK(DrainThread::instance().watch(watch));
    prepare();
  }

  // A turn ends, and another begins at once.
  uint32_t turn() {
    const uint32_t reports = watch->turn();
    watch->wait();
    if (watch->enter()) DrainThread::instance().look_at_loops();
    return reports;
  }

  void prepare(uint32_t length = kLongestOpen, uint32_t text_at = 0) {
    PreparedRecord record;
    record.ring = ring_;
    record.at = sizeof(OpenRecord);
    record.state = length;
    record.text_at = text_at;
    record.start_at = kStartAt;
    record.cause_at = kCauseAt;
    for (uint32_t i = 0; i < kStallCauses; ++i) record.causes[i] = kCauses + i;
    watch->prepare(record);
  }

  // Spans of the thread that are open.
  void open_spans(int32_t count) {
    reinterpret_cast<ControlPage*>(ring_->mapping())->open_records.store(count);
  }

  // The record that counts; 0: none does.
  uint32_t state() const { return head().state.load(); }
  uint64_t start() const { return u32_at(kStartAt) << 32 | u32_at(kStartAt + 4); }
  StallCause cause() const { return static_cast<StallCause>(u32_at(kCauseAt) - kCauses); }
  uint64_t since_epoch(uint64_t ns) const { return ns - ring_->options().epoch; }
  std::string text(uint32_t at, size_t bytes) const {
    return std::string(reinterpret_cast<const char*>(&head() + 1) + at, bytes);
  }
  void finish() { ring_->finish(0); }

  std::shared_ptr<LoopWatch> watch;

 private:
  OpenRecord& head() const {
    return *reinterpret_cast<OpenRecord*>(ring_->mapping() + kControlBytes);
  }
  uint64_t u32_at(uint32_t at) const {
    // The drain thread has it while it writes.
    const auto held = ring_->hold_still();
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&head() + 1) + at;
    return uint64_t{bytes[0]} << 24 | uint64_t{bytes[1]} << 16 | uint64_t{bytes[2]} << 8 | bytes[3];
  }

  TemporaryDirectory directory_;
  std::shared_ptr<Ring> ring_;
};

void spin_cpu(uint64_t ms) {
  const uint64_t until = Clock::cpu(true) + ms * kMs;
  while (Clock::cpu(true) < until) {
  }
}

}  // namespace

TEST(loop_watch_asks_a_thread_that_stalls_and_tells_prompt_answers_from_late_ones) {
  Stage stage;
  static std::atomic<int> asked{0};
  constexpr uint32_t kShort = kCauseAt + 4;
  std::thread thread([&] {
    stage.begin(20);
    stage.watch->ask_by([](void*) { ++asked; }, nullptr);
    stage.prepare(kShort, kShort + 4);
    CHECK_EQUAL(stage.turn(), 0u);
    CHECK(stage.watch->answer() == LoopWatch::Answer::none);
    while (asked.load() == 0) {
    }
    CHECK(stage.watch->answer() == LoopWatch::Answer::prompt);
    CHECK(eventually([&] { return stage.state() == kShort; }));
    stage.watch->put_text("at f (x:1:1)");
    CHECK_EQUAL(stage.state(), kShort + 4 + 2 + 12);
    // As much as has room, and no part of a line.
    stage.watch->put_text("at f\nat " + std::string(kLongestOpen, 'g'));
    CHECK_EQUAL(stage.state(), kShort + 4 + 2 + 4);
    CHECK_EQUAL(stage.text(kShort + 4 + 2, 4), "at f");
    // No text replaces nothing.
    stage.watch->put_text("");
    CHECK_EQUAL(stage.state(), kShort + 4 + 2 + 4);
    while (asked.load() == 1) {
    }
    spin_cpu(2);
    CHECK(stage.watch->answer() == LoopWatch::Answer::late);
    while (asked.load() == 2) {
    }
    CHECK_EQUAL(stage.turn(), LoopWatch::kStall);
    CHECK(stage.watch->answer() == LoopWatch::Answer::none);
    stage.watch->resume();
  });
  thread.join();
}

TEST(loop_watch_records_a_stall_while_it_lasts) {
  Stage stage;
  std::atomic<bool> over{false};
  std::atomic<uint64_t> begun{0};
  std::thread thread([&] {
    stage.begin(50);
    CHECK_EQUAL(stage.turn(), 0u);
    begun.store(Clock::monotonic());
    while (!over.load()) {
    }
    CHECK_EQUAL(stage.turn(), LoopWatch::kStall);
    const Stall& stall = stage.watch->stall();
    CHECK(stall.recorded);
    CHECK(stall.cause == StallCause::code || stall.cause == StallCause::held);
    CHECK(stall.to - stall.from > 50 * kMs);
    CHECK(stall.cpu > 0);
    stage.watch->resume();
    CHECK_EQUAL(stage.state(), 0u);
    stage.prepare();
    CHECK_EQUAL(stage.turn(), 0u);
  });
  CHECK(eventually([&] { return stage.state() != 0; }));
  CHECK_EQUAL(stage.state(), kLongestOpen);
  const uint64_t expected = stage.since_epoch(begun.load());
  CHECK(stage.start() + 20 * kMs > expected && stage.start() < expected + 20 * kMs);
  CHECK(eventually([&] { return stage.cause() == StallCause::code; }));
  over.store(true);
  thread.join();
}

TEST(loop_watch_tells_a_thread_that_sleeps_from_one_that_runs) {
  Stage stage;
  std::atomic<bool> over{false};
  std::thread thread([&] {
    stage.begin(50);
    stage.open_spans(1);
    stage.turn();
    while (!over.load()) pause_us(1000);
    CHECK_EQUAL(stage.turn(), LoopWatch::kStall);
  });
  CHECK(eventually([&] { return stage.state() != 0; }));
  CHECK(eventually([&] { return stage.cause() == StallCause::wait; }));
  over.store(true);
  thread.join();
}

TEST(loop_watch_lets_a_thread_without_an_open_span_sleep) {
  Stage stage;
  std::thread thread([&] {
    stage.begin(50);
    stage.turn();
    pause_us(400000);
    CHECK_EQUAL(stage.state(), 0u);
    CHECK_EQUAL(stage.turn(), 0u);
    // It sleeps for work, and then has some.
    pause_us(400000);
    const uint64_t begun = Clock::monotonic();
    spin_cpu(100);
    CHECK_EQUAL(stage.turn(), LoopWatch::kStall);
    const Stall& stall = stage.watch->stall();
    CHECK(stall.to - stall.from > 90 * kMs);
    // Less two looks, of which nobody knows what the thread did meanwhile.
    CHECK(stall.from + 200 * kMs > begun);
    stage.watch->resume();
  });
  thread.join();
}

TEST(loop_watch_without_spans_believes_a_thread_that_rests) {
  Stage stage;
  std::thread thread([&] {
    // Long: the first look comes after half of it, and the drain thread may get no CPU for as long.
    stage.begin(2000, false);
    stage.turn();
    stage.watch->wait();
    pause_us(4500000);
    CHECK_EQUAL(stage.state(), 0u);
    stage.watch->enter();
    CHECK_EQUAL(stage.turn(), 0u);
    pause_us(4500000);
    CHECK_EQUAL(stage.turn(), LoopWatch::kStall);
    stage.watch->resume();
  });
  thread.join();
}

TEST(loop_watch_leaves_a_waiting_loop_alone_and_the_drain_thread_asleep) {
  Stage stage;
  std::thread thread([&] {
    stage.begin(20);
    // A watch begins asleep, until the drain thread has looked or code runs.
    stage.turn();
    stage.watch->turn();
    stage.watch->wait();
    CHECK(eventually([&] { return stage.watch->asleep(); }));
    CHECK_EQUAL(stage.state(), 0u);
    // The first code that runs wakes it.
    CHECK(stage.watch->enter());
    DrainThread::instance().look_at_loops();
    spin_cpu(200);
    CHECK_EQUAL(stage.turn(), LoopWatch::kStall);
    CHECK(stage.watch->stall().recorded);
    stage.watch->resume();
  });
  thread.join();
}

TEST(loop_watch_leaves_a_stall_to_what_ends_the_stream) {
  Stage stage;
  std::atomic<bool> over{false};
  std::thread thread([&] {
    stage.begin(20);
    stage.turn();
    while (!over.load()) {
    }
  });
  CHECK(eventually([&] { return stage.state() != 0; }));
  stage.finish();
  // Written, and its place is free.
  CHECK_EQUAL(stage.state(), 0u);
  over.store(true);
  thread.join();
}

TEST(loop_watch_agrees_with_the_drain_thread_on_each_stall) {
  Stage stage;
  std::thread thread([&] {
    stage.begin(2);
    std::mt19937 random(7);
    uint64_t stalls = 0;
    uint64_t recorded = 0;
    for (uint64_t i = 0; i < scaled(1600); ++i) {
      const uint64_t busy = random() % 4000;
      const uint64_t from = Clock::monotonic();
      while (Clock::monotonic() < from + busy * 1000) {
      }
      const uint32_t reports = stage.turn();
      if (reports != 0) {
        ++stalls;
        const Stall& stall = stage.watch->stall();
        CHECK(stall.to - stall.from > 2 * kMs);
        if (stall.recorded) {
          ++recorded;
          CHECK_EQUAL(stage.state(), kLongestOpen);
          stage.watch->resume();
          CHECK_EQUAL(stage.state(), 0u);
        }
        // Otherwise the drain thread may be about to record it, and withdraws that.
        stage.prepare();
      }
    }
    CHECK(stalls > 0);
    CHECK(recorded > 0);
    // No turn leaves anything that counts.
    stage.watch->turn();
    stage.watch->resume();
    stage.watch->wait();
    CHECK(eventually([&] { return stage.state() == 0; }));
  });
  thread.join();
}

namespace {

// A turn of `busy_ms` after the loop has waited for `wait_ms`; returns what is reported at its end.
uint32_t turn_after(LoopWatch& watch, uint64_t wait_ms, uint64_t busy_ms) {
  watch.wait();
  pause_us(wait_ms * 1000);
  watch.enter();
  const uint64_t until = Clock::monotonic() + busy_ms * kMs;
  while (Clock::monotonic() < until) {
  }
  return watch.turn();
}

}  // namespace

// The times are those that the thread gives, so that no other load of the machine matters.
TEST(lost_time_is_what_the_thread_neither_worked_nor_waited_for_a_cpu) {
  LostTime lost;
  lost.note_own();
  const uint64_t now = Clock::monotonic();
  // Stopped for most of a second: nobody knows when in the wait.
  lost.expect(now, now + 25 * kMs);
  lost.expect(now + 900 * kMs, 0);
  CHECK_EQUAL(lost.by(now + 900 * kMs), 900 * kMs);
  // As late as that, but at work.
  lost.note_own();
  lost.expect(now + 1000 * kMs, now + 1000 * kMs);
  spin_cpu(100);
  lost.expect(now + 1100 * kMs, 0);
  CHECK_EQUAL(lost.by(now + 1100 * kMs), 900 * kMs);
  // A little late, as threads usually are.
  lost.expect(now + 1200 * kMs, now + 1225 * kMs);
  lost.expect(now + 1229 * kMs, 0);
  CHECK_EQUAL(lost.by(now + 1229 * kMs), 900 * kMs);
}

TEST(loop_watch_samples_turns_and_leaves_out_idle_time) {
  const LostTime lost;
  LoopWatch watch(10000 * kMs, 100 * kMs, true, lost);
  // The first sample begins with the first turn.
  CHECK_EQUAL(turn_after(watch, 1, 1), 0u);
  // Turns of 20 ms, and waits in between, until a sample is due.
  uint32_t reports = 0;
  for (int i = 0; i < 10 && reports == 0; ++i) reports = turn_after(watch, 5, 20);
  CHECK_EQUAL(reports, LoopWatch::kSample);
  const LoopSample busy = watch.sample();
  CHECK(busy.to - busy.from >= 100 * kMs);
  CHECK(busy.turns >= 3 && busy.turns <= 6);
  CHECK(busy.busy >= (busy.turns - 1) * 20 * kMs && busy.busy <= busy.to - busy.from);
  CHECK(busy.longest >= 20 * kMs && busy.longest <= busy.busy);
  // An event waits for half of what is left of the turns.
  CHECK(busy.delay <= busy.longest / 2 &&
        busy.delay >= (busy.turns - 1) * 20 * kMs * 10 * kMs / (busy.to - busy.from));
  CHECK_EQUAL(turn_after(watch, 1, 5), 0u);
  // The loop was idle: the sample ends before that.
  const uint64_t before = Clock::monotonic();
  CHECK_EQUAL(turn_after(watch, 300, 1), LoopWatch::kSample);
  const LoopSample idle = watch.sample();
  CHECK_EQUAL(idle.from, busy.to);
  CHECK_EQUAL(idle.turns, 1u);
  CHECK(idle.to - idle.from >= 100 * kMs && idle.to < before + 200 * kMs);
  // The next one begins with the first code.
  reports = 0;
  for (int i = 0; i < 20 && reports == 0; ++i) reports = turn_after(watch, 5, 10);
  CHECK_EQUAL(reports, LoopWatch::kSample);
  CHECK(watch.sample().from >= before + 300 * kMs);
  // It has been idle since: there is nothing to sample.
  CHECK_EQUAL(turn_after(watch, 300, 1), 0u);
}

}  // namespace test
}  // namespace tracewright
