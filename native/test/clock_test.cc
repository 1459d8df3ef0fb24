#include "clock/clock.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "eventually.h"

namespace tracewright {
namespace test {

namespace {

// What the clock may be off from the kernel's: an error beyond this is stepped over.
constexpr uint64_t kBoundNs = 100000;

// No drain thread runs in these tests, so that the calling thread may anchor.
void anchor_for(uint64_t ns) {
  const uint64_t until = Clock::monotonic() + ns;
  while (Clock::monotonic() < until) {
    Clock::instance().anchor();
    pause_us(50000);
  }
}

}  // namespace

TEST(clock_is_the_kernels_before_its_first_line) {
  for (int i = 0; i < 1000; ++i) {
    const uint64_t before = Clock::monotonic();
    const uint64_t now = Clock::instance().now();
    const uint64_t after = Clock::monotonic();
    CHECK(before <= now && now <= after);
  }
}

TEST(clock_stays_within_its_bound) {
  Clock& clock = Clock::instance();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        const uint64_t before = Clock::monotonic();
        const uint64_t now = clock.now();
        const uint64_t after = Clock::monotonic();
        CHECK(now + kBoundNs >= before);
        CHECK(now <= after + kBoundNs);
      }
    });
  }
  anchor_for(2000000000);
  done.store(true);
  for (std::thread& reader : readers) reader.join();
}

TEST(clock_survives_anchors_without_pause) {
  // Too near to each other to give a rate, most of them; readers run against every one.
  Clock& clock = Clock::instance();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load(std::memory_order_relaxed)) {
      const uint64_t before = Clock::monotonic();
      CHECK(clock.now() + kBoundNs >= before);
    }
  });
  const uint64_t until = Clock::monotonic() + 1000000000;
  while (Clock::monotonic() < until) clock.anchor();
  done.store(true);
  reader.join();
}

TEST(clock_asks_the_kernel_once_its_line_is_old) {
  Clock& clock = Clock::instance();
  anchor_for(300000000);
  pause_us(1200000);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t before = Clock::monotonic();
    const uint64_t now = clock.now();
    const uint64_t after = Clock::monotonic();
    CHECK(before <= now && now <= after);
  }
  // And finds a line again.
  anchor_for(200000000);
  const uint64_t before = Clock::monotonic();
  const uint64_t now = clock.now();
  CHECK(now + kBoundNs >= before && now <= Clock::monotonic() + kBoundNs);
}

}  // namespace test
}  // namespace tracewright
