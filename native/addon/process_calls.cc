#include "addon/calls.h"

#if defined(__APPLE__)
#include <pthread.h>
#include <sys/random.h>
#else
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "addon/arguments.h"
#include "addon/environment.h"
#include "addon/signal_listeners.h"
#include "drain/drain_thread.h"
#include "process/free_descriptors.h"
#include "process/notes.h"
#include "process/process_end.h"

namespace tracewright {

namespace {

Napi::Value put_note_call(const Napi::CallbackInfo& info) {
  put_note(string_of(info[0]), string_of(info[1]));
  return info.Env().Undefined();
}

Napi::Value get_note_call(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), get_note(string_of(info[0])));
}

Napi::Value claim_note_call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Napi::Boolean::New(env, claim_note(string_of(info[0]), &environment(env)));
}

Napi::Value finish_on_signal(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), DrainThread::instance().finish_on_signal(
                                            info[0].As<Napi::Number>().Int32Value()));
}

Napi::Value hold_signals(const Napi::CallbackInfo& info) {
  DrainThread::instance().hold_signals();
  return info.Env().Undefined();
}

Napi::Value release_signals(const Napi::CallbackInfo& info) {
  DrainThread::instance().release_signals();
  return info.Env().Undefined();
}

// callBeforeSignal(listener)
Napi::Value call_before_signal_call(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), call_before_signal(info.Env(), info[0]));
}

Napi::Value free_descriptors_call(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), free_descriptors());
}

Napi::Value process_ends(const Napi::CallbackInfo& info) {
  ProcessEnd::begin();
  return info.Env().Undefined();
}

// The number by which the operating system knows the calling thread.
Napi::Value system_thread_id(const Napi::CallbackInfo& info) {
#if defined(__APPLE__)
  uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return Napi::Number::New(info.Env(), static_cast<double>(id));
#else
  return Napi::Number::New(info.Env(), static_cast<double>(syscall(SYS_gettid)));
#endif
}

// systemRandom(to): at most 256 bytes.
Napi::Value system_random(const Napi::CallbackInfo& info) {
  Napi::Uint8Array to = info[0].As<Napi::Uint8Array>();
  return Napi::Boolean::New(info.Env(), getentropy(to.Data(), to.ByteLength()) == 0);
}

// fillRandom(words, state): four generators of xoshiro128++ in turn. `state` has the first word of
// each, then the second ones, and so on. `words` has a multiple of four.
Napi::Value fill_random(const Napi::CallbackInfo& info) {
  // One operation on all four: SSE2 and NEON have it.
  using Lanes = uint32_t __attribute__((vector_size(16)));
  constexpr size_t kBytes = sizeof(Lanes);
  const auto rotated = [](Lanes words, int bits) { return words << bits | words >> (32 - bits); };
  Napi::Int32Array words = info[0].As<Napi::Int32Array>();
  Napi::Int32Array kept = info[1].As<Napi::Int32Array>();
  Lanes state[4];
  if (kept.ByteLength() < sizeof state) return info.Env().Undefined();
  std::memcpy(state, kept.Data(), sizeof state);
  auto& [a, b, c, d] = state;
  auto* to = reinterpret_cast<uint8_t*>(words.Data());
  for (size_t left = words.ByteLength(); left >= kBytes; left -= kBytes, to += kBytes) {
    const Lanes next = rotated(a + d, 7) + a;
    std::memcpy(to, &next, kBytes);
    const Lanes shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
  }
  std::memcpy(kept.Data(), state, sizeof state);
  return info.Env().Undefined();
}

// processWords(bytes): memory that all threads have in common. Nobody frees it.
Napi::Value process_words(const Napi::CallbackInfo& info) {
  constexpr size_t kWords = 65 << 10;
  static std::atomic<int32_t> words[kWords];
  const size_t bytes = info[0].As<Napi::Number>().Uint32Value();
  return Napi::ArrayBuffer::New(info.Env(), words, std::min(bytes, sizeof words));
}

Napi::Value drain_rounds(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(DrainThread::instance().rounds()));
}

}  // namespace

void add_process_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("putNote", put_note_call);
  put("getNote", get_note_call);
  put("claimNote", claim_note_call);
  put("finishOnSignal", finish_on_signal);
  put("holdSignals", hold_signals);
  put("releaseSignals", release_signals);
  put("callBeforeSignal", call_before_signal_call);
  put("processEnds", process_ends);
  put("freeDescriptors", free_descriptors_call);
  put("systemThreadId", system_thread_id);
  put("systemRandom", system_random);
  put("fillRandom", fill_random);
  put("processWords", process_words);
  put("drainRounds", drain_rounds);
}

}  // namespace tracewright
