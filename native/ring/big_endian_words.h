// Numbers that JavaScript has stored as its machine does, put where and how a record has them.
//
// A DataView store is the only one in JavaScript that takes any place and any byte order, and it
// costs a test, a swap and a store for every number. A typed array is copied at once, but only to
// where its elements are aligned and only as the machine has them: the rest is done here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tracewright {

// Moves `count` 32-bit words in the machine's byte order from `from` to big-endian ones at `to`,
// which may be the same place or up to 31 bytes before it, and need not be aligned.
void put_big_endian_words(uint8_t* to, const uint8_t* from, size_t count);

// A number with its bytes in the order of a record, and back.
inline uint16_t big_endian(uint16_t half) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  half = __builtin_bswap16(half);
#endif
  return half;
}

inline uint32_t big_endian(uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  return word;
}

inline uint64_t big_endian(uint64_t number) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  number = __builtin_bswap64(number);
#endif
  return number;
}

template <typename Number>
Number read_big_endian(const uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return big_endian(number);
}

inline uint32_t big_endian_word(const uint8_t* bytes) {
  return read_big_endian<uint32_t>(bytes);
}

inline uint64_t big_endian_number(const uint8_t* bytes) {
  return read_big_endian<uint64_t>(bytes);
}

// A word or a number, by its type.
template <typename Number>
void put_big_endian(uint8_t* to, Number number) {
  number = big_endian(number);
  std::memcpy(to, &number, sizeof number);
}

}  // namespace tracewright
