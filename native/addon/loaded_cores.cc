// The copies of this addon that the process has loaded. Two copies of the package bring two files,
// and each would have its own drain thread and notes. So all threads use the core of one file.
#include <dlfcn.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <link.h>
#endif

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "addon/calls.h"

namespace tracewright {

// What src/core/core-interface.ts expects. Add 1 whenever a call, its arguments or their meaning
// change.
constexpr uint32_t kInterface = 31;

// Other copies find this by its name. Its layout never changes.
struct CoreMark {
  uint32_t interface;
  std::atomic<uint32_t> used;
};

}  // namespace tracewright

extern "C" {
__attribute__((visibility("default")))
tracewright::CoreMark tracewright_core = {tracewright::kInterface, {0}};
}

namespace tracewright {

namespace {

bool may_be_addon(const std::string& name) {
  constexpr char kEnding[] = ".node";
  constexpr size_t kLength = sizeof(kEnding) - 1;
  return name.size() > kLength && name.compare(name.size() - kLength, kLength, kEnding) == 0;
}

// The addons of the process, in the order in which they were loaded.
std::vector<std::string> loaded_addons() {
  std::vector<std::string> names;
#if defined(__APPLE__)
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const char* const name = _dyld_get_image_name(i);
    if (name != nullptr && may_be_addon(name)) names.emplace_back(name);
  }
#else
  const auto note = [](dl_phdr_info* info, size_t, void* to) {
    const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (may_be_addon(name)) static_cast<std::vector<std::string>*>(to)->push_back(name);
    return 0;
  };
  dl_iterate_phdr(note, &names);
#endif
  return names;
}

// Null if the addon is not ours. An addon that is in use is never unloaded, so its mark stays.
CoreMark* mark_of(const std::string& addon) {
  void* const handle = dlopen(addon.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  auto* const mark = static_cast<CoreMark*>(dlsym(handle, "tracewright_core"));
  dlclose(handle);
  return mark;
}

// coreInUse(): the file of the core that this process uses. It is chosen now if there is none yet.
Napi::Value core_in_use(const Napi::CallbackInfo& info) {
  const std::string* first = nullptr;
  CoreMark* chosen = nullptr;
  const std::vector<std::string> addons = loaded_addons();
  for (const std::string& addon : addons) {
    CoreMark* const mark = mark_of(addon);
    if (mark == nullptr) continue;
    if (mark->used.load() != 0) return Napi::String::New(info.Env(), addon);
    if (chosen == nullptr && mark->interface == kInterface) {
      chosen = mark;
      first = &addon;
    }
  }
  if (chosen == nullptr) return Napi::String::New(info.Env(), "");
  chosen->used.store(1);
  return Napi::String::New(info.Env(), *first);
}

}  // namespace

void add_core_calls(Napi::Object exports) {
  exports["interface"] = Napi::Number::New(exports.Env(), kInterface);
  add_call(exports, "coreInUse", core_in_use);
}

}  // namespace tracewright
