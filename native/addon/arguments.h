// Arguments and errors of calls from JavaScript. A missing or wrong value gives the default: a
// thread that is being terminated cannot read its arguments any more.
#pragma once

#include <napi.h>

#include <string>

#include "file/failure.h"
#include "file/file_mode.h"

namespace tracewright {

[[gnu::cold]] inline void throw_failure(Napi::Env env, const Failure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.text());
  error.Set("errno", Napi::Number::New(env, failure.error));
  error.ThrowAsJavaScriptException();
}

inline std::string string_of(const Napi::Value& value) {
  return value.As<Napi::String>().Utf8Value();
}

inline std::string text_of(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return value.IsString() ? value.As<Napi::String>().Utf8Value() : std::string();
}

inline std::string bytes_of(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsTypedArray()) return {};
  const Napi::Uint8Array array = value.As<Napi::Uint8Array>();
  return std::string(reinterpret_cast<const char*>(array.Data()), array.ByteLength());
}

inline double number_of(const Napi::Object& object, const char* name, double otherwise) {
  const Napi::Value value = object.Get(name);
  return value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : otherwise;
}

// The option `fileMode`: permissions of files that are created.
inline mode_t file_mode_of(const Napi::Object& object) {
  return static_cast<mode_t>(number_of(object, "fileMode", kPrivateFile));
}

inline bool flag_of(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return value.IsBoolean() && value.As<Napi::Boolean>().Value();
}

}  // namespace tracewright
