#include "file/anchor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "file/replace_file.h"
#include "file_content.h"
#include "pieces.h"
#include "sink/piece_series.h"
#include "temporary_directory.h"

namespace tracewright {
namespace test {

namespace {

bool exists(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0;
}

// Puts a link to `other` in the place of a directory, which is moved to `aside`.
void swap_by_link(const std::string& directory, const std::string& aside,
                  const std::string& other) {
  CHECK(rename(directory.c_str(), aside.c_str()) == 0);
  CHECK(symlink(other.c_str(), directory.c_str()) == 0);
}

}  // namespace

TEST(files_go_to_the_directory_that_is_held_whatever_lies_at_its_path) {
  const TemporaryDirectory place;
  const std::string run = place.path("run");
  CHECK(mkdir(run.c_str(), 0700) == 0);
  CHECK(mkdir(place.path("victim").c_str(), 0700) == 0);
  Failure failure;
  const auto anchor = Anchor::hold(run, true, &failure);
  CHECK(anchor != nullptr);
  CHECK(Anchor::hold(run + "/", true, &failure) == anchor);
  swap_by_link(run, place.path("moved"), place.path("victim"));

  CHECK(replace_file(run + "/file", "text", &failure));
  CHECK(content_of(place.path("moved/file")) == "text");
  CHECK(rename_file(run + "/file", run + "/other") == 0);
  struct stat about {};
  CHECK(status_of(run + "/other", &about) == 0);
  CHECK(!exists(place.path("victim/file")) && !exists(place.path("victim/other")));
  CHECK(unlink_file(run + "/other") == 0);
  CHECK(!exists(place.path("moved/other")));
}

TEST(a_directory_that_was_deleted_is_held_again_but_no_link) {
  const TemporaryDirectory place;
  const std::string run = place.path("run");
  CHECK(mkdir(run.c_str(), 0700) == 0);
  Failure failure;
  const auto anchor = Anchor::hold(run, true, &failure);
  CHECK(anchor != nullptr);
  CHECK(rmdir(run.c_str()) == 0);
  CHECK(mkdir(place.path("victim").c_str(), 0700) == 0);
  CHECK(symlink(place.path("victim").c_str(), run.c_str()) == 0);
  CHECK(!replace_file(run + "/file", "text", &failure));
  CHECK(!exists(place.path("victim/file")));
  CHECK(unlink(run.c_str()) == 0 && mkdir(run.c_str(), 0700) == 0);
  CHECK(replace_file(run + "/file", "text", &failure));
  CHECK(exists(run + "/file"));
}

TEST(a_link_and_a_directory_of_another_user_are_not_held) {
  const TemporaryDirectory place;
  Failure failure;
  CHECK(symlink("/tmp", place.path("link").c_str()) == 0);
  CHECK(Anchor::hold(place.path("link"), true, &failure) == nullptr);
  CHECK(Anchor::hold(place.path("link"), false, &failure) != nullptr);
  CHECK(Anchor::hold(place.path("absent"), false, &failure) == nullptr);
  if (geteuid() != 0) return;
  CHECK(mkdir(place.path("other").c_str(), 0777) == 0);
  CHECK(chown(place.path("other").c_str(), 65534, 65534) == 0);
  CHECK(Anchor::hold(place.path("other"), true, &failure) == nullptr);
  CHECK(failure.error == EPERM);
}

TEST(pieces_are_made_and_deleted_in_the_directory_that_was_opened) {
  const TemporaryDirectory place;
  const std::string run = place.path("run");
  CHECK(mkdir(run.c_str(), 0700) == 0);
  CHECK(mkdir(place.path("victim").c_str(), 0700) == 0);
  Failure failure;
  for (const char* name : {"victim/trace.000001.heph", "victim/trace.000002.heph"}) {
    CHECK(replace_file(place.path(name), "precious", &failure));
  }
  PieceSeries series(piece_names(run + "/trace.heph"));
  CHECK(series.create_next("first", &failure) != nullptr);
  swap_by_link(run, place.path("moved"), place.path("victim"));
  const auto piece = series.create_next("second", &failure);
  CHECK(piece != nullptr && piece->number == 2);
  CHECK(content_of(place.path("moved/trace.000002.heph")) == "second");
  CHECK(!series.shrink_others_to(0, 3) || !exists(place.path("moved/trace.000001.heph")));
  CHECK(content_of(place.path("victim/trace.000001.heph")) == "precious");
  CHECK(content_of(place.path("victim/trace.000002.heph")) == "precious");
  CHECK(!exists(place.path("victim/trace.000003.heph")));
}

TEST(rings_of_another_user_keep_no_piece) {
  if (geteuid() != 0) return;
  const TemporaryDirectory place;
  const TemporaryDirectory rings;
  Failure failure;
  PieceSeries series(piece_names(place.path("trace.heph"), rings.path("")));
  CHECK(series.create_next("first", &failure) != nullptr);
  const std::string forged = rings.path(".trace.000001.heph.1-1-1.ring");
  CHECK(replace_file(forged, "", &failure));
  CHECK(!series.shrink_others_to(0, 2));
  CHECK(chown(forged.c_str(), 65534, 65534) == 0);
  CHECK(series.shrink_others_to(0, 2));
}

}  // namespace test
}  // namespace tracewright
