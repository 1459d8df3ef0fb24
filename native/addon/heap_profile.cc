#include "addon/heap_profile.h"

#include <algorithm>
#include <vector>

#include "addon/found_v8.h"
#include "addon/profile_text.h"
#include "addon/script_frame.h"
#include "clock/clock.h"

namespace tracewright {

namespace {

constexpr int kMostDepth = 64;
// v8::HeapProfiler::kSamplingNoFlags: nothing is collected for it.
constexpr int kNoFlags = 0;

// std::vector, as V8 has been built with it.
template <typename Element>
struct List {
  Element* first;
  Element* last;
  Element* room;

  Element* begin() const { return first; }
  Element* end() const { return last; }
};

// v8::AllocationProfile and what it consists of, of the versions of V8 that FoundV8 knows.
struct Allocation {
  size_t size;
  unsigned count;
};

struct Node {
  V8Handle name;
  V8Handle script;
  int script_id;
  int position;
  // Both from 1; 0: unknown.
  int line;
  int column;
  uint32_t id;
  List<Node*> children;
  List<Allocation> allocations;
};

// By its table of virtual functions: to the compiler a class that nobody derives from has none.
struct AllocationProfile {
  void* const* table;

  const Node* root() { return reinterpret_cast<const Node* (*)(void*)>(table[0])(this); }
  // The destructor that also frees it, after root, samples, and the one that does not.
  void dispose() { reinterpret_cast<void (*)(void*)>(table[3])(this); }
};

struct HeapProfilerCalls {
  void* (*of_isolate)(void* isolate);
  bool (*start)(void* profiler, uint64_t interval, int depth, int flags);
  void (*stop)(void* profiler);
  AllocationProfile* (*profile)(void* profiler);
  bool usable;

  static const HeapProfilerCalls& instance() {
    static const HeapProfilerCalls calls = [] {
      HeapProfilerCalls all{};
      all.usable =
          FoundV8::instance().usable() &&
          find_symbol(&all.of_isolate, "_ZN2v87Isolate15GetHeapProfilerEv") &&
          find_symbol(&all.start,
                      "_ZN2v812HeapProfiler25StartSamplingHeapProfilerEmiNS0_13SamplingFlagsE") &&
          find_symbol(&all.stop, "_ZN2v812HeapProfiler24StopSamplingHeapProfilerEv") &&
          find_symbol(&all.profile, "_ZN2v812HeapProfiler20GetAllocationProfileEv");
      return all;
    }();
    return calls;
  }
};

thread_local HeapProfile* of_this_thread = nullptr;

// A function that has allocated what is alive, and those that have called it: the outermost first.
struct Site {
  std::vector<const Node*> path;
  size_t bytes;
  unsigned count;
};

void add_sites(std::vector<const Node*>& path, const Node* node, std::vector<Site>& sites) {
  path.push_back(node);
  Site site{path, 0, 0};
  for (const Allocation& each : node->allocations) {
    site.bytes += each.size * each.count;
    site.count += each.count;
  }
  if (site.bytes > 0) sites.push_back(std::move(site));
  for (const Node* const child : node->children) add_sites(path, child, sites);
  path.pop_back();
}

ScriptFrame frame_of(napi_env env, const Node& node) {
  return {text_of(env, node.name), path_of_script(text_of(env, node.script)), node.line,
          node.column};
}

void add_to(ProfileText& text, napi_env env, const Node* root, const std::string& own_scripts) {
  std::vector<Site> sites;
  std::vector<const Node*> path;
  add_sites(path, root, sites);
  std::sort(sites.begin(), sites.end(),
            [](const Site& a, const Site& b) { return a.bytes > b.bytes; });
  for (const Site& site : sites) {
    if (text.is_full()) return;
    size_t number = ProfileText::kNone;
    for (const Node* const node : site.path) {
      // The root is no code, unless it is all that is known.
      if (node == root && site.path.size() > 1) continue;
      number = text.node(node, text.frame(frame_of(env, *node).profiled(own_scripts)), number);
    }
    text.size(number, site.bytes, site.count);
  }
}

}  // namespace

HeapProfile::HeapProfile(napi_env env, void* profiler, std::string own_scripts)
    : env_(env), profiler_(profiler), own_scripts_(std::move(own_scripts)) {}

bool HeapProfile::start(Napi::Env env, uint64_t interval, const std::string& own_scripts) {
  const HeapProfilerCalls& calls = HeapProfilerCalls::instance();
  if (!calls.usable || of_this_thread != nullptr) return false;
  void* const profiler = calls.of_isolate(FoundV8::instance().isolate());
  if (!calls.start(profiler, interval, kMostDepth, kNoFlags)) return false;
  of_this_thread = new HeapProfile(env, profiler, own_scripts);
  napi_add_async_cleanup_hook(env, end, of_this_thread, &of_this_thread->hook_);
  return true;
}

napi_value HeapProfile::take(Napi::Env env) {
  napi_value list = nullptr;
  napi_get_undefined(env, &list);
  const HeapProfile* const self = of_this_thread;
  if (self == nullptr) return list;
  ProfileText text;
  {
    // It has two handles for each function.
    const Napi::HandleScope scope(env);
    // Null: the program has ended it.
    AllocationProfile* const profile = HeapProfilerCalls::instance().profile(self->profiler_);
    if (profile != nullptr) {
      add_to(text, env, profile->root(), self->own_scripts_);
      profile->dispose();
    }
  }
  if (text.is_empty()) return list;
  text.at(Clock::monotonic());
  uint32_t length = 0;
  napi_create_array(env, &list);
  text.add_to(env, list, length);
  return list;
}

void HeapProfile::stop() {
  HeapProfile* const self = of_this_thread;
  if (self == nullptr) return;
  of_this_thread = nullptr;
  HeapProfilerCalls::instance().stop(self->profiler_);
  napi_remove_async_cleanup_hook(self->hook_);
  delete self;
}

void HeapProfile::end(napi_async_cleanup_hook_handle, void*) {
  stop();
}

}  // namespace tracewright
