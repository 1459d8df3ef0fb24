// Columns into records: a value of each of several arrays, side by side in a record of a fixed
// size, and the next values in the next record. What the records mean, and at which offsets their
// fields lie, the caller says.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracewright {

enum class ValueKind { u8, u16, u32, u64, f64 };

// Bytes of a value.
size_t value_bytes(ValueKind kind);

// The values of a field, for record 0 and those after it.
struct Column {
  const void* values = nullptr;
  ValueKind kind = ValueKind::u8;
  bool one_for_all = false;
};

// Where a record holds an unsigned integer.
struct Field {
  size_t offset = 0;
  size_t bytes = 0;
};

// Whether the field takes values of the kind as they are: those of its own size, and into eight
// bytes also u32, and doubles that are integers below 2^53.
bool takes(const Field& field, ValueKind kind);

struct RecordLayout {
  static constexpr size_t kMostFields = 8;
  size_t record_bytes = 0;
  bool big_endian = false;
  size_t fields = 0;
  Field field[kMostFields];
};

// Writes records `first` to `first + count` at `to`. There is a column for each field, which takes
// its kind. A double that is no integer from 0 to 2^53 - 1 becomes any number.
void pack_records(uint8_t* to, const RecordLayout& layout, const Column* columns, size_t first,
                  size_t count);

// Copies records up to the first whose first byte is below `low` or above `high`, and returns its
// number, or `count`. Some of those after it may be copied too.
size_t copy_records(uint8_t* to, const uint8_t* from, size_t record_bytes, size_t count,
                    uint8_t low, uint8_t high);

// The first of `count` bytes, `stride` apart, that is below `low` or above `high`; otherwise
// `count`.
size_t first_outside(const uint8_t* bytes, size_t stride, size_t count, uint8_t low, uint8_t high);

// The first of the doubles that is no integer from 0 to 2^53 - 1; otherwise `count`.
size_t first_inexact(const double* values, size_t count);

}  // namespace tracewright
