// Which kinds of entries, beside addresses and domain entries, a filter or a store declares that it holds: pairs
// (filter/address/pair.hpp), and entries with a signer (filter/address/signer.hpp). A look-up may omit the other kinds.
// A plain value.
#pragma once

#include <cstdint>

#include "filter/address/address.hpp"
#include "filter/base/saturating_sum.hpp"

namespace bloomgate {

struct KindsHeld {
  // At most how many of the entries in the bits are pairs, duplicates counted: the count does not fall when pairs are
  // removed. 0: none is a pair.
  std::uint64_t pairs_in_bits = 0;
  // Whether pairs, and entries with a signer, are among the entries that are kept exactly. It stays true when they are
  // removed.
  bool domain_pairs = false;
  bool signers = false;

  bool any_pairs() const noexcept { return pairs_in_bits != 0 || domain_pairs; }

  // Call it for an entry that does not go into the bits.
  void note_kept_exactly(EntryKind kind) noexcept {
    domain_pairs = domain_pairs || kind == EntryKind::domain_pair;
    signers = signers || kind == EntryKind::with_signer;
  }

  // The sum of both. A count that would overflow becomes the largest number, since a file may declare any number.
  constexpr KindsHeld& operator+=(const KindsHeld& more) noexcept {
    pairs_in_bits = saturating_sum(pairs_in_bits, more.pairs_in_bits);
    domain_pairs = domain_pairs || more.domain_pairs;
    signers = signers || more.signers;
    return *this;
  }

  friend bool operator==(const KindsHeld&, const KindsHeld&) = default;
};

// `kinds`, limited to what is possible with so many entries in the bits, and so many that are kept exactly.
constexpr KindsHeld limited(KindsHeld kinds, std::uint64_t in_bits, std::uint64_t kept_exactly) noexcept {
  const bool is_any_kept = kept_exactly != 0;
  return {.pairs_in_bits = kinds.pairs_in_bits < in_bits ? kinds.pairs_in_bits : in_bits,
          .domain_pairs = kinds.domain_pairs && is_any_kept,
          .signers = kinds.signers && is_any_kept};
}

}  // namespace bloomgate
