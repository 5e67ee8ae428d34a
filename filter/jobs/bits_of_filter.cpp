#include "filter/jobs/bits_of_filter.hpp"

#include <algorithm>
#include <cmath>

namespace bloomgate {

double bits_per_entry_of(const FilterHeader& header) noexcept {
  constexpr double kUsual = 8;
  constexpr double kLeast = 1;
  constexpr double kMost = 64;
  const double entries = static_cast<double>(std::max<std::uint64_t>(1, header.expected_entries));
  const double of_block = 8.0 * header.shape.block_bytes / entries;
  // Above the first, and up to the second, there are as many blocks as there are.
  const double above = static_cast<double>(header.shape.block_count - 1) * of_block;
  const double most = static_cast<double>(header.shape.block_count) * of_block;
  if (above < kUsual && kUsual <= most) return kUsual;
  for (double step = 1; step > 1e-6; step /= 10) {
    const double round = std::floor(most / step) * step;
    if (round > above) return std::clamp(round, kLeast, kMost);
  }
  return std::clamp(most, kLeast, kMost);
}

}  // namespace bloomgate
