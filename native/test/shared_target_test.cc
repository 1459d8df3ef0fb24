#include "sink/shared_target.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "sink/file_sink.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

TEST(target_is_made_once_and_closed_by_the_last) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace");
  for (uint64_t turn = 0; turn < scaled(320); ++turn) {
    std::atomic<int> made{0};
    std::atomic<int> joined{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        Failure failure;
        const auto target = join_target(
            path,
            [&](Failure* why) {
              made.fetch_add(1);
              auto fresh = std::make_shared<SharedTarget>();
              fresh->sink = SharedFileSink::create(path, "", true, {}, why);
              return fresh;
            },
            &failure);
        CHECK(target != nullptr);
        joined.fetch_add(1);
        // Nobody lets go before all are there.
        while (joined.load() < 4) std::this_thread::yield();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_EQUAL(made.load(), 1);
  }
}

TEST(target_that_cannot_be_made_can_be_tried_again) {
  TemporaryDirectory directory;
  const std::string path = directory.path("absent/trace");
  const auto make = [&](Failure* why) {
    auto fresh = std::make_shared<SharedTarget>();
    fresh->sink = SharedFileSink::create(path, "", false, {}, why);
    return fresh->sink ? fresh : nullptr;
  };
  Failure failure;
  CHECK(join_target(path, make, &failure) == nullptr);
  CHECK_EQUAL(failure.error, ENOENT);
  CHECK(join_target(path, make, &failure) == nullptr);
}

TEST(target_that_is_kept_outlives_its_holders) {
  TemporaryDirectory directory;
  const std::string path = directory.path("trace");
  int made = 0;
  const auto join = [&] {
    Failure failure;
    return join_target(
        path,
        [&](Failure* why) {
          ++made;
          auto fresh = std::make_shared<SharedTarget>();
          fresh->sink = SharedFileSink::create(path, "", true, {}, why);
          return fresh;
        },
        &failure);
  };
  join()->sink->let_go();
  auto holder = join();
  CHECK_EQUAL(made, 2);
  keep_target(path);
  keep_target(path);
  holder->sink->let_go();
  CHECK(!holder->sink->abandoned());
  holder.reset();
  join()->sink->let_go();
  CHECK_EQUAL(made, 2);
}

}  // namespace test
}  // namespace tracewright
