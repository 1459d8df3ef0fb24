// The span that is active in a thread, read by a handler of a signal: from Node 24 on, V8 has it in
// a slot of the isolate. Where the slot and a span's fields lie is learned from objects that are
// known, and each object is checked by its map before it is read. Never during a garbage
// collection.
#pragma once

#include <napi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tracewright {

class ActiveSpan {
 public:
  explicit ActiveSpan(void* isolate);
  ~ActiveSpan();
  ActiveSpan(const ActiveSpan&) = delete;
  ActiveSpan& operator=(const ActiveSpan&) = delete;

  struct Known {
    napi_value span;
    // Of its fields, which no other of its first fields has.
    int32_t high;
    int32_t low;
    int32_t state;
    // The active frame is a map in which this has the span; null: it is the span itself.
    napi_value storage;
  };
  // On the thread. Called with two spans that are frames by themselves, and after that with one in
  // a map. False: spans of such frames are not known.
  bool learn(const Known& known);

  // In a handler of a signal of the thread. False: none is active that is known.
  bool read(int32_t& high, int32_t& low) const;

 private:
  using Address = uintptr_t;

  bool learn_slot(Address frame);
  bool learn_fields(const Known& known, Address span);
  Address found_span(Address frame) const;
  Address in_map(Address frame) const;
  static void on_begin(void* isolate, int kind, int flags, void* self);
  static void on_end(void* isolate, int kind, int flags, void* self);

  static constexpr size_t kMostCandidates = 32;

  void* const isolate_;
  // Places of the isolate that had the first frame, while no other was seen.
  size_t candidates_[kMostCandidates];
  size_t candidate_count_ = 0;
  bool has_first_ = false;
  const Address* slot_ = nullptr;
  // Handles of V8, whose objects move.
  const Address* sample_span_ = nullptr;
  const Address* sample_map_ = nullptr;
  const Address* storage_ = nullptr;
  // Words from the start of a span.
  size_t high_at_ = 0;
  size_t low_at_ = 0;
  size_t state_at_ = 0;
  std::atomic<bool> ready_{false};
  std::atomic<bool> maps_ready_{false};
  std::atomic<int> collecting_{0};
};

}  // namespace tracewright
