#include "ring/record_packing.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.h"

namespace tracewright {
namespace test {

namespace {

uint64_t read_big(const uint8_t* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | from[i];
  return value;
}

}  // namespace

TEST(packing_stores_every_column_of_every_record) {
  RecordLayout layout;
  layout.record_bytes = 14;
  layout.big_endian = true;
  layout.fields = 3;
  layout.field[0] = {0, 1};
  layout.field[1] = {1, 8};
  layout.field[2] = {9, 4};
  for (const size_t count : {0, 1, 127, 128, 129, 1000}) {
    const size_t first = 3;
    const uint8_t type = 'r';
    std::vector<double> times(first + count);
    std::vector<uint32_t> places(first + count);
    for (size_t i = 0; i < times.size(); ++i) {
      times[i] = 4503599627370496.0 + static_cast<double>(i);
      places[i] = static_cast<uint32_t>(i * 2654435761u);
    }
    const Column columns[] = {{&type, ValueKind::u8, true},
                              {times.data(), ValueKind::f64, false},
                              {places.data(), ValueKind::u32, false}};
    std::vector<uint8_t> records(count * layout.record_bytes, 0xee);
    pack_records(records.data(), layout, columns, first, count);
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* const record = records.data() + i * layout.record_bytes;
      CHECK_EQUAL(record[0], type);
      CHECK_EQUAL(read_big(record + 1, 8), (uint64_t{1} << 52) + first + i);
      CHECK_EQUAL(read_big(record + 9, 4), places[first + i]);
      CHECK_EQUAL(record[13], 0xee);
    }
  }
}

TEST(packing_survives_doubles_that_are_no_integers) {
  RecordLayout layout;
  layout.record_bytes = 8;
  layout.fields = 1;
  layout.field[0] = {0, 8};
  const std::vector<double> times = {std::nan(""), -1, std::numeric_limits<double>::infinity(),
                                     1e300, 18446744073709551616.0};
  const Column column = {times.data(), ValueKind::f64, false};
  std::vector<uint8_t> records(times.size() * 8);
  pack_records(records.data(), layout, &column, 0, times.size());
  CHECK_EQUAL(first_inexact(times.data(), times.size()), 0u);
}

TEST(packing_copies_records_up_to_a_wrong_one) {
  for (size_t count = 1; count < 300; count = count * 5 / 4 + 1) {
    std::vector<uint8_t> from(count * 18);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i % 200);
    std::vector<uint8_t> to(from.size());
    CHECK_EQUAL(copy_records(to.data(), from.data(), 18, count, 0, 199), count);
    CHECK(from == to);
    from[(count / 2) * 18] = 200;
    CHECK_EQUAL(copy_records(to.data(), from.data(), 18, count, 0, 199), count / 2);
  }
}

TEST(looking_for_a_byte_outside_stays_inside_the_bytes) {
  for (const size_t stride : {1, 18}) {
    for (const size_t count : {1, 511, 512, 513, 1500}) {
      std::vector<uint8_t> bytes((count - 1) * stride + 1, 0x21);
      CHECK_EQUAL(first_outside(bytes.data(), stride, count, 0x21, 0x7e), count);
      bytes.back() = 0x7f;
      CHECK_EQUAL(first_outside(bytes.data(), stride, count, 0x21, 0x7e), count - 1);
    }
  }
}

}  // namespace test
}  // namespace tracewright
