// The false-positive rate of the layout ribbon. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomgate {

// Of a block with that many groups, whose rows do not crowd: one half for each column that a stranger's row has.
double ribbon_rate_of_groups(std::uint32_t groups) noexcept;

// Of the average filter: that of a block with j keys, averaged over the Poisson distribution of j. Cost: some twenty
// standard deviations of terms; a millisecond.
double ribbon_fpr(double entries, std::uint64_t block_count) noexcept;

// Of this very array, by what its blocks say of themselves. Reads a word of each.
double ribbon_rate(std::span<const std::byte> body) noexcept;

}  // namespace bloomgate
