// What the torture children need in addition to Tracewright: memory that outlives them, to say what
// they have surely recorded without a system call, and ends that Node does not offer.
#include <fcntl.h>
#include <napi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tracewright {

namespace {

// mapFile(path): the whole file as an ArrayBuffer, shared with all that map or read it. It stays
// mapped until the process ends: threads may still be writing to it when their buffers are gone.
Napi::Value map_file(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string path = info[0].As<Napi::String>().Utf8Value();
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status = {};
  void* place = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
    place = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED,
                 fd, 0);
  }
  if (fd >= 0) close(fd);
  if (place == MAP_FAILED) {
    Napi::Error::New(env, "cannot map " + path).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  return Napi::ArrayBuffer::New(env, place, static_cast<size_t>(status.st_size));
}

// segfault(): a real one, by a store to an address that is not mapped.
void segfault(const Napi::CallbackInfo&) {
  // Node's own handler, where it has one, is not what is tried here.
  std::signal(SIGSEGV, SIG_DFL);
  volatile uintptr_t nowhere = 8;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

// abort(): Node's own is not there in workers.
void abort_process(const Napi::CallbackInfo&) {
  std::abort();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("mapFile", Napi::Function::New(env, map_file));
  exports.Set("abort", Napi::Function::New(env, abort_process));
  exports.Set("segfault", Napi::Function::New(env, segfault));
  return exports;
}

NODE_API_MODULE(NODE_GYP_MODULE_NAME, init)

}  // namespace

}  // namespace tracewright
