// The producing thread's end of a ring, which in the product is JavaScript: it encodes records in
// place, keeps its own count of free bytes and calls make_room only when that runs out.
#pragma once

#include <cstring>

#include "check.h"
#include "record.h"
#include "ring/ring.h"

namespace tracewright {
namespace test {

class Producer {
 public:
  Producer(Ring& ring, uint32_t id)
      : ring_(ring),
        id_(id),
        data_(ring.mapping() + ring.control_bytes()),
        free_(static_cast<int64_t>(ring.capacity())) {}

  // Writes the next record; false when there was no room for it.
  template <Stamp kStamp>
  bool write(uint32_t bytes) {
    uint8_t* const place = reserve(bytes);
    if (place == nullptr) return false;
    encode_record(place, bytes, id_, next_, 0);
    ring_.commit<kStamp>();
    advance(bytes);
    return true;
  }

  // The same with the stamp `ns`; false also when that is refused.
  bool write_stamped(uint32_t bytes, uint64_t ns) {
    uint8_t* const place = reserve(bytes);
    if (place == nullptr) return false;
    encode_record(place, bytes, id_, next_, ns);
    if (!ring_.commit_explicit(0)) return false;
    advance(bytes);
    return true;
  }

  // Past the ring, whatever the size.
  bool write_through(uint32_t bytes, Failure* failure) {
    std::string record(bytes, '\0');
    uint8_t* const text = reinterpret_cast<uint8_t*>(&record[0]);
    encode_record(text, bytes, id_, next_, 0);
    if (!ring_.write_through(text, kRecordHead, text + kRecordHead, bytes - kRecordHead, false,
                             failure)) {
      return false;
    }
    position_ = static_cast<uint64_t>(ring_.control().position);
    free_ = static_cast<int64_t>(ring_.capacity());
    ++next_;
    return true;
  }

  uint64_t written() const { return next_; }

 private:
  uint8_t* reserve(uint32_t bytes) {
    if (free_ < bytes) {
      const int64_t room = ring_.make_room(bytes);
      if (room < static_cast<int64_t>(bytes)) return nullptr;
      free_ = room;
      CHECK_EQUAL(static_cast<uint64_t>(ring_.control().position), position_);
    }
    ring_.control().pending = static_cast<int32_t>(bytes);
    return data_ + position_;
  }

  void advance(uint32_t bytes) {
    free_ -= bytes;
    position_ = (position_ + bytes) & (ring_.capacity() - 1);
    ++next_;
  }

  Ring& ring_;
  const uint32_t id_;
  uint8_t* const data_;
  int64_t free_;
  uint64_t position_ = 0;
  uint64_t next_ = 0;
};

}  // namespace test
}  // namespace tracewright
