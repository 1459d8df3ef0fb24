#include "ring/big_endian_words.h"

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tracewright {
namespace {

// Each step reads before it writes, and writes nothing that a later one reads.
[[maybe_unused]] void put_each(uint8_t* to, const uint8_t* from, size_t count) {
  for (; count > 0; --count) {
    uint32_t word;
    std::memcpy(&word, from, sizeof word);
    word = __builtin_bswap32(word);
    std::memcpy(to, &word, sizeof word);
    from += sizeof word;
    to += sizeof word;
  }
}

#if defined(__x86_64__)

constexpr size_t kStep = 8;

// Not every x86 has it, so this is compiled for it and used where it is.
__attribute__((target("avx2"))) void put_by_eight(uint8_t* to, const uint8_t* from, size_t steps) {
  const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3, 2,
                                         1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
  for (; steps > 0; --steps) {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_shuffle_epi8(words, order));
    from += sizeof words;
    to += sizeof words;
  }
}

// By hand, since musl offers a shared object none of what __builtin_cpu_supports needs. The system
// must also save the wide registers (XCR0 bits 1 and 2), which it announces by OSXSAVE.
bool cpu_has_avx2() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
}

const bool has_avx2 = cpu_has_avx2();

#endif

}  // namespace

void put_big_endian_words(uint8_t* to, const uint8_t* from, size_t count) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#if defined(__x86_64__)
  if (has_avx2) {
    put_by_eight(to, from, count / kStep);
    const size_t done = count / kStep * kStep;
    to += done * sizeof(uint32_t);
    from += done * sizeof(uint32_t);
    count -= done;
  }
#endif
  put_each(to, from, count);
#else
  std::memmove(to, from, count * sizeof(uint32_t));
#endif
}

}  // namespace tracewright
