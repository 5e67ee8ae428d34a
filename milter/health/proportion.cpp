#include "milter/health/proportion.hpp"

#include <algorithm>
#include <cmath>

namespace bloomgate {

Interval wilson_interval(std::uint64_t hits, std::uint64_t tries) noexcept {
  constexpr double kZ = 1.959963984540054;  // 95 % of a normal distribution lie within this many deviations
  if (tries == 0) return {};
  const auto n = static_cast<double>(tries);
  const double share = static_cast<double>(hits) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // Rounding must not put a bound slightly outside [0, 1], or slightly inside where it is exact.
  return {.lower = hits == 0 ? 0 : std::max(0.0, middle - half),
          .upper = hits == tries ? 1 : std::min(1.0, middle + half)};
}

}  // namespace bloomgate
