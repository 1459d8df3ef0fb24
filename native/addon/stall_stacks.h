// Which JavaScript ran while a loop was blocked: the stacks that its thread had when it was asked.
// No JavaScript runs for it. V8's functions are found by name, and their types are plain here:
// those of the versions of V8 that `usable` knows.
#pragma once

#include <napi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop_watch.h"

namespace tracewright {

class StallStacks {
 public:
  // Frames of scripts whose address begins with `left_out` are left out.
  explicit StallStacks(std::string left_out) : left_out_(std::move(left_out)) {}
  // Whether this is a version of V8 that is known, and has all functions.
  static bool usable();
  // Has `callback` called on the thread of the isolate as soon as it runs code.
  static void interrupt(void* isolate, void (*callback)(void* isolate, void* nothing));

  // On the loop's thread, within a callback of interrupt(): adds its stack. Returns the text: a
  // line `at function (script:line:column)` for each frame, the innermost first. After a late
  // answer it begins with `(native code)`, and the frames that may be younger than the stall are
  // left out.
  const std::string& add(napi_env env, void* isolate, LoopWatch::Answer answer);
  // An array of each text and how often it was added, the most frequent first; undefined: there is
  // none. Begins anew.
  napi_value take(napi_env env);
  // An array of what was active when the stacks were taken, as Node keeps it for AsyncLocalStorage,
  // and how often; undefined: there is none. Begins anew.
  napi_value take_contexts(napi_env env);
  void clear(napi_env env) {
    stacks_.clear();
    if (!contexts_.empty()) drop_contexts(env);
  }

 private:
  bool is_left_out(const std::string& script) const;
  void add_context(napi_env env, void* isolate);
  void drop_contexts(napi_env env);

  struct Stack {
    std::string text;
    uint32_t count;
  };
  std::vector<Stack> stacks_;
  struct Context {
    napi_ref frame;
    uint32_t count;
  };
  std::vector<Context> contexts_;
  const std::string left_out_;
};

}  // namespace tracewright
