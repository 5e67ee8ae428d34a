// Which kinds of entries, beside addresses and domain entries, a filter or a store says that it holds: pairs
// (filter/address/pair.hpp), and entries with a signer (filter/address/signer.hpp). What it does not hold need not be
// looked up. A plain value.
#pragma once

#include <cstdint>

#include "filter/address/address.hpp"
#include "filter/base/saturating_sum.hpp"

namespace bloomgate {

struct KindsHeld {
  // Of what was put into the bits, how many are pairs, duplicates counted: at most, since what is removed is not taken
  // off. 0: none is a pair.
  std::uint64_t pairs_in_bits = 0;
  // Whether pairs, and entries with a signer, are among what is kept exactly. It stays so when they are removed.
  bool domain_pairs = false;
  bool signers = false;

  bool any_pairs() const noexcept { return pairs_in_bits != 0 || domain_pairs; }

  // An entry that does not go into the bits.
  void note_kept_exactly(EntryKind kind) noexcept {
    domain_pairs = domain_pairs || kind == EntryKind::domain_pair;
    signers = signers || kind == EntryKind::with_signer;
  }

  // Those of both; a number that a file says is too large stays the largest there is.
  constexpr KindsHeld& operator+=(const KindsHeld& more) noexcept {
    pairs_in_bits = saturating_sum(pairs_in_bits, more.pairs_in_bits);
    domain_pairs = domain_pairs || more.domain_pairs;
    signers = signers || more.signers;
    return *this;
  }

  friend bool operator==(const KindsHeld&, const KindsHeld&) = default;
};

// At most what there is: so many entries in the bits, and so many that are kept exactly.
constexpr KindsHeld limited(KindsHeld kinds, std::uint64_t in_bits, std::uint64_t kept_exactly) noexcept {
  const bool is_any_kept = kept_exactly != 0;
  return {.pairs_in_bits = kinds.pairs_in_bits < in_bits ? kinds.pairs_in_bits : in_bits,
          .domain_pairs = kinds.domain_pairs && is_any_kept,
          .signers = kinds.signers && is_any_kept};
}

}  // namespace bloomgate
