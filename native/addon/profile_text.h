// The text of a part of a profile: what docs/formats/records.md says of `tracewright.profile`.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace tracewright {

class ProfileText {
 public:
  // A text of an event has at most 65,535 bytes.
  static constexpr size_t kMostBytes = 48 << 10;

  bool is_empty() const { return samples_.empty(); }
  // Whether another sample may have no room.
  bool is_full() const;

  // The number of a frame or a node, which is added when it is asked for first.
  size_t frame(const std::string& text);
  size_t node(const void* key, size_t frame, size_t parent);
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // Of a node that was added; kNone: it was not.
  size_t known(const void* key) const;

  void sample(uint64_t at, size_t node, int32_t high, int32_t low);
  // Instead of samples: bytes that a node has allocated in so many objects.
  void size(size_t node, size_t bytes, unsigned count);
  // All of it is of one moment.
  void at(uint64_t time) { from_ = to_ = time; }
  void line(size_t node, int number, unsigned count);

  // Adds what `CpuProfile::take` says to an array, and begins anew.
  void add_to(napi_env env, napi_value list, uint32_t& length);

 private:
  std::string frames_;
  std::string nodes_;
  std::string samples_;
  std::string spans_;
  std::string lines_;
  std::unordered_map<std::string, size_t> frame_numbers_;
  std::unordered_map<const void*, size_t> node_numbers_;
  std::unordered_map<uint64_t, size_t> span_numbers_;
  uint64_t from_ = 0;
  uint64_t to_ = 0;
};

}  // namespace tracewright
