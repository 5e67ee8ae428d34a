#include "filter/layout/ribbon_rate.hpp"

#include <cmath>

#include "filter/layout/ribbon_block.hpp"
#include "filter/layout/ribbon_solver.hpp"

namespace bloomgate {
namespace {

// The rate of a block with that many keys. The rows of some blocks are crowded, and these blocks have one more group:
// one block in twenty-five, on average over the numbers of keys that have the same number of groups.
double rate_of_keys(double keys) noexcept {
  if (keys < 1) return 0;
  constexpr double kCrowded = 0.04;
  const std::uint32_t groups = ribbon_groups_for(static_cast<std::uint64_t>(keys));
  if (groups > kMostRibbonGroups) return 1;
  const std::uint32_t more = std::min(groups + 1, kMostRibbonGroups);
  return (1 - kCrowded) * ribbon_rate_of_groups(groups) + kCrowded * ribbon_rate_of_groups(more);
}

}  // namespace

double ribbon_rate_of_groups(std::uint32_t groups) noexcept {
  const RibbonGroups shape(groups);
  const double wide =
      static_cast<double>(shape.first_mixed()) * kRibbonGroupSlots / (shape.starts() + kRibbonLateStarts);
  const auto columns = static_cast<int>(shape.columns_of(groups - 1));
  return std::ldexp(1 - wide / 2, -columns);
}

double ribbon_fpr(double entries, std::uint64_t block_count) noexcept {
  if (entries <= 0) return 0;
  const double load = entries / static_cast<double>(block_count);
  // Twelve standard deviations, and some for small loads, leave out less than 10^-30 of the mass.
  const double reach = 12 * std::sqrt(load) + 40;
  double rate = 0;
  for (double keys = std::max(1.0, std::floor(load - reach)); keys <= load + reach; ++keys) {
    rate += std::exp(keys * std::log(load) - load - std::lgamma(keys + 1)) * rate_of_keys(keys);
  }
  return std::min(rate, 1.0);
}

double ribbon_rate(std::span<const std::byte> body) noexcept {
  double sum = 0;
  for (std::size_t begin = 0; begin < body.size(); begin += kRibbonBlockBytes) {
    const std::byte* const block = body.data() + begin;
    const std::uint32_t groups = ribbon_group_count(block);
    if (!is_ribbon_group_count(groups)) continue;
    sum += ribbon_groups_for(ribbon_key_count(block)) > kMostRibbonGroups ? 1 : ribbon_rate_of_groups(groups);
  }
  return sum / (static_cast<double>(body.size()) / kRibbonBlockBytes);
}

}  // namespace bloomgate
