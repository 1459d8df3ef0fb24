#include "addon/cpu_profile.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "addon/found_v8.h"
#include "addon/profile_text.h"
#include "addon/script_frame.h"
#include "clock/clock.h"

namespace tracewright {

namespace {

// v8::CpuProfilingMode, v8::CpuProfilingNamingMode and v8::CpuProfilingLoggingMode.
constexpr int kLeafNodeLineNumbers = 0;
constexpr int kStandardNaming = 0;
constexpr int kEagerLogging = 1;
constexpr int kStarted = 0;
// Samples of one profile: V8 keeps the first ones.
constexpr unsigned kMostSamples = 1 << 16;
constexpr unsigned kMostLines = 64;
constexpr int kMostDepth = 64;
constexpr uint64_t kUs = 1000;
// To take samples costs about 1 ms: a thread that did next to nothing keeps them.
constexpr uint64_t kLeastCpu = 5'000'000;
constexpr uint64_t kLongest = 30'000'000'000;

// v8::CpuProfilingResult
struct Started {
  uint32_t id;
  int status;
};

// A word that no v8::CpuProfileNode::LineTick has.
constexpr int kUnwritten = -0x7fffffff;

struct ProfilerCalls {
  void* (*make)(void* isolate, int naming, int logging);
  void (*dispose)(void* profiler);
  void (*set_interval)(void* profiler, int us);
  Started (*start)(void* profiler, V8Handle title, int mode, bool samples, unsigned most);
  void* (*stop)(void* profiler, uint32_t id);
  void (*remove)(void* profile);
  int (*sample_count)(const void* profile);
  const void* (*sample)(const void* profile, int number);
  int64_t (*time)(const void* profile, int number);
  const char* (*function)(const void* node);
  const char* (*script)(const void* node);
  int (*line)(const void* node);
  int (*column)(const void* node);
  const void* (*parent)(const void* node);
  unsigned (*line_count)(const void* node);
  bool (*lines)(const void* node, int* to, unsigned most);
  bool usable;

  static const ProfilerCalls& instance() {
    static const ProfilerCalls calls = [] {
      ProfilerCalls all{};
      all.usable =
          FoundV8::instance().usable() &&
          find_symbol(&all.make,
                      "_ZN2v811CpuProfiler3NewEPNS_7IsolateENS_22CpuProfilingNamingModeENS_"
                      "23CpuProfilingLoggingModeE") &&
          find_symbol(&all.dispose, "_ZN2v811CpuProfiler7DisposeEv") &&
          find_symbol(&all.set_interval, "_ZN2v811CpuProfiler19SetSamplingIntervalEi") &&
          find_symbol(
              &all.start,
              "_ZN2v811CpuProfiler5StartENS_5LocalINS_6StringEEENS_16CpuProfilingModeEbj") &&
          find_symbol(&all.stop, "_ZN2v811CpuProfiler4StopEj") &&
          find_symbol(&all.remove, "_ZN2v810CpuProfile6DeleteEv") &&
          find_symbol(&all.sample_count, "_ZNK2v810CpuProfile15GetSamplesCountEv") &&
          find_symbol(&all.sample, "_ZNK2v810CpuProfile9GetSampleEi") &&
          find_symbol(&all.time, "_ZNK2v810CpuProfile18GetSampleTimestampEi") &&
          find_symbol(&all.function, "_ZNK2v814CpuProfileNode18GetFunctionNameStrEv") &&
          find_symbol(&all.script, "_ZNK2v814CpuProfileNode24GetScriptResourceNameStrEv") &&
          find_symbol(&all.line, "_ZNK2v814CpuProfileNode13GetLineNumberEv") &&
          find_symbol(&all.column, "_ZNK2v814CpuProfileNode15GetColumnNumberEv") &&
          find_symbol(&all.parent, "_ZNK2v814CpuProfileNode9GetParentEv") &&
          find_symbol(&all.line_count, "_ZNK2v814CpuProfileNode15GetHitLineCountEv") &&
          find_symbol(&all.lines, "_ZNK2v814CpuProfileNode12GetLineTicksEPNS0_8LineTickEj");
      return all;
    }();
    return calls;
  }
};

thread_local CpuProfile* of_this_thread = nullptr;

// Adds the nodes of a profile to a text as they are asked for.
class Nodes {
 public:
  Nodes(ProfileText& text, const std::string& own_scripts)
      : text_(text), own_scripts_(own_scripts) {}

  // The number of a node; kNone: of the root, which is no code.
  size_t of(const void* node) {
    path_.clear();
    size_t number = ProfileText::kNone;
    for (const void* at = node; at != nullptr; at = calls_.parent(at)) {
      number = text_.known(at);
      if (number != ProfileText::kNone) break;
      path_.push_back(at);
    }
    // The root comes last, unless a known node was met.
    if (number == ProfileText::kNone && !path_.empty()) path_.pop_back();
    // The outermost frames of what is too deep are left out.
    const size_t most = path_.size() > kMostDepth ? kMostDepth : path_.size();
    for (size_t i = most; i-- > 0;) {
      number = text_.node(path_[i], text_.frame(frame_of(path_[i]).profiled(own_scripts_)), number);
    }
    return number;
  }

 private:
  ScriptFrame frame_of(const void* node) const {
    return {calls_.function(node), path_of_script(calls_.script(node)), calls_.line(node),
            calls_.column(node)};
  }

