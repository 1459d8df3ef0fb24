#include <cstring>

#include "check.h"

namespace tracewright {
namespace test {

namespace {

constexpr int kSkipped = 77;

const Registration*& first() {
  static const Registration* list = nullptr;
  return list;
}

}  // namespace

Registration::Registration(const char* test_name, void (*test_body)())
    : name(test_name), body(test_body), next(first()) {
  first() = this;
}

// Both end the process at once: other threads of the test may still be at work.
void fail(const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
  std::_Exit(1);
}

void skip(const char* reason) {
  std::fprintf(stderr, "skipped: %s\n", reason);
  std::_Exit(kSkipped);
}

}  // namespace test
}  // namespace tracewright

int main(int count, char** arguments) {
  using tracewright::test::Registration;
  const char* const wanted = count > 1 ? arguments[1] : "--list";
  for (const Registration* each = tracewright::test::first(); each != nullptr; each = each->next) {
    if (std::strcmp(wanted, "--list") == 0) {
      std::printf("%s\n", each->name);
    } else if (std::strcmp(wanted, each->name) == 0) {
      each->body();
      return 0;
    }
  }
  if (std::strcmp(wanted, "--list") == 0) return 0;
  std::fprintf(stderr, "no test has the name %s\n", wanted);
  return 2;
}
