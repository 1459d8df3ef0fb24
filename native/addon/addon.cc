// The native object that src/core/addon.ts loads.
#include <dlfcn.h>
#include <napi.h>

#include <memory>

#include "addon/calls.h"
#include "addon/environment.h"
#include "addon/fast_function.h"
#include "clock/clock.h"
#include "process/notes.h"
#include "process/process_end.h"
#include "sink/loss_report.h"

namespace tracewright {

namespace {

// Node closes an addon with the last environment that loaded it, which may be a worker's. The drain
// thread, the signal handler and the state that threads share need it until the process ends.
void stay_loaded() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &self) == 0) return;
  // The handle is never closed, which has the same effect if the system does not know the flag.
  dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void close_environment(std::shared_ptr<Environment>* held) {
  for (size_t id = 0; id < (*held)->rings.size(); ++id) {
    (*held)->close(id, (*held)->ending_limit_ms());
  }
  release_claims(held->get());
  delete held;
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  static const bool once = (stay_loaded(), true);
  static_cast<void>(once);
  ProcessEnd::say_by(LossReport::write);
  RingSlots::prepare_thread();
  const auto all = std::make_shared<Environment>();
  env.SetInstanceData(new std::shared_ptr<Environment>(all));
  env.AddCleanupHook(close_environment, new std::shared_ptr<Environment>(all));

  add_clock_calls(exports);
  add_collection_calls(exports);
  add_core_calls(exports);
  add_file_calls(exports);
  add_group_calls(exports);
  add_loop_calls(exports);
  add_memory_calls(exports);
  add_packing_calls(exports);
  add_pattern_calls(exports);
  add_process_calls(exports);
  add_profile_calls(exports);
  add_ring_calls(exports);
  add_target_calls(exports);
  add_control_layout(exports);
  exports["fastCalls"] = Napi::Boolean::New(env, has_fast_functions());
  exports["scaledClock"] = Napi::Boolean::New(env, Clock::instance().scaled());
  return exports;
}

}  // namespace
}  // namespace tracewright

static Napi::Object InitialiseTracewright(Napi::Env env, Napi::Object exports) {
  return tracewright::initialise(env, exports);
}

NODE_API_MODULE(NODE_GYP_MODULE_NAME, InitialiseTracewright)
