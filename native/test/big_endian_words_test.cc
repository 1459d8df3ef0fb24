#include "ring/big_endian_words.h"

#include <cstring>
#include <vector>

#include "check.h"

namespace tracewright {
namespace test {

TEST(words_are_put_big_endian_wherever_they_go) {
  constexpr size_t kMost = 70;
  constexpr size_t kFront = 64;
  constexpr uint8_t kUntouched = 0xee;
  for (size_t count = 0; count <= kMost; ++count) {
    for (size_t before = 0; before < 32; ++before) {
      std::vector<uint8_t> bytes(kFront + 4 * kMost + 32, kUntouched);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = 0x01020304u * (i + 1) ^ 0x80000000u;
        std::memcpy(&bytes[kFront + 4 * i], &word, sizeof word);
      }
      uint8_t* const to = &bytes[kFront - before];
      put_big_endian_words(to, &bytes[kFront], count);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = 0x01020304u * (i + 1) ^ 0x80000000u;
        for (uint32_t k = 0; k < 4; ++k) {
          CHECK_EQUAL(static_cast<int>(to[4 * i + k]),
                      static_cast<int>(word >> (24 - 8 * k) & 255));
        }
      }
      CHECK_EQUAL(static_cast<int>(*(to - 1)), static_cast<int>(kUntouched));
      CHECK_EQUAL(static_cast<int>(bytes[kFront + 4 * count]), static_cast<int>(kUntouched));
    }
  }
}

}  // namespace test
}  // namespace tracewright
