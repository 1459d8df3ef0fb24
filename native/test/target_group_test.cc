#include "sink/target_group.h"

#include <cerrno>

#include "check.h"
#include "sink/sink.h"

namespace tracewright {
namespace test {

namespace {

class SwitchedSink : public Sink {
 public:
  bool drain(Ring&, uint64_t) override { return true; }
  void break_down() {
    Failure failure;
    failure.set("write", "a target", ENOSPC);
    fail(failure);
  }
  void work() { recovered(); }
  void write(uint64_t bytes) { count_bytes(bytes); }
};

class Listener : public TargetWatcher {
 public:
  void group_changed(const std::string& group) override {
    last = group;
    ++count;
  }
  int count = 0;
  std::string last;
};

}  // namespace

TEST(a_group_reports_when_its_first_sink_fails_and_when_its_last_works) {
  const auto group = TargetGroup::of("group");
  Listener listener;
  group->watch(&listener);
  {
    SwitchedSink one;
    SwitchedSink other;
    one.join(group);
    other.join(group);
    one.hold();
    other.hold();
    one.break_down();
    one.break_down();
    other.break_down();
    CHECK_EQUAL(listener.count, 1);
    CHECK_EQUAL(listener.last, "group");
    CHECK(group->state().failing);
    CHECK_EQUAL(group->state().failure.error, ENOSPC);
    one.work();
    CHECK_EQUAL(listener.count, 1);
    other.work();
    CHECK_EQUAL(listener.count, 2);
    CHECK(!group->state().failing);
    CHECK(group->state().recovered);
    // A sink that goes as it was has mended nothing.
    one.break_down();
    one.let_go();
    CHECK_EQUAL(listener.count, 4);
    CHECK(!group->state().failing);
    CHECK(!group->state().recovered);
    CHECK_EQUAL(group->counts().errors, 4u);
    other.let_go();
  }
  // The counts of sinks that are gone stay.
  CHECK_EQUAL(group->counts().errors, 4u);
  group->unwatch(&listener);
}

TEST(the_first_watcher_speaks_and_has_a_successor) {
  const auto group = TargetGroup::of("group");
  SwitchedSink sink;
  sink.join(group);
  Listener first;
  Listener second;
  group->watch(&first);
  group->watch(&second);
  CHECK(group->is_first(&first));
  CHECK(!group->is_first(&second));
  sink.break_down();
  CHECK_EQUAL(second.count, 1);
  group->unwatch(&first);
  CHECK(group->is_first(&second));
  CHECK_EQUAL(second.count, 2);
  // A watcher that comes while it fails is called at once.
  Listener third;
  group->watch(&third);
  CHECK_EQUAL(third.count, 1);
  group->unwatch(&second);
  group->unwatch(&third);
}

TEST(a_budget_counts_what_is_set_aside_and_stays_spent) {
  const auto group = TargetGroup::of("group");
  SwitchedSink sink;
  sink.join(group);
  group->limit(1000, 100);
  group->reserve(500);
  sink.write(300);
  CHECK(!sink.spent());
  sink.write(100);
  CHECK(sink.spent());
  CHECK(group->state().failing);
  CHECK_EQUAL(group->state().failure.error, EDQUOT);
  group->release(500);
  sink.work();
  CHECK(sink.spent());
  CHECK(group->state().failing);
}

}  // namespace test
}  // namespace tracewright
