#include "record_packing.h"

#include <algorithm>
#include <cstring>

namespace tracewright {

namespace {

constexpr size_t kLine = 64;
// How far in front of the copy memory is asked for: its latency, at the speed of a copy.
constexpr size_t kAheadBytes = 1024;
// Records whose bytes and values stay in the first-level cache while one column after the other is
// stored into them.
constexpr size_t kPieceRecords = 128;
// Values that are looked at without a branch for each.
constexpr size_t kPieceValues = 512;

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

template <typename Integer>
Integer converted(Integer value) {
  return value;
}
uint64_t converted(double value) {
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
    for (size_t i = 0; i < count; ++i) std::memcpy(to + i * record_bytes, &stored, sizeof stored);
    return;
  }
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

void copy_ahead(uint8_t* to, const uint8_t* from, size_t bytes) {
  ask_for(to, std::min(bytes, kAheadBytes));
  for (; bytes >= kLine + kAheadBytes; bytes -= kLine, to += kLine, from += kLine) {
    __builtin_prefetch(to + kAheadBytes, 1);
    std::memcpy(to, from, kLine);
  }
  if (bytes > 0) std::memcpy(to, from, bytes);
}

size_t first_outside(const uint8_t* bytes, size_t stride, size_t count, uint8_t low, uint8_t high) {
  const auto outside = [low, high](uint8_t byte) {
    return static_cast<uint8_t>(static_cast<uint8_t>(byte < low) |
                                static_cast<uint8_t>(byte > high));
  };
  size_t done = 0;
  for (; done < count; done += kPieceValues) {
    const size_t piece = std::min(count - done, kPieceValues);
    const uint8_t* const from = bytes + done * stride;
    uint8_t found = 0;
    if (stride == 1) {
      for (size_t i = 0; i < piece; ++i) found |= outside(from[i]);
    } else {
      for (size_t i = 0; i < piece; ++i) found |= outside(from[i * stride]);
    }
    if (found != 0) break;
  }
  while (done < count && outside(bytes[done * stride]) == 0) ++done;
  return std::min(done, count);
}

size_t first_inexact(const double* values, size_t count) {
  size_t done = 0;
  for (; done < count; done += kPieceValues) {
    const size_t piece = std::min(count - done, kPieceValues);
    bool exact = true;
    for (size_t i = 0; i < piece; ++i) exact &= is_exact(values[done + i]);
    if (!exact) break;
  }
  while (done < count && is_exact(values[done])) ++done;
  return std::min(done, count);
}

}  // namespace tracewright
