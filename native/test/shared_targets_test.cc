#include "sink/shared_targets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "check.h"
#include "sink/file_sink.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

namespace {

std::string content_of(const std::string& path) {
  std::string content;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return content;
  char part[4096];
  while (const size_t read = std::fread(part, 1, sizeof part, file)) content.append(part, read);
  std::fclose(file);
  return content;
}

}  // namespace

TEST(fragments_of_many_threads_make_one_file_that_is_always_whole) {
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
        const std::string piece = key + "=" + std::to_string(turn);
        CHECK(put_list_entry(path, key, piece, "{", "}", &failure));
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
  forget_list_entries(path);
  Failure failure;
  CHECK(put_list_entry(path, "z", "z", "[", "]", &failure));
  CHECK_EQUAL(content_of(path), "[z]");
  // No text of its own: the file is written with what is known.
  CHECK(put_list_entry(path, "", "", "<", ">", &failure));
  CHECK_EQUAL(content_of(path), "<z>");
}

TEST(replace_file_says_what_it_could_not_do) {
  TemporaryDirectory directory;
  Failure failure;
  CHECK(!replace_file(directory.path("absent/file"), "text", &failure));
  CHECK_EQUAL(failure.error, ENOENT);
  CHECK(replace_file(directory.path("file"), "one", &failure));
  CHECK(replace_file(directory.path("file"), std::string(3000000, 'x'), &failure));
  CHECK_EQUAL(content_of(directory.path("file")).size(), 3000000u);
  CHECK(!directory.holds(".file.new"));
}

TEST(replace_file_writes_to_nothing_that_was_there) {
  TemporaryDirectory directory;
  const std::string fresh = directory.path(".file.new");
  const std::string victim = directory.path("victim");
  Failure failure;
  CHECK(replace_file(victim, "precious", &failure));
  const std::function<int()> plants[] = {
      [&] { return symlink(victim.c_str(), fresh.c_str()); },
      [&] { return symlink(directory.path("absent").c_str(), fresh.c_str()); },
      [&] { return link(victim.c_str(), fresh.c_str()); },
      [&] { return mkfifo(fresh.c_str(), 0600); },
      [&] { return symlink(victim.c_str(), directory.path("file").c_str()); },
  };
  for (const std::function<int()>& plant : plants) {
    unlink(directory.path("file").c_str());
    CHECK_EQUAL(plant(), 0);
    CHECK(replace_file(directory.path("file"), "text", &failure));
    CHECK_EQUAL(content_of(directory.path("file")), "text");
    CHECK_EQUAL(content_of(victim), "precious");
    CHECK(!directory.holds(".file.new"));
    CHECK(!directory.holds("absent"));
  }
  CHECK_EQUAL(mkdir(fresh.c_str(), 0700), 0);
  CHECK(!replace_file(directory.path("file"), "new", &failure));
  CHECK_EQUAL(failure.error, EEXIST);
  CHECK_EQUAL(content_of(directory.path("file")), "text");
}

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

TEST(note_is_claimed_by_one_until_it_is_put_or_forgone) {
  int one = 0;
  int two = 0;
  CHECK(claim_note("c", &one));
  CHECK(claim_note("c", &one));
  CHECK(!claim_note("c", &two));
  forgo_notes(&one);
  CHECK(claim_note("c", &two));
  put_note("c", "");
  CHECK(claim_note("c", &one));
  put_note("c", "here");
  CHECK(!claim_note("c", &one));
}

TEST(notes_are_kept_by_name) {
  CHECK_EQUAL(get_note("a"), "");
  put_note("a", "one");
  put_note("b", "two");
  CHECK_EQUAL(get_note("a"), "one");
  put_note("a", "");
  CHECK_EQUAL(get_note("a"), "");
  CHECK_EQUAL(get_note("b"), "two");
}

}  // namespace test
}  // namespace tracewright
