#include "filter/layout/ribbon_rate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "filter/layout/ribbon_block.hpp"
#include "filter/layout/ribbon_solver.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// The mean over all places of a stranger's row, each with a half for every column that it has there.
double mean_over_starts(std::uint32_t count) {
  const RibbonGroups groups(count);
  const std::uint32_t places = groups.starts() + kRibbonLateStarts;
  double sum = 0;
  for (std::uint32_t place = 0; place < places; ++place) {
    const std::uint32_t group = std::min(place, groups.starts() - 1) / kRibbonGroupSlots;
    sum += std::ldexp(1.0, -static_cast<int>(groups.columns_of(group + kRibbonRowGroups - 1)));
  }
  return sum / places;
}

// One block in twenty-five has a group more than its keys need.
double rate_of_keys(std::uint64_t keys) {
  const std::uint32_t groups = ribbon_groups_for(keys);
  if (groups > kMostRibbonGroups) return 1;
  return 0.96 * ribbon_rate_of_groups(groups) + 0.04 * ribbon_rate_of_groups(std::min(groups + 1, kMostRibbonGroups));
}

TEST_CASE("the rate of a ribbon block is one half for each column, on average over the places of a row") {
  for (std::uint32_t count = kLeastRibbonGroups; count <= kMostRibbonGroups; ++count) {
    CAPTURE(count);
    CHECK(ribbon_rate_of_groups(count) == Approx(mean_over_starts(count)).epsilon(1e-9));
  }
}

TEST_CASE("the rate of an average ribbon is that of its blocks, by Poisson's distribution of their keys") {
  for (const double load : {0.01, 0.3, 1.0, 20.0, 1000.0, 4096.0, 31'000.0}) {
    CAPTURE(load);
    double want = 0;
    for (std::uint64_t keys = 1; keys < 40'000; ++keys) {
      const auto number = static_cast<double>(keys);
      want += std::exp(number * std::log(load) - load - std::lgamma(number + 1)) * rate_of_keys(keys);
    }
    CHECK(ribbon_fpr(load, 1) == Approx(want).epsilon(1e-6).margin(0));
    CHECK(ribbon_fpr(8 * load, 8) == Approx(want).epsilon(1e-6).margin(0));
  }
  CHECK(ribbon_fpr(0, 10) == 0);
  CHECK(ribbon_fpr(4096e6, 1'000'000) == Approx(0.00504).epsilon(0.01));
}

TEST_CASE("blocks with more keys than they can hold have the rate 1, and never more") {
  for (double load = 33'000; load < 10'000'000; load *= 1.7) {
    CHECK(ribbon_fpr(load, 1) == Approx(1));
    CHECK(ribbon_fpr(load, 1) <= 1);
  }
}

TEST_CASE("the rate of a ribbon is the mean of its blocks, and a block without keys has the rate 0") {
  std::vector<std::byte> body(5 * kRibbonBlockBytes);
  const auto set_block = [&](std::size_t block, std::uint64_t keys, std::uint32_t groups) {
    store_little_endian(body.data() + block * kRibbonBlockBytes, keys << 16 | groups);
  };
  CHECK(ribbon_rate(body) == 0);
  set_block(0, 4096, 67);
  set_block(2, 31'000, 510);
  CHECK(ribbon_rate(body) == Approx((ribbon_rate_of_groups(67) + ribbon_rate_of_groups(510)) / 5));
  set_block(3, 40'000, kMostRibbonGroups);
  CHECK(ribbon_rate(body) == Approx((ribbon_rate_of_groups(67) + ribbon_rate_of_groups(510) + 1) / 5));
  set_block(1, 4096, kLeastRibbonGroups - 1);  // no number of groups
  set_block(4, 4096, kMostRibbonGroups + 1);
  CHECK(ribbon_rate(body) == Approx((ribbon_rate_of_groups(67) + ribbon_rate_of_groups(510) + 1) / 5));
}

}  // namespace
}  // namespace bloomgate
