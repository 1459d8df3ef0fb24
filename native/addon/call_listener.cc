#include "addon/call_listener.h"

namespace tracewright {

bool call_listener(napi_env env, const Napi::FunctionReference& listener,
                   std::initializer_list<napi_value> arguments) {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return false;
  napi_value receiver = nullptr;
  bool called = false;
  if (napi_get_global(env, &receiver) == napi_ok) {
    called = napi_make_callback(env, nullptr, receiver, listener.Value(), arguments.size(),
                                arguments.begin(), nullptr) == napi_ok;
    bool pending = false;
    napi_value thrown = nullptr;
    if (napi_is_exception_pending(env, &pending) == napi_ok && pending) {
      napi_get_and_clear_last_exception(env, &thrown);
    }
  }
  napi_close_handle_scope(env, scope);
  return called;
}

}  // namespace tracewright
