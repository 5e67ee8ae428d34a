// The arithmetic of Bloom filters: how big, how many probes, how many false positives. Pure functions of numbers.
//
// Rates are probabilities in [0, 1], sizes are in bits or bytes as their names say, all integer arithmetic is 64-bit
// and checked. Sources: Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 13(7), 1970; Putze,
// Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters", 2007, section 3 (blocked filters as a Poisson
// mixture); Swamidass and Baldi, "Mathematical correction for fingerprint similarity measures", 2007 (entries from the
// fill).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "filter/layout/filter_shape.hpp"

namespace bloomgate {

// The k with the lowest false-positive rate, in 1..kMaxHashes: near bits_per_entry * ln 2, lower if blocks are
// small. `block_bytes` counts only in layouts that let you choose it. Cost: milliseconds.
std::uint32_t best_hashes(double bits_per_entry, Layout layout = Layout::page,
                          std::uint32_t block_bytes = 4096) noexcept;

// Blocks for that many entries at that many bits each, rounded up, at least 1. Throws BloomgateError{bad_argument} for
// bits_per_entry outside [1, 64] and {size_overflow} past 2^61 bytes.
std::uint64_t blocks_for(std::uint64_t entries, double bits_per_entry, std::uint32_t block_bytes);

// The rate of a classic filter of `bits` bits: (1 - (1 - 1/bits)^(k*n))^k.
double classic_fpr(double entries, double bits, std::uint32_t hashes) noexcept;

// The rate of `hashes` slices that have `bits` bits together, with one bit per entry in each: (1 - (1 - k/bits)^n)^k.
double partitioned_fpr(double entries, double bits, std::uint32_t hashes) noexcept;

// The rate of a blocked filter: that of one block with j entries, averaged over the Poisson distribution of j. In one
// block it is the mean of (ones / bits)^k; the ones vary from block to block, which matters in small ones. Cost: some
// twenty standard deviations of terms; a millisecond for pages.
double blocked_fpr(double entries, std::uint64_t block_count, std::uint32_t block_bytes, std::uint32_t hashes) noexcept;

// The rate of a filter of that shape, by the theory of its layout.
double expected_fpr(double entries, const FilterShape& shape) noexcept;

// The bits per entry for which a filter with that many hashes, or else its best k, has that rate. Throws
// BloomgateError{bad_argument} if no number of bits in [1, 64] reaches it. Cost: a tenth of a second.
double bits_per_entry_for_fpr(double fpr, Layout layout, std::uint32_t block_bytes,
                              std::optional<std::uint32_t> hashes = {});

// The fewest hashes with which that many bits per entry give at most that rate. Throws BloomgateError{bad_argument} if
// no number of hashes does.
std::uint32_t least_hashes_for_fpr(double fpr, double bits_per_entry, Layout layout, std::uint32_t block_bytes);

// The rate for a message, which is more than one look-up: the daemon's policy may accept if one of two senders is
// listed, and may ask several filters. The probability that one of two look-ups at that rate is wrong: 1 - (1 - fpr)^2.
// If both senders have to be listed, an attacker uses one address for both, so the rate is that of one look-up.
double either_fpr(double fpr) noexcept;

// One sender in several filters with these rates: 1 - the product of (1 - fpr).
double fpr_of_several(std::span<const double> fprs) noexcept;

// How many distinct entries set that many bits, found by inverting the expected fill. A full array gives infinity.
double distinct_entries(std::uint64_t bits_set, const FilterShape& shape) noexcept;

// The false-positive rate of a filter that has that many bits set.
double fpr_from_fill(std::uint64_t bits_set, const FilterShape& shape) noexcept;

}  // namespace bloomgate
