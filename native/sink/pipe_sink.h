// Records into what only takes bytes in their order and cannot be read again: a pipe, a device, an
// open descriptor. One ring feeds it. Its reader is waited for as a blocking write would, but never
// by the drain thread, which has other targets.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "file/file_descriptor.h"
#include "sink/sink.h"

namespace tracewright {

class PipeSink : public Sink {
 public:
  // `descriptor`: an open one, which stays open; -1: `name` is the path of a pipe or a device,
  // which is opened when it has a reader.
  static std::shared_ptr<PipeSink> create(const std::string& name, int descriptor,
                                          Failure* failure);

  bool drain(Ring& ring, uint64_t to) override;
  bool append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
              size_t body_bytes, Failure* failure) override;
  int poll_descriptor(short* events) override;
  bool slow() const override { return true; }
  bool patient() const override { return true; }
  bool gone() const override { return gone_.load(std::memory_order_relaxed); }

 protected:
  void shut() override;

 private:
  enum class Kind { path, pipe, socket, file };

  PipeSink(std::string name, bool has_path) : name_(std::move(name)), has_path_(has_path) {}
  bool open_path();
  bool take(FileDescriptor fd, Failure* failure);
  // Bytes that went out at once: 0 if there is no room now, -1 for an error.
  ssize_t write_some(const uint8_t* bytes, size_t count);
  bool write_all(const uint8_t* bytes, size_t count, Failure* failure);
  void refuse(const char* action, int error, Failure* failure);

  const std::string name_;
  const bool has_path_;
  std::mutex lock_;
  FileDescriptor fd_;
  Kind kind_ = Kind::path;
  bool congested_ = false;
  std::atomic<bool> gone_{false};
};

}  // namespace tracewright
