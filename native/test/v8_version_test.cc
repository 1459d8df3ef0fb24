#include "addon/v8_version.h"

#include "check.h"

namespace tracewright {
namespace test {

TEST(fast_calls_are_on_for_the_tested_lines_of_v8) {
  for (const char* version : {"11.3.244.8-node.38", "12.4.254.21-node.57", "13.6.233.17-node.53",
                              "14.1.146.11-node.25", "14.6.202.34-node.34"}) {
    CHECK(is_tested_v8(version));
  }
}

TEST(fast_calls_are_off_for_other_versions_of_v8) {
  for (const char* version :
       {"", "-node.1", "11.30.1.1-node.1", "12.5.1.1-node.1", "13.7.152.1-node.1",
        "14.2.231.1-node.1", "14.60.1.1-node.1", "14.7.1.1-node.1", "15.0.1.1-node.1",
        "114.6.202.34-node.34", "1.14.6.202-node.34", "14.6.202.34", "14.6.202.34-electron.0"}) {
    CHECK(!is_tested_v8(version));
  }
}

}  // namespace test
}  // namespace tracewright
