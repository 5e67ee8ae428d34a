#include "milter/health/proportion.hpp"

#include <algorithm>
#include <cmath>

namespace bloomgate {

Interval wilson_interval(std::uint64_t hits, std::uint64_t tries) noexcept {
  constexpr double kZ = 1.959963984540054;  // of the normal distribution, 95 % lie within as many deviations
  if (tries == 0) return {};
  const auto n = static_cast<double>(tries);
  const double share = static_cast<double>(hits) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // Rounding must not leave a bound a little outside, or a little inside where it is exact.
  return {.lower = hits == 0 ? 0 : std::max(0.0, middle - half),
          .upper = hits == tries ? 1 : std::min(1.0, middle + half)};
}

}  // namespace bloomgate
