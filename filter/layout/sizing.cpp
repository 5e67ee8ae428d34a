#include "filter/layout/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "filter/base/error.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {
namespace {

// The rate at that many bits per entry in an array so large that its size no longer matters.
double rate_at(double bits_per_entry, std::uint32_t hashes, Layout layout, std::uint32_t block_bytes) {
  const LayoutRules& rules = layout_rules(layout);
  FilterShape shape = {.layout = layout, .hashes = hashes, .block_bytes = block_bytes, .block_count = 1'000'000};
  // The size of a block may follow from k.
  if (!rules.allows_block_bytes(block_bytes, hashes)) shape.block_bytes = rules.default_block_bytes(hashes);
  const double bits = 8.0 * shape.block_bytes * static_cast<double>(shape.block_count);
  return rules.false_positive_rate(shape, bits / bits_per_entry);
}

// The mean of f^k, where f is the share of ones in `bits` bits after `probes` random bits were set, some of them more
// than once. It is larger than the k-th power of the mean: by 5 % for k = 14 in 512 bits (Bose et al., "On the
// false-positive rate of Bloom filters", 2008). The exact sum loses its digits by cancellation; the beta distribution
// with the mean and variance of f agrees with it to a part in a thousand.
double mean_power_of_fill(double bits, double probes, std::uint32_t hashes) {
  const double log_zero = probes * std::log1p(-1 / bits);
  const double zero = std::exp(log_zero);  // the probability that a given bit is 0
  const double mean = -std::expm1(log_zero);
  const double both_zero = std::exp(probes * std::log1p(-2 / bits));  // that two given bits are
  const double variance =
      (zero - both_zero) / bits + zero * zero * std::expm1(probes * std::log1p(-1 / ((bits - 1) * (bits - 1))));
  if (variance <= mean * 1e-15) return std::pow(mean, hashes);
  const double weight = mean * (1 - mean) / variance - 1;
  double power = 1;
  for (std::uint32_t i = 0; i < hashes; ++i) power *= (mean * weight + i) / (weight + i);
  return power;
}

}  // namespace

std::uint32_t best_hashes(double bits_per_entry, Layout layout, std::uint32_t block_bytes) noexcept {
  const std::uint32_t most = layout_rules(layout).most_hashes();
  const double ideal = std::clamp(std::floor(bits_per_entry * std::numbers::ln2), 1.0, static_cast<double>(most));
  auto best = static_cast<std::uint32_t>(ideal);
  double best_rate = rate_at(bits_per_entry, best, layout, block_bytes);
  const auto improve_by = [&](std::uint32_t step, std::uint32_t end) {
    while (best != end) {
      const double rate = rate_at(bits_per_entry, best + step, layout, block_bytes);
      if (rate >= best_rate) return;
      best += step;
      best_rate = rate;
    }
  };
  improve_by(1, most);
  improve_by(~std::uint32_t{0}, 1);  // one hash less; small blocks need fewer
  return best;
}

std::uint64_t blocks_for(std::uint64_t entries, double bits_per_entry, std::uint32_t block_bytes) {
  if (!(bits_per_entry >= 1 && bits_per_entry <= 64)) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "bits per entry must be between 1 and 64, not " + std::to_string(bits_per_entry));
  }
  // Fixed point with 32 binary places and 128-bit products: the same result on every machine, and nothing
  // wraps (2^64 entries of 2^6 bits in units of 2^-32 bits are below 2^102).
  __extension__ using Wide = unsigned __int128;
  const Wide bits = Wide{entries} * static_cast<std::uint64_t>(std::ldexp(bits_per_entry, 32));
  const Wide block_bits = Wide{block_bytes} * 8 << 32;
  const Wide blocks = std::max<Wide>(1, (bits + block_bits - 1) / block_bits);
  const FilterShape shape = {
      .block_bytes = block_bytes,
      .block_count = static_cast<std::uint64_t>(std::min<Wide>(blocks, std::numeric_limits<std::uint64_t>::max()))};
  body_bytes(shape);  // throws if no file can be that large
  return shape.block_count;
}

