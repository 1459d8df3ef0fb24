// The watch over the event loop of an environment, by the loop's own means: libuv's and V8's
// functions are looked up by name, because Node-API has no headers for them. Their types are plain.
#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>

#include "addon/prepare_handle.h"
#include "addon/stall_stacks.h"
#include "loop/loop_watch.h"

namespace tracewright {

class WatchedLoop {
 public:
  // Watches the loop of the calling thread until its environment ends. `listener` is called with
  // what LoopWatch::turn() reports: (1, from, to, cpu, cause, recorded, stacks, contexts) for a
  // stall, see StallStacks, and (2, from, to, busy, longest, undefined, turns, delay) for a sample,
  // in ns. Frames of scripts that begin with `own_scripts` are
  // left out; undefined, or an unknown V8: there are no stacks. False where that cannot be.
  static bool start(Napi::Env env, uint64_t limit_ns, uint64_t sample_ns, bool has_spans,
                    const Napi::Value& own_scripts, const Napi::Function& listener);
  // Of the calling thread; null: its loop is not watched.
  static LoopWatch* of_thread();
  // The calling thread sleeps within a turn until there is work: the turn ends here. False: there
  // is none.
  static bool rest();
  // It is awake: another turn begins.
  static void wake();

 private:
  WatchedLoop(Napi::Env env, std::string own_scripts, const Napi::Function& listener);
  void begin_turn();
  void report(uint32_t reports);
  void watch_entry(bool on);
  static void on_prepare(void* self);
  static void on_entry(void* isolate);
  static void on_interrupt(void* isolate, void*);
  void add_stack();
  static void end(napi_async_cleanup_hook_handle hook, void* self);

  const Napi::Env env_;
  Napi::FunctionReference listener_;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  std::shared_ptr<LoopWatch> watch_;
  std::unique_ptr<PrepareHandle> handle_;
  void* isolate_ = nullptr;
  bool entry_watched_ = false;
  StallStacks stacks_;
};

}  // namespace tracewright
