#include "ring/record_packing.h"

#include <algorithm>
#include <cstring>

namespace tracewright {

namespace {

constexpr size_t kLine = 64;
// Records that are written at a time, while the memory of as many after them is fetched: a ring is
// larger than the near caches. With half or twice as many a batch takes a fifth longer.
constexpr size_t kPieceRecords = 64;
// Values that are looked at without a branch for each.
constexpr size_t kPieceValues = 512;

constexpr double kTwoTo52 = 4503599627370496.0;
constexpr double kMostExact = 9007199254740991.0;  // 2^53 - 1

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr bool kBigMachine = false;
#else
constexpr bool kBigMachine = true;
#endif

uint8_t swapped(uint8_t value) {
  return value;
}
uint16_t swapped(uint16_t value) {
  return __builtin_bswap16(value);
}
uint32_t swapped(uint32_t value) {
  return __builtin_bswap32(value);
}
uint64_t swapped(uint64_t value) {
  return __builtin_bswap64(value);
}

bool is_exact(double value) {
  // What is out of range must not be converted.
  const bool in_range = value >= 0 && value <= kMostExact;
  const int64_t whole = static_cast<int64_t>(in_range ? value : 0);
  return in_range & (static_cast<double>(whole) == value);
}

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Whether all are integers from 0 to 2^52, asked without a comparison, so that a compiler can ask
// of several values at a time. It says no to negative zero.
bool all_small_exact(const double* values, size_t count) {
  uint64_t differences = 0;
  uint64_t signs = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = values[i];
    // The sum has no digits after the point: it is rounded. Equal numbers differ by a zero whose
    // bits are all 0, and NaN from itself by NaN.
    const double rounded = (value + kTwoTo52) - kTwoTo52;
    differences |= bits_of(rounded - value);
    signs |= bits_of(value) | bits_of(kTwoTo52 - value);
  }
  return differences == 0 && signs >> 63 == 0;
}

template <typename Integer>
Integer converted(Integer value) {
  return value;
}
uint64_t converted(double value) {
  if (__builtin_expect(value < kTwoTo52, 1)) {
    // An integer that is not negative is in the low bits of this sum.
    return bits_of(value + kTwoTo52) & ((uint64_t{1} << 52) - 1);
  }
  return value >= 0 && value <= kMostExact ? static_cast<uint64_t>(static_cast<int64_t>(value)) : 0;
}

template <typename Value, typename Stored, bool kSwap>
void store_column(uint8_t* to, size_t record_bytes, const Column& column, size_t first,
                  size_t count) {
  const auto* const values = static_cast<const Value*>(column.values);
  const auto encode = [](Value value) {
    const Stored stored = static_cast<Stored>(converted(value));
    return kSwap ? swapped(stored) : stored;
  };
  if (column.one_for_all) {
    const Stored stored = encode(values[0]);
#pragma GCC unroll 4
    for (size_t i = 0; i < count; ++i) std::memcpy(to + i * record_bytes, &stored, sizeof stored);
    return;
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < count; ++i) {
    const Stored stored = encode(values[first + i]);
    std::memcpy(to + i * record_bytes, &stored, sizeof stored);
  }
}

using StoreColumn = void (*)(uint8_t*, size_t, const Column&, size_t, size_t);

template <bool kSwap>
StoreColumn storing(size_t field_bytes, ValueKind kind) {
  switch (kind) {
    case ValueKind::u8:
      return store_column<uint8_t, uint8_t, kSwap>;
    case ValueKind::u16:
      return store_column<uint16_t, uint16_t, kSwap>;
    case ValueKind::u32:
      return field_bytes == 8 ? store_column<uint32_t, uint64_t, kSwap>
                              : store_column<uint32_t, uint32_t, kSwap>;
    case ValueKind::u64:
      return store_column<uint64_t, uint64_t, kSwap>;
    case ValueKind::f64:
      return store_column<double, uint64_t, kSwap>;
  }
  return nullptr;
}

bool is_outside(uint8_t byte, uint8_t low, uint8_t high) {
  return (byte < low) | (byte > high);
}

bool any_outside(const uint8_t* bytes, size_t stride, size_t count, uint8_t low, uint8_t high) {
  if (stride == 1) {
    uint8_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      found = static_cast<uint8_t>(found | (bytes[i] < low) | (bytes[i] > high));
    }
    return found != 0;
  }
  // A difference below zero stays in the sign.
  int32_t found = 0;
#pragma GCC unroll 4
  for (size_t i = 0; i < count; ++i) {
    const int32_t byte = bytes[i * stride];
    found |= (byte - low) | (high - byte);
  }
  return found < 0;
}

