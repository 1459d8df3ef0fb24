#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "addon/calls.h"

namespace tracewright {

namespace {

// useLargePages(bytes): a hint for memory that nobody has touched yet.
Napi::Value use_large_pages(const Napi::CallbackInfo& info) {
#ifdef MADV_HUGEPAGE
  const auto bytes = info[0].As<Napi::Uint8Array>();
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto data = reinterpret_cast<uintptr_t>(bytes.Data());
  const uintptr_t begin = (data + page - 1) / page * page;
  const uintptr_t end = (data + bytes.ByteLength()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  return info.Env().Undefined();
}

}  // namespace

void add_memory_calls(Napi::Object exports) {
  add_call(exports, "useLargePages", use_large_pages);
}

}  // namespace tracewright
