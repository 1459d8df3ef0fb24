#include "ring/waiting_index.h"

#include <cmath>
#include <memory>

#include "check.h"

namespace tracewright {
namespace test {

// As `bucketOf` of src/spans/keep/released-counts.ts.
TEST(durations_are_counted_in_buckets_of_a_part_of_an_octave) {
  CHECK_EQUAL(WaitingCounts::bucket_of(0), 0u);
  for (double ns = 1; ns < 0x1p52; ns += 1 + std::floor(ns / 7)) {
    const double octave = std::floor(std::log2(ns));
    const double part = std::floor((ns / std::exp2(octave) - 1) * 32);
    const double bucket = std::min(1 + 32 * octave + part, 1536.0);
    CHECK_EQUAL(static_cast<double>(WaitingCounts::bucket_of(ns)), bucket);
  }
}

TEST(a_duration_that_is_taken_back_leaves_nothing) {
  const auto counts = std::make_unique<WaitingCounts>();
  *counts = {};
  counts->add(1000);
  counts->add(2000);
  counts->take_back(1000, false);
  CHECK_EQUAL(counts->count, 1.0);
  CHECK_EQUAL(counts->time, 2000.0);
  CHECK_EQUAL(counts->buckets[WaitingCounts::bucket_of(1000)], 0);
  // A record of it has gone out already.
  counts->take_back(4000, true);
  CHECK_EQUAL(counts->buckets[WaitingCounts::bucket_of(4000)], -1);
  CHECK_EQUAL(counts->errors, -1.0);
}

}  // namespace test
}  // namespace tracewright