void ask_for(const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(from + i, 1);
}

}  // namespace

size_t value_bytes(ValueKind kind) {
  switch (kind) {
    case ValueKind::u8:
      return 1;
    case ValueKind::u16:
      return 2;
    case ValueKind::u32:
      return 4;
    case ValueKind::u64:
    case ValueKind::f64:
      return 8;
  }
  return 0;
}

bool takes(const Field& field, ValueKind kind) {
  return field.bytes == value_bytes(kind) || (field.bytes == 8 && kind == ValueKind::u32);
}

void pack_records(uint8_t* to, const RecordLayout& layout, const Column* columns, size_t first,
                  size_t count) {
  StoreColumn store[RecordLayout::kMostFields];
  for (size_t i = 0; i < layout.fields; ++i) {
    const size_t bytes = layout.field[i].bytes;
    store[i] = layout.big_endian == kBigMachine ? storing<false>(bytes, columns[i].kind)
                                                : storing<true>(bytes, columns[i].kind);
  }
  for (size_t done = 0; done < count;) {
    const size_t piece = std::min(count - done, kPieceRecords);
    const size_t next = std::min(count - done - piece, kPieceRecords);
    const size_t piece_bytes = piece * layout.record_bytes;
    ask_for(to + piece_bytes, next * layout.record_bytes);
    for (size_t i = 0; i < layout.fields; ++i) {
      store[i](to + layout.field[i].offset, layout.record_bytes, columns[i], first + done, piece);
    }
    to += piece_bytes;
    done += piece;
  }
}

size_t copy_records(uint8_t* to, const uint8_t* from, size_t record_bytes, size_t count,
                    uint8_t low, uint8_t high) {
  ask_for(to, std::min(count, kPieceRecords) * record_bytes);
  for (size_t done = 0; done < count;) {
    const size_t piece = std::min(count - done, kPieceRecords);
    const size_t next = std::min(count - done - piece, kPieceRecords);
    const size_t piece_bytes = piece * record_bytes;
    ask_for(to + piece_bytes, next * record_bytes);
    if (any_outside(from, record_bytes, piece, low, high)) {
      return done + first_outside(from, record_bytes, piece, low, high);
    }
    std::memcpy(to, from, piece_bytes);
    to += piece_bytes;
    from += piece_bytes;
    done += piece;
  }
  return count;
}

size_t first_outside(const uint8_t* bytes, size_t stride, size_t count, uint8_t low, uint8_t high) {
  size_t done = 0;
  for (; done < count; done += kPieceValues) {
    const size_t piece = std::min(count - done, kPieceValues);
    if (any_outside(bytes + done * stride, stride, piece, low, high)) break;
  }
  while (done < count && !is_outside(bytes[done * stride], low, high)) ++done;
  return std::min(done, count);
}

size_t first_inexact(const double* values, size_t count) {
  size_t done = 0;
  for (; done < count; done += kPieceValues) {
    const size_t piece = std::min(count - done, kPieceValues);
    const double* const from = values + done;
    if (all_small_exact(from, piece)) continue;
    bool exact = true;
    for (size_t i = 0; i < piece; ++i) exact &= is_exact(from[i]);
    if (!exact) break;
  }
  while (done < count && is_exact(values[done])) ++done;
  return std::min(done, count);
}

}  // namespace tracewright
