#include "process/notes.h"

#include "check.h"

namespace tracewright {
namespace test {

TEST(note_is_claimed_by_one_until_it_is_put_or_released) {
  int one = 0;
  int two = 0;
  CHECK(claim_note("c", &one));
  CHECK(claim_note("c", &one));
  CHECK(!claim_note("c", &two));
  release_claims(&one);
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
