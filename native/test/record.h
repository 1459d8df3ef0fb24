// The records that the tests write: each says whose it is and which one, and every byte of it
// follows from that, so that a torn, doubled, missing or misplaced one is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tracewright {
namespace test {

// u32 bytes of the whole record (big-endian, as length_offset wants it), u32 producer, u64 stamp,
// u64 number of the record; then the filling.
constexpr uint32_t kRecordHead = 24;
constexpr uint32_t kLengthOffset = 0;
constexpr uint32_t kStampOffset = 8;

struct Record {
  uint32_t bytes;
  uint32_t producer;
  uint64_t stamp;
  uint64_t number;
};

void encode_record(uint8_t* place, uint32_t bytes, uint32_t producer, uint64_t number,
                   uint64_t stamp);

// Bytes of the whole record at `bytes`, or 0 when `count` bytes do not hold one. Fails the test
// when what is there is no record.
size_t decode_record(const uint8_t* bytes, size_t count, bool big_stamp, Record* record);

// What a file or a connection has been found to hold, per producer.
class Survey {
 public:
  explicit Survey(bool big_stamp = false) : big_stamp_(big_stamp) {}

  // Checks that the numbers of each producer follow upon each other and that its stamps never go
  // back. A number may come again only after restart().
  void take(const Record& record);
  // Records of `bytes` that are whole; returns how many bytes they were.
  size_t take_all(const uint8_t* bytes, size_t count);
  // The other end sends again what it cannot know to have arrived: a producer may begin earlier.
  void restart();

  uint64_t records(uint32_t producer) const;
  uint64_t last_stamp(uint32_t producer) const;

 private:
  struct Producer {
    uint64_t next = 0;     // of this connection
    uint64_t records = 0;  // of all: the numbers below have been seen
    uint64_t stamp = 0;
    bool restarted = false;
  };
  const bool big_stamp_;
  std::map<uint32_t, Producer> producers_;
};

// Reads the file from `offset` and checks every record; fails when something follows the last.
Survey survey_file(const std::string& path, size_t offset, bool big_stamp = false);

}  // namespace test
}  // namespace tracewright
