#include <cstdint>

#include "addon/arguments.h"
#include "addon/calls.h"
#include "addon/environment.h"
#include "addon/heap_end.h"
#include "addon/watched_loop.h"

namespace tracewright {

namespace {

constexpr double kMsNs = 1e6;

uint32_t word_of(const Napi::Value& value) {
  return static_cast<uint32_t>(value.As<Napi::Number>().Int64Value());
}

uint64_t ns_of_ms(const Napi::Value& value) {
  return static_cast<uint64_t>(value.As<Napi::Number>().DoubleValue() * kMsNs);
}

// watchLoop(limitMs, sampleMs, hasSpans, ownScripts, listener)
Napi::Value watch_loop(const Napi::CallbackInfo& info) {
  const bool started = WatchedLoop::start(info.Env(), ns_of_ms(info[0]), ns_of_ms(info[1]),
                                          info[2].As<Napi::Boolean>().Value(), info[3],
                                          info[4].As<Napi::Function>());
  return Napi::Boolean::New(info.Env(), started);
}

// restLoop()
Napi::Value rest_loop(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), WatchedLoop::rest());
}

// turnStart()
Napi::Value turn_start(const Napi::CallbackInfo& info) {
  const LoopWatch* const watch = WatchedLoop::of_thread();
  const uint64_t since = watch == nullptr ? 0 : watch->entered_since();
  return Napi::Number::New(info.Env(), static_cast<double>(since));
}

// wakeLoop()
Napi::Value wake_loop(const Napi::CallbackInfo& info) {
  WatchedLoop::wake();
  return info.Env().Undefined();
}

// The first arguments of a call: ring, at, state, startAt, causeAt. Without a ring there is none.
PreparedRecord prepared_record(const Napi::CallbackInfo& info) {
  const auto& rings = environment(info.Env()).rings;
  const size_t id = word_of(info[0]);
  PreparedRecord record;
  if (id < rings.size()) record.ring = rings[id];
  record.at = word_of(info[1]);
  record.state = word_of(info[2]);
  record.start_at = word_of(info[3]);
  record.cause_at = word_of(info[4]);
  return record;
}

// prepareStall(ring, at, state, startAt, causeAt, causes, textAt)
Napi::Value prepare_stall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  LoopWatch* const watch = WatchedLoop::of_thread();
  PreparedRecord record = prepared_record(info);
  if (watch == nullptr || !record.ring) return env.Undefined();
  const auto causes = info[5].As<Napi::Uint32Array>();
  for (size_t i = 0; i < kStallCauses && i < causes.ElementLength(); ++i) {
    record.causes[i] = causes[i];
  }
  record.text_at = word_of(info[6]);
  watch->prepare(record);
  return env.Undefined();
}

// watchHeap()
Napi::Value watch_heap(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), HeapEnd::watch());
}

// prepareHeapEnd(ring, at, state, startAt, limitAt)
Napi::Value prepare_heap_end(const Napi::CallbackInfo& info) {
  const PreparedRecord record = prepared_record(info);
  if (record.ring) HeapEnd::prepare(record);
  return info.Env().Undefined();
}

// noteHeap(bytes)
Napi::Value note_heap(const Napi::CallbackInfo& info) {
  HeapEnd::note_used(static_cast<uint64_t>(info[0].As<Napi::Number>().DoubleValue()));
  return info.Env().Undefined();
}

}  // namespace

void add_loop_calls(Napi::Object exports) {
  add_call(exports, "watchLoop", watch_loop);
  add_call(exports, "restLoop", rest_loop);
  add_call(exports, "turnStart", turn_start);
  add_call(exports, "wakeLoop", wake_loop);
  add_call(exports, "prepareStall", prepare_stall);
  add_call(exports, "watchHeap", watch_heap);
  add_call(exports, "prepareHeapEnd", prepare_heap_end);
  add_call(exports, "noteHeap", note_heap);
}

}  // namespace tracewright