  const ProfilerCalls& calls_ = ProfilerCalls::instance();
  ProfileText& text_;
  const std::string& own_scripts_;
  std::vector<const void*> path_;
};

// Parts of one profile share the lines of a node.
void add_lines(ProfileText& text, const void* node) {
  const ProfilerCalls& calls = ProfilerCalls::instance();
  const unsigned count = calls.line_count(node);
  if (count == 0 || count > kMostLines) return;
  int words[3 * kMostLines + 1];
  std::fill(std::begin(words), std::end(words), kUnwritten);
  if (!calls.lines(node, words, count)) return;
  // Line and count; since V8 14 there is a column between them.
  const size_t width = words[2 * count] == kUnwritten ? 2 : 3;
  for (unsigned i = 0; i < count; ++i) {
    const int* const each = words + i * width;
    text.line(text.known(node), each[0], static_cast<unsigned>(each[width - 1]));
  }
}

}  // namespace

CpuProfile::CpuProfile(napi_env env, void* isolate, std::string own_scripts)
    : env_(env), isolate_(isolate), own_scripts_(std::move(own_scripts)) {}

bool CpuProfile::start(Napi::Env env, uint32_t interval_us, const std::string& own_scripts) {
  if (!ProfilerCalls::instance().usable || of_this_thread != nullptr) return false;
  void* const isolate = FoundV8::instance().isolate();
  auto self = std::unique_ptr<CpuProfile>(new CpuProfile(env, isolate, own_scripts));
  if (!self->begin(interval_us)) return false;
  of_this_thread = self.release();
  napi_add_async_cleanup_hook(env, end, of_this_thread, &of_this_thread->hook_);
  return true;
}

bool CpuProfile::begin(uint32_t interval_us) {
  const ProfilerCalls& calls = ProfilerCalls::instance();
  span_ = std::make_unique<ActiveSpan>(isolate_);
  signals_ = ProfileSignals::start(*span_);
  if (signals_ == nullptr) return false;
  profiler_ = calls.make(isolate_, kStandardNaming, kEagerLogging);
  calls.set_interval(profiler_, static_cast<int>(interval_us));
  since_ = Clock::monotonic();
  cpu_ = Clock::cpu(true);
  if (start_next()) return true;
  calls.dispose(profiler_);
  return false;
}

bool CpuProfile::start_next() {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return false;
  const std::string title = "tracewright " + std::to_string(++begun_);
  napi_value text = nullptr;
  napi_create_string_utf8(env_, title.data(), title.size(), &text);
  const Started started =
      ProfilerCalls::instance().start(profiler_, text, kLeafNodeLineNumbers, true, kMostSamples);
  napi_close_handle_scope(env_, scope);
  if (started.status != kStarted) return false;
  running_ = started.id;
  ProfileSignals::chain();
  return true;
}

bool CpuProfile::learn(const ActiveSpan::Known& known) {
  return of_this_thread != nullptr && of_this_thread->span_->learn(known);
}

napi_value CpuProfile::take(Napi::Env env, bool all) {
  CpuProfile* const self = of_this_thread;
  napi_value nothing = nullptr;
  napi_get_undefined(env, &nothing);
  if (self == nullptr) return nothing;
  const uint64_t now = Clock::monotonic();
  const uint64_t cpu = Clock::cpu(true);
  if (!all && cpu - self->cpu_ < kLeastCpu && now - self->since_ < kLongest) return nothing;
  self->cpu_ = cpu;
  self->since_ = now;
  const uint32_t before = self->running_;
  // Another one runs before this one ends: to begin while none does takes V8 much longer.
  if (!self->start_next()) return nothing;
  void* const profile = ProfilerCalls::instance().stop(self->profiler_, before);
  if (profile == nullptr) return nothing;
  napi_value const parts = self->parts(profile);
  ProfilerCalls::instance().remove(profile);
  return parts;
}

napi_value CpuProfile::parts(void* profile) {
  const ProfilerCalls& calls = ProfilerCalls::instance();
  napi_value list = nullptr;
  napi_create_array(env_, &list);
  uint32_t length = 0;
  ProfileText text;
  Nodes nodes(text, own_scripts_);
  // Nodes that have samples of the part.
  std::unordered_set<const void*> hit;
  const auto finish = [&] {
    for (const void* const node : hit) add_lines(text, node);
    hit.clear();
    text.add_to(env_, list, length);
  };
  const int samples = calls.sample_count(profile);
  const uint32_t signals = signals_->count();
  uint32_t signal = 0;
  for (int i = 0; i < samples; ++i) {
    const int64_t us = calls.time(profile, i);
    if (us <= last_) continue;
    while (signal < signals && signals_->at(signal).after / kUs + 1 < static_cast<uint64_t>(us))
      ++signal;
    if (signal == signals) break;
    const ProfileSignals::Taken& taken = signals_->at(signal);
    // V8 adds one sample by itself when a profile begins.
    if (taken.before / kUs > static_cast<uint64_t>(us)) continue;
    ++signal;
    last_ = us;
    const void* const node = calls.sample(profile, i);
    if (std::strcmp(calls.function(node), "(idle)") == 0) continue;
    const size_t number = nodes.of(node);
    if (number == ProfileText::kNone) continue;
    hit.insert(node);
    text.sample(taken.before, number, taken.high, taken.low);
    if (text.is_full()) finish();
  }
  // V8 may not have processed the samples of the last signals yet: the next profile has them.
  signals_->drop(signal);
  if (!text.is_empty()) finish();
  return list;
}

void CpuProfile::stop() {
  CpuProfile* const self = of_this_thread;
  if (self == nullptr) return;
  of_this_thread = nullptr;
  const ProfilerCalls& calls = ProfilerCalls::instance();
  void* const profile = calls.stop(self->profiler_, self->running_);
  if (profile != nullptr) calls.remove(profile);
  calls.dispose(self->profiler_);
  self->signals_.reset();
  self->span_.reset();
  napi_remove_async_cleanup_hook(self->hook_);
  delete self;
}

void CpuProfile::end(napi_async_cleanup_hook_handle, void*) {
  stop();
}

}  // namespace tracewright
