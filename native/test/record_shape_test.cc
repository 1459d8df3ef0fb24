#include "ring/record_shape.h"

#include <string>

#include "check.h"

namespace tracewright {
namespace test {

namespace {

uint64_t count(const RecordShape& shape, const std::string& records) {
  return shape.count_in(reinterpret_cast<const uint8_t*>(records.data()), records.size());
}

// A head of 12 bytes with its flags and name.
std::string head(char flags, const char* name) {
  return flags + std::string(name) + std::string(8, '\n');
}

}  // namespace

TEST(records_of_a_shape_are_counted) {
  RecordShape shape;
  CHECK_EQUAL(count(shape, "anything"), 0u);
  shape.kind = RecordShape::Kind::lines;
  CHECK_EQUAL(count(shape, "a 1\nb 2\nc\n"), 3u);
  shape.kind = RecordShape::Kind::fixed;
  shape.bytes = 18;
  CHECK_EQUAL(count(shape, std::string(180, '\n')), 10u);
}

TEST(records_that_say_what_follows_are_counted_without_the_own_ones) {
  RecordShape shape;
  shape.kind = RecordShape::Kind::flagged;
  shape.bytes = 12;
  shape.own = "OF";
  const std::string none = head(0, "OHx");
  const std::string some = head(15, "OB.") + std::string(16, '\x1f');
  const uint32_t bytes = 1000;
  const std::string length(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  const std::string many = head(0x13, "VYc") + length + std::string(bytes, '\x1f');
  const std::string own = head(0, "OF[") + head(0, "OF]");
  CHECK_EQUAL(count(shape, none + some + own + many + none), 4u);
  CHECK_EQUAL(count(shape, many), 1u);
}

}  // namespace test
}  // namespace tracewright
