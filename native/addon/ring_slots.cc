#include "addon/ring_slots.h"

#include <utility>

#include "addon/fast_function.h"

namespace tracewright {

namespace {

// musl resolves no initial-exec storage of a library that is loaded at run time.
#if defined(__GLIBC__)
#define TRACEWRIGHT_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local
#else
#define TRACEWRIGHT_THREAD_LOCAL thread_local
#endif

// Never null once the addon is loaded on the thread: a free slot has the closed ring.
TRACEWRIGHT_THREAD_LOCAL Ring* slots[RingSlots::kSlots];
// The ring whose records wait; null: none.
TRACEWRIGHT_THREAD_LOCAL Ring* waiting_slot;

template <void (Ring::*kCall)()>
void call_waiting_slot(const void*) {
  if (waiting_slot != nullptr) (waiting_slot->*kCall)();
}

template <Stamp kStamp, size_t kSlot>
void commit_slot(const void*) {
  slots[kSlot]->commit<kStamp>();
}

template <size_t kSlot>
void begin_open_slot(const void*) {
  slots[kSlot]->begin_open<Stamp::big>();
}

template <size_t kSlot>
void commit_open_slot(const void*) {
  slots[kSlot]->commit_open<Stamp::big>();
}

template <Stamp kStamp, size_t kSlot>
void read_stamp_slot(const void*) {
  slots[kSlot]->read_stamp<kStamp>();
}

template <size_t kSlot>
void put_words_slot(const void*) {
  slots[kSlot]->put_words();
}

// What is called on the ring in a slot, both ways of calling it.
struct SlotCall {
  FastCallback fast;
  napi_callback plain;
};

template <FastCallback kCall>
napi_value plain(napi_env, napi_callback_info) {
  kCall(nullptr);
  return nullptr;
}

template <FastCallback kCall>
constexpr SlotCall slot_call() {
  return {kCall, plain<kCall>};
}

struct SlotCalls {
  SlotCall commit[kStamps];  // by Stamp
  SlotCall begin_open;
  SlotCall commit_open;
  SlotCall read_stamp[kStamps];
  SlotCall put_words;
};

template <size_t kSlot>
constexpr SlotCalls calls_of_slot() {
  return {
      {slot_call<commit_slot<Stamp::none, kSlot>>(), slot_call<commit_slot<Stamp::native, kSlot>>(),
       slot_call<commit_slot<Stamp::big, kSlot>>(),
       slot_call<commit_slot<Stamp::interval, kSlot>>()},
      slot_call<begin_open_slot<kSlot>>(),
      slot_call<commit_open_slot<kSlot>>(),
      {slot_call<read_stamp_slot<Stamp::none, kSlot>>(),
       slot_call<read_stamp_slot<Stamp::native, kSlot>>(),
       slot_call<read_stamp_slot<Stamp::big, kSlot>>(),
       slot_call<read_stamp_slot<Stamp::interval, kSlot>>()},
      slot_call<put_words_slot<kSlot>>()};
}

template <size_t... kSlot>
constexpr std::array<SlotCalls, RingSlots::kSlots> calls_of_slots(std::index_sequence<kSlot...>) {
  return {calls_of_slot<kSlot>()...};
}

constexpr std::array<SlotCalls, RingSlots::kSlots> kSlotCalls =
    calls_of_slots(std::make_index_sequence<RingSlots::kSlots>{});

napi_value make_function(napi_env env, const char* name, napi_callback callback, void* data) {
  napi_value function = nullptr;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, data, &function);
  return function;
}

napi_value slot_function(napi_env env, Napi::FunctionReference* made, const char* name,
                         const SlotCall& call) {
  if (made->IsEmpty()) {
    napi_value function = make_fast_function(call.fast);
    if (function == nullptr) function = make_function(env, name, call.plain, nullptr);
    *made = Napi::Persistent(Napi::Function(env, function));
  }
  return made->Value();
}

// For the rings beyond the slots: the ring comes with the function.
Ring* ring_of_function(napi_env env, napi_callback_info info) {
  void* data = nullptr;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data);
  Ring* ring = static_cast<Ring*>(data);
  return ring->finished() ? Ring::closed_ring() : ring;
}

template <Stamp kStamp>
napi_value commit_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->commit<kStamp>();
  return nullptr;
}

napi_value begin_open_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->begin_open<Stamp::big>();
  return nullptr;
}

