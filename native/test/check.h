// The smallest frame that tests need: each registers itself, and a check that does not hold ends
// the process, for every test has one of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace tracewright {
namespace test {

struct Registration {
  Registration(const char* test_name, void (*test_body)());
  const char* name;
  void (*body)();
  const Registration* next;
};

[[noreturn]] void fail(const char* file, int line, const std::string& what);
[[noreturn]] void skip(const char* reason);

template <typename A, typename B>
void check_equal(const A& left, const B& right, const char* text, const char* file, int line) {
  if (left == right) return;
  std::ostringstream what;
  what << text << ": " << left << " is not " << right;
  fail(file, line, what.str());
}

// Whether a sanitizer slows everything down by a factor of ten or so.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlow = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif
#else
constexpr bool kSlow = false;
#endif

// How much work a stress test does: less where it is slow.
constexpr uint64_t scaled(uint64_t amount) {
  return kSlow ? amount / 16 : amount;
}

}  // namespace test
}  // namespace tracewright

#define TEST(name)                                                                        \
  static void test_##name();                                                              \
  static const ::tracewright::test::Registration registration_##name(#name, test_##name); \
  static void test_##name()

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) ::tracewright::test::fail(__FILE__, __LINE__, "" #condition); \
  } while (false)

#define CHECK_EQUAL(left, right) \
  ::tracewright::test::check_equal((left), (right), #left, __FILE__, __LINE__)

#define SKIP(reason) ::tracewright::test::skip(reason)
