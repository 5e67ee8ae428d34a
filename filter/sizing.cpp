#include "filter/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "filter/error.hpp"
#include "filter/file_format.hpp"

namespace bloomgate {
namespace {

// The asymptotic classic rate for real k, enough to compare two values of k.
double rate_at(double bits_per_entry, double hashes) {
  return std::pow(1 - std::exp(-hashes / bits_per_entry), hashes);
}

// The probability that one inserted entry leaves a given bit of a block of `bits` at 0.
double log_miss(double bits, std::uint32_t hashes) {
  return hashes * std::log1p(-1 / bits);
}

}  // namespace

std::uint32_t best_hashes(double bits_per_entry) noexcept {
  const double ideal = bits_per_entry * std::numbers::ln2;
  const double low = std::clamp(std::floor(ideal), 1.0, double{kMaxHashes});
  const double high = std::min(low + 1, double{kMaxHashes});
  return static_cast<std::uint32_t>(rate_at(bits_per_entry, low) <= rate_at(bits_per_entry, high) ? low : high);
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
  file_extent(shape);
  return shape.block_count;
}

double classic_fpr(double entries, double bits, std::uint32_t hashes) noexcept {
  return std::pow(-std::expm1(entries * log_miss(bits, hashes)), hashes);
}

double blocked_fpr(double entries, std::uint64_t block_count, std::uint32_t block_bytes,
                   std::uint32_t hashes) noexcept {
  if (entries <= 0) return 0;
  const double load = entries / static_cast<double>(block_count);
  const double log_miss_of_one = log_miss(8.0 * block_bytes, hashes);
  // Twenty standard deviations, and some for small loads, leave out less than 10^-80 of the mass.
  const double reach = 20 * std::sqrt(load) + 40;
  const double first = std::max(0.0, std::floor(load - reach));
  const double last = std::ceil(load + reach);
  double rate = 0;
  for (double j = first; j <= last; ++j) {
    const double probability = std::exp(j * std::log(load) - load - std::lgamma(j + 1));
    rate += probability * std::pow(-std::expm1(j * log_miss_of_one), hashes);
  }
  return std::min(rate, 1.0);
}

double bits_per_entry_for_fpr(double fpr, std::uint32_t block_bytes) {
  // A large number of blocks stands for "any": the rate depends on their average load only.
  constexpr std::uint64_t kBlocks = 1'000'000;
  const auto rate = [&](double bits_per_entry) {
    const double entries = static_cast<double>(kBlocks) * block_bytes * 8 / bits_per_entry;
    return blocked_fpr(entries, kBlocks, block_bytes, best_hashes(bits_per_entry));
  };
  double low = 1;
  double high = 64;
  if (!(fpr < 1) || !(fpr > 0) || rate(high) > fpr) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "no filter of 1 to 64 bits per entry has a false-positive rate of " + std::to_string(fpr));
  }
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (rate(middle) > fpr ? low : high) = middle;
  }
  return high;
}

double distinct_entries(std::uint64_t bits_set, const FilterShape& shape) noexcept {
  const double block_bits = 8.0 * shape.block_bytes;
  const double fill = static_cast<double>(bits_set) / (block_bits * static_cast<double>(shape.block_count));
  // With a Poisson load of mean L, the expected share of zeros is exp(-L (1 - miss)): the mean of miss^j.
  const double load = -std::log1p(-fill) / -std::expm1(log_miss(block_bits, shape.hashes));
  return load * static_cast<double>(shape.block_count);
}

double fpr_from_fill(std::uint64_t bits_set, const FilterShape& shape) noexcept {
  const double entries = distinct_entries(bits_set, shape);
  if (!std::isfinite(entries)) return 1;
  return blocked_fpr(entries, shape.block_count, shape.block_bytes, shape.hashes);
}

}  // namespace bloomgate
