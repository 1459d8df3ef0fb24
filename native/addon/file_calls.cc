#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "addon/arguments.h"
#include "addon/calls.h"
#include "file/anchor.h"
#include "file/file_identity.h"
#include "file/hidden_name.h"
#include "file/replace_file.h"
#include "process/shared_list_file.h"
#include "ring/ring_file.h"

namespace tracewright {

namespace {

Napi::Value replace_file_call(const Napi::CallbackInfo& info) {
  Failure failure;
  const mode_t mode = info[2].IsNumber()
                          ? static_cast<mode_t>(info[2].As<Napi::Number>().Uint32Value())
                          : kModeOfReplaced;
  if (!replace_file(string_of(info[0]), string_of(info[1]), &failure, mode)) {
    throw_failure(info.Env(), failure);
  }
  return info.Env().Undefined();
}

Napi::Value put_list_entry_call(const Napi::CallbackInfo& info) {
  const auto argument = [&](size_t i) { return string_of(info[i]); };
  Failure failure;
  const mode_t mode = info[5].IsNumber()
                          ? static_cast<mode_t>(info[5].As<Napi::Number>().Uint32Value())
                          : kPrivateFile;
  if (!put_list_entry(argument(0), argument(1), argument(2), argument(3), argument(4), &failure,
                      mode)) {
    throw_failure(info.Env(), failure);
  }
  return info.Env().Undefined();
}

// The directories that JavaScript holds, for all threads.
struct HeldDirectories {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<Anchor>> by_path;
};

HeldDirectories& held_directories() {
  // Never destroyed: threads may outlive every static.
  static HeldDirectories* const all = new HeldDirectories();
  return *all;
}

// anchorDirectory(path, isOurs)
Napi::Value anchor_directory(const Napi::CallbackInfo& info) {
  const std::string path = string_of(info[0]);
  Failure failure;
  const std::shared_ptr<Anchor> anchor = Anchor::hold(path, info[1].As<Napi::Boolean>(), &failure);
  if (!anchor) {
    throw_failure(info.Env(), failure);
  } else {
    HeldDirectories& held = held_directories();
    const std::lock_guard<std::mutex> lock(held.lock);
    held.by_path[path] = anchor;
  }
  return info.Env().Undefined();
}

// makeDirectories(path, mode)
Napi::Value make_directories_call(const Napi::CallbackInfo& info) {
  const auto mode = static_cast<mode_t>(info[1].As<Napi::Number>().Uint32Value());
  return Napi::Boolean::New(info.Env(), make_directories(string_of(info[0]), mode));
}

Napi::Value release_directory(const Napi::CallbackInfo& info) {
  HeldDirectories& held = held_directories();
  const std::lock_guard<std::mutex> lock(held.lock);
  held.by_path.erase(string_of(info[0]));
  return info.Env().Undefined();
}

Napi::Value anchored_path(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), Place(string_of(info[0])).path());
}

// What a ring's control page notes of the file at a path: its number, 0 of nothing, and its birth.
Napi::Value file_identity(const Napi::CallbackInfo& info) {
  const FileIdentity identity(string_of(info[0]));
  auto numbers = Napi::BigUint64Array::New(info.Env(), 2);
  numbers[0] = identity.inode();
  numbers[1] = identity.born();
  return numbers;
}

// Goes with the descriptor, and so with a process that is killed. A file system without locks says
// nothing against it.
Napi::Value try_lock(const Napi::CallbackInfo& info) {
  const int fd = info[0].As<Napi::Number>().Int32Value();
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Napi::Boolean::New(info.Env(), false);
    if (errno != EINTR) break;
  }
  return Napi::Boolean::New(info.Env(), true);
}

// nextData(fd, offset): where a file has bytes again, from an offset on. -1: only a hole follows. A
// file system that does not know of holes answers the offset itself.
Napi::Value next_data(const Napi::CallbackInfo& info) {
  const auto offset = static_cast<off_t>(info[1].As<Napi::Number>().Int64Value());
#ifdef SEEK_DATA
  const off_t found = lseek(info[0].As<Napi::Number>().Int32Value(), offset, SEEK_DATA);
  if (found >= 0 || errno == ENXIO) {
    return Napi::Number::New(info.Env(), static_cast<double>(found));
  }
#endif
  return Napi::Number::New(info.Env(), static_cast<double>(offset));
}

// hasHiddenName(directory, other)
Napi::Value has_hidden_name_call(const Napi::CallbackInfo& info) {
  Failure failure;
  const bool found = has_hidden_name(string_of(info[0]), string_of(info[1]), &failure);
  if (failure.error != 0) throw_failure(info.Env(), failure);
  return Napi::Boolean::New(info.Env(), found);
}

Napi::Value ring_is_held(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), is_ring_file_held(info[0].As<Napi::Number>().Int32Value()));
}

}  // namespace

void add_file_calls(Napi::Object exports) {
  const auto put = [&](const char* name, Call call) { add_call(exports, name, call); };
  put("replaceFile", replace_file_call);
  put("putListEntry", put_list_entry_call);
  put("anchorDirectory", anchor_directory);
  put("makeDirectories", make_directories_call);
  put("releaseDirectory", release_directory);
  put("anchoredPath", anchored_path);
  put("fileIdentity", file_identity);
  put("tryLock", try_lock);
  put("hasHiddenName", has_hidden_name_call);
  put("nextData", next_data);
  put("ringIsHeld", ring_is_held);
}

}  // namespace tracewright
