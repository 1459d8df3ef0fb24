// Whether a process ends because its heap is full. V8 says when the heap nears its limit. If no
// memory is freed after that, Node calls abort(), and the process leaves a record that says so.
#pragma once

#include <cstdint>

#include "loop/loop_watch.h"

namespace tracewright {

class HeapEnd {
 public:
  // On the main thread. Adds a callback to V8, which calls the newest one alone: those that the
  // program adds come first, and this one removes itself when it is called. False: V8 is unknown,
  // or the program handles SIGABRT.
  static bool watch();
  // A record of the main thread that counts once the process ends so. Its `cause_at` gets the limit
  // in MiB.
  static void prepare(const PreparedRecord& record);
  // The heap has so many bytes: it may have recovered.
  static void note_used(uint64_t bytes);
};

}  // namespace tracewright
