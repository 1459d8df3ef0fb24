// How a call from JavaScript finds its ring. A thread keeps the rings that it writes often in
// numbered slots, and every slot has native functions of its own. The slot's number is part of the
// code, so a commit needs neither an argument nor a look-up.
#pragma once

#include <napi.h>

#include <array>
#include <cstddef>
#include <iterator>

#include "ring/ring.h"

namespace tracewright {

// The functions that JavaScript calls for each record. They take and return nothing.
struct RingFunctions {
  napi_value commit = nullptr;
  napi_value read_stamp = nullptr;
  napi_value put_words = nullptr;  // only if wanted
  // Only of rings with open records, whose stamps are `big`.
  napi_value begin_open = nullptr;
  napi_value commit_open = nullptr;
};

// The functions that JavaScript calls for each record that waits, in the order of their names.
constexpr const char* kWaitingNames[] = {"find", "begin", "end", "release", "link"};
constexpr size_t kWaitingCalls = std::size(kWaitingNames);
using WaitingFunctions = std::array<napi_value, kWaitingCalls>;

class RingSlots {
 public:
  static constexpr size_t kSlots = 16;

  // Before the first ring of a thread. A thread may load the addon again (test runners do); the
  // rings that it has open stay open.
  static void prepare_thread();

  // Gives the ring a slot. The seventeenth ring of a thread gets functions with a data pointer.
  RingFunctions assign(napi_env env, Ring* ring, Stamp stamp, bool words, bool open_records);

  // The first ring of a thread whose records wait has fast ones.
  WaitingFunctions assign_waiting(napi_env env, Ring* ring);

  // Commits that come later change nothing.
  static void release(const Ring* ring);

 private:
  // Made once for an environment: V8 never frees a fast function.
  struct Functions {
    Napi::FunctionReference commit[kStamps];  // by Stamp
    Napi::FunctionReference begin_open;
    Napi::FunctionReference commit_open;
    Napi::FunctionReference read_stamp[kStamps];
    Napi::FunctionReference put_words;
  };
  std::array<Functions, kSlots> functions_;
  std::array<Napi::FunctionReference, kWaitingCalls> waiting_;
};

}  // namespace tracewright
