// How a call from JavaScript finds its ring. A thread keeps the rings that it writes often in
// numbered slots, and every slot has a native function of its own: the number is part of the code,
// so a commit needs neither an argument nor a look-up.
#pragma once

#include <cstddef>
#include <utility>

#include "ring/ring.h"

namespace tracewright {

constexpr int kSlots = 16;

// musl resolves no initial-exec storage of a library that is loaded at run time.
#if defined(__GLIBC__)
#define TRACEWRIGHT_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local
#else
#define TRACEWRIGHT_THREAD_LOCAL thread_local
#endif

// Never null once the addon is loaded on the thread: a free slot holds the closed ring.
extern TRACEWRIGHT_THREAD_LOCAL Ring* slots[kSlots];

}  // namespace tracewright
