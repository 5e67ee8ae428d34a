// The false-positive rate of the layout ribbon. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomgate {

// For a block with that many groups, whose rows are not crowded: one half for each column of a non-member's row.
double ribbon_rate_of_groups(std::uint32_t groups) noexcept;

// For the average filter: the rate of a block with j keys, averaged over the Poisson distribution of j. Cost: some
// twenty standard deviations of terms; a millisecond.
double ribbon_fpr(double entries, std::uint64_t block_count) noexcept;

// For this very array, from the first word of each block. Reads one word of each block.
double ribbon_rate(std::span<const std::byte> body) noexcept;

}  // namespace bloomgate
