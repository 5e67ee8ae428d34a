#include "milter/health/proportion.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// The share for which `hits` in `tries` lie just at the edge: whose distance from what was seen is kZ deviations.
double deviations(double share, double hits, double tries) {
  return std::abs(hits / tries - share) / std::sqrt(share * (1 - share) / tries);
}

TEST_CASE("each bound of the interval is 1.96 of its own deviations from the observed share") {
  for (const auto& [hits, tries] : {std::pair{1U, 10U}, {5U, 10U}, {9U, 10U}, {2U, 1000U}, {21'600U, 1'000'000U}}) {
    INFO(hits << " of " << tries);
    const Interval interval = wilson_interval(hits, tries);
    CHECK(interval.lower < static_cast<double>(hits) / tries);
    CHECK(interval.upper > static_cast<double>(hits) / tries);
    CHECK(deviations(interval.lower, hits, tries) == Approx(1.959964).epsilon(1e-6));
    CHECK(deviations(interval.upper, hits, tries) == Approx(1.959964).epsilon(1e-6));
  }
}

TEST_CASE("without a hit the share may be 0, and with hits alone it may be 1, but neither is sure") {
  CHECK(wilson_interval(0, 100).lower == 0);
  CHECK(wilson_interval(0, 100).upper == Approx(0.0370).margin(0.0001));
  CHECK(wilson_interval(100, 100).upper == 1);
  CHECK(wilson_interval(100, 100).lower == Approx(0.9630).margin(0.0001));
  CHECK(wilson_interval(0, 1).upper < 1);
}

TEST_CASE("without probes the interval is 0 to 1") {
  CHECK(wilson_interval(0, 0).lower == 0);
  CHECK(wilson_interval(0, 0).upper == 1);
}

}  // namespace
}  // namespace bloomgate