double classic_fpr(double entries, double bits, std::uint32_t hashes) noexcept {
  return std::pow(-std::expm1(entries * hashes * std::log1p(-1 / bits)), hashes);
}

double partitioned_fpr(double entries, double bits, std::uint32_t hashes) noexcept {
  return std::pow(-std::expm1(entries * std::log1p(-(hashes / bits))), hashes);
}

double blocked_fpr(double entries, std::uint64_t block_count, std::uint32_t block_bytes,
                   std::uint32_t hashes) noexcept {
  if (entries <= 0) return 0;
  const double load = entries / static_cast<double>(block_count);
  // Twelve standard deviations, and some for small loads, leave out less than 10^-30 of the mass.
  const double reach = 12 * std::sqrt(load) + 40;
  const double first = std::max(1.0, std::floor(load - reach));
  const double last = std::ceil(load + reach);
  double rate = 0;
  for (double j = first; j <= last; ++j) {
    const double probability = std::exp(j * std::log(load) - load - std::lgamma(j + 1));
    rate += probability * mean_power_of_fill(8.0 * block_bytes, j * hashes, hashes);
  }
  return std::min(rate, 1.0);
}

double expected_fpr(double entries, const FilterShape& shape) noexcept {
  return layout_rules(shape.layout).false_positive_rate(shape, entries);
}

double either_fpr(double fpr) noexcept {
  return fpr * (2 - fpr);
}

double fpr_of_several(std::span<const double> fprs) noexcept {
  double log_none = 0;  // exact for small rates, too
  for (const double fpr : fprs) log_none += std::log1p(-fpr);
  return 0 - std::expm1(log_none);  // if no rate is above 0: 0, and not -0
}

double bits_per_entry_for_fpr(double fpr, Layout layout, std::uint32_t block_bytes,
                              std::optional<std::uint32_t> hashes) {
  const auto rate = [&](double bits_per_entry) {
    const std::uint32_t k = hashes ? *hashes : best_hashes(bits_per_entry, layout, block_bytes);
    return rate_at(bits_per_entry, k, layout, block_bytes);
  };
  double low = 1;
  double high = 64;
  if (!(fpr < 1) || !(fpr > 0) || rate(high) > fpr) {
    const std::string with = hashes ? " and " + std::to_string(*hashes) + " hashes" : "";
    throw BloomgateError(ErrorCode::bad_argument, "no filter of 1 to 64 bits per entry" + with +
                                                      " has a false-positive rate of " + std::to_string(fpr));
  }
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (rate(middle) > fpr ? low : high) = middle;
  }
  return high;
}

std::uint32_t least_hashes_for_fpr(double fpr, double bits_per_entry, Layout layout, std::uint32_t block_bytes) {
  const std::uint32_t best = best_hashes(bits_per_entry, layout, block_bytes);
  // Up to the best k, each further hash lowers the rate.
  for (std::uint32_t hashes = 1; hashes <= best; ++hashes) {
    if (rate_at(bits_per_entry, hashes, layout, block_bytes) <= fpr) return hashes;
  }
  throw BloomgateError(ErrorCode::bad_argument,
                       std::to_string(bits_per_entry) + " bits per entry do not give a false-positive rate of " +
                           std::to_string(fpr) + " with any number of hashes; allow more bits per entry");
}

double distinct_entries(std::uint64_t bits_set, const FilterShape& shape) noexcept {
  const double bits = 8.0 * shape.block_bytes * static_cast<double>(shape.block_count);
  return layout_rules(shape.layout).entries_of_fill(shape, static_cast<double>(bits_set) / bits);
}

double fpr_from_fill(std::uint64_t bits_set, const FilterShape& shape) noexcept {
  const double entries = distinct_entries(bits_set, shape);
  return std::isfinite(entries) ? expected_fpr(entries, shape) : 1;
}

}  // namespace bloomgate
