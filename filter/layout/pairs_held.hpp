// Which pairs (filter/address/pair.hpp) a filter or a store says that it holds. A plain value.
#pragma once

#include <cstdint>

#include "filter/base/saturating_sum.hpp"

namespace bloomgate {

struct PairsHeld {
  // Of what was put into the bits, how many are pairs, duplicates counted: at most, since what is removed is not taken
  // off. 0: none is a pair.
  std::uint64_t in_bits = 0;
  // Whether pairs are among what is kept exactly. It stays so when they are removed.
  bool with_domains = false;

  bool any() const noexcept { return in_bits != 0 || with_domains; }

  // Those of both; a number that a file says is too large stays the largest there is.
  constexpr PairsHeld& operator+=(const PairsHeld& more) noexcept {
    in_bits = saturating_sum(in_bits, more.in_bits);
    with_domains = with_domains || more.with_domains;
    return *this;
  }

  friend bool operator==(const PairsHeld&, const PairsHeld&) = default;
};

// At most what there is: so many entries in the bits, and so many that are kept exactly.
constexpr PairsHeld limited(PairsHeld pairs, std::uint64_t in_bits, std::uint64_t kept_exactly) noexcept {
  return {pairs.in_bits < in_bits ? pairs.in_bits : in_bits, pairs.with_domains && kept_exactly != 0};
}

}  // namespace bloomgate