napi_value commit_open_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->commit_open<Stamp::big>();
  return nullptr;
}

template <Stamp kStamp>
napi_value read_stamp_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->read_stamp<kStamp>();
  return nullptr;
}

napi_value put_words_any(napi_env env, napi_callback_info info) {
  ring_of_function(env, info)->put_words();
  return nullptr;
}

template <void (Ring::*kCall)()>
napi_value call_waiting_any(napi_env env, napi_callback_info info) {
  (ring_of_function(env, info)->*kCall)();
  return nullptr;
}

// In the order of `kWaitingNames`.
constexpr napi_callback kWaitingAny[kWaitingCalls] = {
    call_waiting_any<&Ring::find_waiting>, call_waiting_any<&Ring::begin_waiting>,
    call_waiting_any<&Ring::end_waiting>, call_waiting_any<&Ring::release_waiting>,
    call_waiting_any<&Ring::link_waiting>};
constexpr SlotCall kWaitingSlot[kWaitingCalls] = {
    slot_call<call_waiting_slot<&Ring::find_waiting>>(),
    slot_call<call_waiting_slot<&Ring::begin_waiting>>(),
    slot_call<call_waiting_slot<&Ring::end_waiting>>(),
    slot_call<call_waiting_slot<&Ring::release_waiting>>(),
    slot_call<call_waiting_slot<&Ring::link_waiting>>()};
constexpr napi_callback kCommitAny[kStamps] = {commit_any<Stamp::none>, commit_any<Stamp::native>,
                                               commit_any<Stamp::big>, commit_any<Stamp::interval>};
constexpr napi_callback kReadStampAny[kStamps] = {
    read_stamp_any<Stamp::none>, read_stamp_any<Stamp::native>, read_stamp_any<Stamp::big>,
    read_stamp_any<Stamp::interval>};

}  // namespace

void RingSlots::prepare_thread() {
  for (Ring*& slot : slots) {
    if (slot == nullptr) slot = Ring::closed_ring();
  }
}

void RingSlots::release(const Ring* ring) {
  for (Ring*& slot : slots) {
    if (slot == ring) slot = Ring::closed_ring();
  }
  if (waiting_slot == ring) waiting_slot = nullptr;
}

WaitingFunctions RingSlots::assign_waiting(napi_env env, Ring* ring) {
  const bool is_first = waiting_slot == nullptr || waiting_slot == ring;
  if (is_first) waiting_slot = ring;
  WaitingFunctions made;
  for (size_t i = 0; i < kWaitingCalls; ++i) {
    made[i] = is_first ? slot_function(env, &waiting_[i], kWaitingNames[i], kWaitingSlot[i])
                       : make_function(env, kWaitingNames[i], kWaitingAny[i], ring);
  }
  return made;
}

RingFunctions RingSlots::assign(napi_env env, Ring* ring, Stamp stamp, bool words,
                                bool open_records) {
  const auto kind = static_cast<size_t>(stamp);
  RingFunctions made;
  size_t slot = 0;
  while (slot < kSlots && slots[slot] != Ring::closed_ring()) ++slot;
  if (slot == kSlots) {
    made.commit = make_function(env, "commit", kCommitAny[kind], ring);
    made.read_stamp = make_function(env, "readStamp", kReadStampAny[kind], ring);
    if (words) made.put_words = make_function(env, "putWords", put_words_any, ring);
    if (open_records) {
      made.begin_open = make_function(env, "beginOpen", begin_open_any, ring);
      made.commit_open = make_function(env, "commitOpen", commit_open_any, ring);
    }
    return made;
  }
  slots[slot] = ring;
  const SlotCalls& calls = kSlotCalls[slot];
  Functions& functions = functions_[slot];
  made.commit = slot_function(env, &functions.commit[kind], "commit", calls.commit[kind]);
  made.read_stamp =
      slot_function(env, &functions.read_stamp[kind], "readStamp", calls.read_stamp[kind]);
  if (words) made.put_words = slot_function(env, &functions.put_words, "putWords", calls.put_words);
  if (open_records) {
    made.begin_open = slot_function(env, &functions.begin_open, "beginOpen", calls.begin_open);
    made.commit_open = slot_function(env, &functions.commit_open, "commitOpen", calls.commit_open);
  }
  return made;
}

}  // namespace tracewright
