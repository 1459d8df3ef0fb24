#include "ring/remembered_groups.h"

#include "check.h"

namespace tracewright {
namespace test {

namespace {

constexpr uint64_t kUnit = 1 << 24;
constexpr uint32_t kSets = 4;

}  // namespace

TEST(groups_are_remembered_by_both_words) {
  RememberedGroups groups(kSets);
  groups.add(1, 2, kUnit, 7);
  CHECK_EQUAL(groups.find(1, 2)->reason, 7u);
  CHECK_EQUAL(groups.find(1, 2)->decided_at(), 2 * kUnit);
  CHECK(groups.find(1, 6) == nullptr);
  CHECK(groups.find(2, 2) == nullptr);
  CHECK(groups.find(0, 0) == nullptr);
}

TEST(groups_are_remembered_by_their_last_decision) {
  RememberedGroups groups(kSets);
  for (uint32_t i = 1; i <= 12; ++i) groups.add(1, 2, i * kUnit, i);
  CHECK_EQUAL(groups.find(1, 2)->reason, 12u);
}

TEST(groups_are_forgotten_for_others_of_their_set) {
  RememberedGroups groups(kSets);
  for (uint32_t i = 1; i <= 8; ++i) groups.add(i, 2, i * kUnit, 0);
  CHECK(groups.find(1, 2) != nullptr);
  // One that was decided before the oldest of them would have been forgotten.
  CHECK(groups.may_have_forgotten(2, kUnit));
  CHECK(!groups.may_have_forgotten(2, 2 * kUnit));
  CHECK(!groups.may_have_forgotten(3, 0));
  groups.add(9, 6, 9 * kUnit, 0);
  CHECK(groups.find(1, 2) == nullptr);
  CHECK(!groups.may_have_forgotten(2, 3 * kUnit));
}

}  // namespace test
}  // namespace tracewright
