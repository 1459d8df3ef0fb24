#include "file/hidden_name.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "process/free_descriptors.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

namespace {

void make(const std::string& directory) {
  CHECK(mkdir(directory.c_str(), 0700) == 0);
}

void put(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  CHECK(fd != -1);
  close(fd);
}

}  // namespace

TEST(a_hidden_name_is_found_at_any_depth_and_behind_no_link) {
  const TemporaryDirectory place;
  for (const char* name : {"run", "run/loom", "run/loom/proc", "other"}) make(place.path(name));
  put(place.path("run/loom/proc/stream.obs"));
  put(place.path("other/.stream.ring"));
  CHECK(symlink(place.path("other").c_str(), place.path("run/link").c_str()) == 0);
  Failure failure;
  CHECK(!has_hidden_name(place.path("run"), "metadata.json", &failure));
  CHECK(has_hidden_name(place.path("run"), "stream.obs", &failure));
  put(place.path("run/loom/proc/.stream.ring"));
  CHECK(has_hidden_name(place.path("run"), "metadata.json", &failure));
  CHECK(failure.error == 0);
}

TEST(what_cannot_be_listed_is_a_failure) {
  const TemporaryDirectory place;
  Failure failure;
  CHECK(!has_hidden_name(place.path("missing"), "a", &failure));
  CHECK(failure.error == ENOENT);
  std::string deep = place.path("deep");
  make(deep);
  for (int i = 0; i < 20; ++i) make(deep += "/a");
  CHECK(!has_hidden_name(place.path("deep"), "b", &failure));
  CHECK(failure.error == ELOOP);
}

TEST(free_descriptors_are_those_that_can_still_be_opened) {
  const double before = free_descriptors();
  const int fd = open("/dev/null", O_RDONLY);
  CHECK(fd != -1);
  const double after = free_descriptors();
  close(fd);
#if defined(__linux__)
  CHECK(after == before - 1);
#else
  CHECK(after == before);
#endif
}

}  // namespace test
}  // namespace tracewright
