#include "addon/stall_stacks.h"

#include <algorithm>

#include "addon/found_v8.h"
#include "addon/script_frame.h"

namespace tracewright {

namespace {

// Frames of a stack, and different stacks of a stall.
constexpr int kMostFrames = 64;
constexpr size_t kMostStacks = 16;
// Different contexts of a stall.
constexpr size_t kMostContexts = 16;

// The first line of a stack after a late answer.
constexpr const char* kNative = "(native code)";

// v8::Location, both from 0.
struct Location {
  int line;
  int column;
};

struct StackCalls {
  void (*request_interrupt)(void* isolate, void (*callback)(void*, void*), void* data);
  V8Handle (*current)(void* isolate, int most, int options);
  int (*frame_count)(V8Handle stack);
  V8Handle (*frame)(V8Handle stack, void* isolate, uint32_t index);
  V8Handle (*function_name)(V8Handle frame);
  V8Handle (*script_name)(V8Handle frame);
  Location (*location)(V8Handle frame);
  bool usable;

  static const StackCalls& instance() {
    static const StackCalls calls = [] {
      StackCalls all{};
      all.usable =
          FoundV8::instance().usable() &&
          find_symbol(&all.request_interrupt, "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_") &&
          find_symbol(
              &all.current,
              "_ZN2v810StackTrace17CurrentStackTraceEPNS_7IsolateEiNS0_17StackTraceOptionsE") &&
          find_symbol(&all.frame_count, "_ZNK2v810StackTrace13GetFrameCountEv") &&
          find_symbol(&all.frame, "_ZNK2v810StackTrace8GetFrameEPNS_7IsolateEj") &&
          find_symbol(&all.function_name, "_ZNK2v810StackFrame15GetFunctionNameEv") &&
          find_symbol(&all.script_name, "_ZNK2v810StackFrame24GetScriptNameOrSourceURLEv") &&
          find_symbol(&all.location, "_ZNK2v810StackFrame11GetLocationEv");
      return all;
    }();
    return calls;
  }
};

// What is active: from Node 24 on AsyncLocalStorage keeps it where V8 has it. Null: it does not.
using ActiveFrame = V8Handle (*)(void* isolate);
ActiveFrame active_frame() {
  static const ActiveFrame call = [] {
    ActiveFrame found = nullptr;
    if (!find_symbol(&found, "_ZN2v87Isolate38GetContinuationPreservedEmbedderDataV2Ev"))
      find_symbol(&found, "_ZN2v87Isolate36GetContinuationPreservedEmbedderDataEv");
    return found;
  }();
  return call;
}

// StackTrace::kDetailed.
constexpr int kDetailed = 0x7f;

std::vector<ScriptFrame> frames_of(napi_env env, void* isolate) {
  const StackCalls& calls = StackCalls::instance();
  std::vector<ScriptFrame> frames;
  const V8Handle stack = calls.current(isolate, kMostFrames, kDetailed);
  const int count = stack == nullptr ? 0 : calls.frame_count(stack);
  for (int i = 0; i < count; ++i) {
    const V8Handle frame = calls.frame(stack, isolate, static_cast<uint32_t>(i));
    if (frame == nullptr) break;
    const Location at = calls.location(frame);
    frames.push_back({text_of(env, calls.function_name(frame)),
                      path_of_script(text_of(env, calls.script_name(frame))), at.line + 1,
                      at.column + 1});
  }
  return frames;
}

}  // namespace

bool StallStacks::is_left_out(const std::string& script) const {
  return !left_out_.empty() && begins_with(script, left_out_);
}

bool StallStacks::usable() {
  return StackCalls::instance().usable;
}

void StallStacks::interrupt(void* isolate, void (*callback)(void*, void*)) {
  StackCalls::instance().request_interrupt(isolate, callback, nullptr);
}

const std::string& StallStacks::add(napi_env env, void* isolate, LoopWatch::Answer answer) {
  static const std::string nothing;
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return nothing;
  const std::vector<ScriptFrame> frames = frames_of(env, isolate);
  std::string text;
  size_t at = 0;
  if (answer == LoopWatch::Answer::late) {
    // What made the native call may have returned since, and another function may have been
    // entered. Of the program's frames below those of others all were there before.
    while (at < frames.size() &&
           (begins_with(frames[at].script, "node:") || is_left_out(frames[at].script)))
      ++at;
    if (at == 0) ++at;
    text = kNative;
  }
  for (; at < frames.size(); ++at) {
    if (is_left_out(frames[at].script)) continue;
    if (!text.empty()) text += '\n';
    text += frames[at].text();
  }
  // Where no function is known that was there before, another callback may run.
  if (!text.empty() && text != kNative) add_context(env, isolate);
  napi_close_handle_scope(env, scope);
  if (text.empty()) return nothing;
  for (Stack& stack : stacks_) {
    if (stack.text != text) continue;
    ++stack.count;
    return stack.text;
  }
  if (stacks_.size() == kMostStacks) return nothing;
  stacks_.push_back({std::move(text), 1});
  return stacks_.back().text;
}

void StallStacks::add_context(napi_env env, void* isolate) {
  const ActiveFrame active = active_frame();
  const auto frame = static_cast<napi_value>(active == nullptr ? nullptr : active(isolate));
  napi_valuetype type = napi_undefined;
  if (frame == nullptr || napi_typeof(env, frame, &type) != napi_ok || type != napi_object) return;
  for (Context& context : contexts_) {
    napi_value known = nullptr;
    bool same = false;
    if (napi_get_reference_value(env, context.frame, &known) != napi_ok || known == nullptr ||
        napi_strict_equals(env, known, frame, &same) != napi_ok || !same)
      continue;
    ++context.count;
    return;
  }
  napi_ref held = nullptr;
  if (contexts_.size() == kMostContexts || napi_create_reference(env, frame, 1, &held) != napi_ok)
    return;
  contexts_.push_back({held, 1});
}

void StallStacks::drop_contexts(napi_env env) {
  for (const Context& context : contexts_) napi_delete_reference(env, context.frame);
  contexts_.clear();
}

napi_value StallStacks::take_contexts(napi_env env) {
  napi_value list = nullptr;
  if (contexts_.empty()) {
    napi_get_undefined(env, &list);
    return list;
  }
  napi_create_array(env, &list);
  uint32_t at = 0;
  for (const Context& context : contexts_) {
    napi_value frame = nullptr;
    napi_value count = nullptr;
    napi_get_reference_value(env, context.frame, &frame);
    napi_create_uint32(env, context.count, &count);
    napi_set_element(env, list, at++, frame);
    napi_set_element(env, list, at++, count);
  }
  drop_contexts(env);
  return list;
}

napi_value StallStacks::take(napi_env env) {
  napi_value list = nullptr;
  if (stacks_.empty()) {
    napi_get_undefined(env, &list);
    return list;
  }
  std::stable_sort(stacks_.begin(), stacks_.end(),
                   [](const Stack& a, const Stack& b) { return a.count > b.count; });
  napi_create_array(env, &list);
  uint32_t at = 0;
  for (const Stack& stack : stacks_) {
    napi_value text = nullptr;
    napi_value count = nullptr;
    napi_create_string_utf8(env, stack.text.data(), stack.text.size(), &text);
    napi_create_uint32(env, stack.count, &count);
    napi_set_element(env, list, at++, text);
    napi_set_element(env, list, at++, count);
  }
  stacks_.clear();
  return list;
}

}  // namespace tracewright
