#include "process/shared_list_file.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "file_content.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

TEST(entries_of_many_threads_make_one_file_that_is_always_whole) {
  TemporaryDirectory directory;
  const std::string path = directory.path("metadata.json");
  constexpr int kThreads = 8;
  const int turns = static_cast<int>(scaled(400));
  std::atomic<bool> done{false};
  std::thread reader([&] {
    bool seen = false;
    while (!done.load()) {
      const std::string content = content_of(path);
      seen = seen || !content.empty();
      if (!seen) continue;
      CHECK_EQUAL(content.substr(0, 1), "{");
      CHECK_EQUAL(content.substr(content.size() - 1), "}");
    }
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string key = "k" + std::to_string(thread);
      for (int turn = 0; turn < turns; ++turn) {
        Failure failure;
        const std::string entry = key + "=" + std::to_string(turn);
        CHECK(put_list_entry(path, key, entry, "{", "}", &failure));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done.store(true);
  reader.join();
  std::string wanted = "{";
  for (int thread = 0; thread < kThreads; ++thread) {
    wanted += (thread == 0 ? "k" : ",k") + std::to_string(thread) + "=" + std::to_string(turns - 1);
  }
  CHECK_EQUAL(content_of(path), wanted + "}");
}

}  // namespace test
}  // namespace tracewright
