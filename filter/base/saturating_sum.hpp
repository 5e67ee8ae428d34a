// A sum of counts that a file states. A sum past the largest number stays the largest number: the counts of a hostile
// file must not wrap round to a small one.
#pragma once

#include <cstdint>
#include <limits>

namespace bloomgate {

constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace bloomgate
