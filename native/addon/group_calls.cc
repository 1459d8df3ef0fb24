#include "addon/arguments.h"
#include "addon/calls.h"
#include "addon/environment.h"
#include "drain/drain_thread.h"
#include "sink/loss_report.h"
#include "sink/sink.h"
#include "sink/target_group.h"

namespace tracewright {

namespace {

// Of every sink that belongs or belonged to a group, and of their rings.
Napi::Value group_counts(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto group = TargetGroup::of(string_of(info[0]));
  TargetGroup::Counts counts;
  const Backlog backlog = DrainThread::instance().backlog_of(
      [&](const Ring& each) { return sink_of(each).group() == group.get(); },
      [&] { counts = group->counts(); });
  Napi::Object result = Napi::Object::New(env);
  const auto put = [&](const char* name, double value) {
    result[name] = Napi::Number::New(env, value);
  };
  put("bytes", static_cast<double>(counts.bytes));
  put("pendingBytes", static_cast<double>(backlog.bytes));
  put("leftBytes", static_cast<double>(counts.left_bytes));
  put("droppedRecords", backlog.dropped + static_cast<double>(counts.dropped_records));
  put("refusedRecords", backlog.refused + static_cast<double>(counts.refused_records));
  put("lostRecords", static_cast<double>(counts.lost_records));
  put("errors", static_cast<double>(counts.errors));
  const Failure failure = group->state().failure;
  if (failure.error != 0) {
    result["lastError"] = Napi::String::New(env, failure.text());
  }
  return result;
}

Napi::Value group_state(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto group = TargetGroup::of(string_of(info[0]));
  const TargetGroup::State state = group->state();
  Napi::Object result = Napi::Object::New(env);
  result["failing"] = Napi::Boolean::New(env, state.failing);
  result["spent"] = Napi::Boolean::New(env, group->spent());
  result["recovered"] = Napi::Boolean::New(env, state.recovered);
  result["changes"] = Napi::Number::New(env, static_cast<double>(state.changes));
  result["first"] = Napi::Boolean::New(env, group->is_first(&environment(env).changes));
  result["errno"] = Napi::Number::New(env, state.failure.error);
  result["message"] =
      Napi::String::New(env, state.failure.error == 0 ? std::string() : state.failure.text());
  return result;
}

// leaveToProgram(group): it hears of what the group loses by its own handler.
Napi::Value leave_to_program(const Napi::CallbackInfo& info) {
  LossReport::leave_to_program(string_of(info[0]));
  return info.Env().Undefined();
}

// limitGroup(group, bytes, used)
Napi::Value limit_group(const Napi::CallbackInfo& info) {
  const auto bytes = [&](size_t i) {
    return static_cast<uint64_t>(info[i].As<Napi::Number>().DoubleValue());
  };
  TargetGroup::of(string_of(info[0]))->limit(bytes(1), bytes(2));
  return info.Env().Undefined();
}

// onTargetChange(listener): called with the name of a watched group after its state has changed.
Napi::Value on_target_change(const Napi::CallbackInfo& info) {
  TargetChanges& changes = environment(info.Env()).changes;
  const bool started = changes.started() || changes.start(info.Env(), info[0]);
  return Napi::Boolean::New(info.Env(), started);
}

Napi::Value watch_group(const Napi::CallbackInfo& info) {
  TargetChanges& changes = environment(info.Env()).changes;
  if (changes.started()) changes.watch(string_of(info[0]));
  return info.Env().Undefined();
}

Napi::Value unwatch_group(const Napi::CallbackInfo& info) {
  environment(info.Env()).changes.unwatch(string_of(info[0]));
  return info.Env().Undefined();
}

}  // namespace

void add_group_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("groupCounts", group_counts);
  put("groupState", group_state);
  put("leaveToProgram", leave_to_program);
  put("limitGroup", limit_group);
  put("onTargetChange", on_target_change);
  put("watchGroup", watch_group);
  put("unwatchGroup", unwatch_group);
}

}  // namespace tracewright
