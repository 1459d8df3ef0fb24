#include "file/replace_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "check.h"
#include "file_content.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

TEST(replace_file_reports_what_it_could_not_do) {
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

}  // namespace test
}  // namespace tracewright
