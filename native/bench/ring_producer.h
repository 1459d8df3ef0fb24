// What a loop of the benchmarks writes into, a ring with a file, and the functions by
// which JavaScript opens, flushes and closes one. A loop adds what it has to remember.
#pragma once

#include <napi.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "drain/drain_thread.h"
#include "ring/ring.h"
#include "sink/file_sink.h"

namespace tracewright {

struct RingProducer {
  std::shared_ptr<Ring> ring;
  bool failed = false;
};

template <typename Producer>
Producer& producer_argument(const Napi::CallbackInfo& info) {
  return *info[0].As<Napi::External<Producer>>().Data();
}

// open(target, ringPath, ringBytes, …); `options` are what a loop's records need in addition.
template <typename Producer>
Napi::Value open_producer(const Napi::CallbackInfo& info, RingOptions options,
                          std::unique_ptr<Producer> producer) {
  const Napi::Env env = info.Env();
  options.target = info[0].As<Napi::String>().Utf8Value();
  options.path = info[1].As<Napi::String>().Utf8Value();
  options.capacity = info[2].As<Napi::Number>().Uint32Value();
  Failure failure;
  const std::shared_ptr<Sink> sink = OwnFileSink::create(options.target, "", &failure);
  if (sink) producer->ring = Ring::open(options, sink, DrainThread::instance(), &failure);
  if (!producer->ring) {
    Napi::Error::New(env, failure.action + ": " + std::strerror(failure.error))
        .ThrowAsJavaScriptException();
    return env.Undefined();
  }
  return Napi::External<Producer>::New(env, producer.release(),
                                       [](Napi::Env, Producer* each) { delete each; });
}

// <loop>(producer, count)
template <typename Producer, void (*kLoop)(Producer&, uint32_t)>
Napi::Value run(const Napi::CallbackInfo& info) {
  kLoop(producer_argument<Producer>(info), info[1].As<Napi::Number>().Uint32Value());
  return info.Env().Undefined();
}

// flush(producer): whether everything is in the file, and always was.
template <typename Producer>
Napi::Value flush(const Napi::CallbackInfo& info) {
  Producer& producer = producer_argument<Producer>(info);
  return Napi::Boolean::New(info.Env(), producer.ring->drain() && !producer.failed);
}

// close(producer)
template <typename Producer>
Napi::Value close(const Napi::CallbackInfo& info) {
  producer_argument<Producer>(info).ring->finish(0);
  return info.Env().Undefined();
}

}  // namespace tracewright
