// The false-positive rate of the bits that a filter has actually set; sizing.hpp has the rate of the average filter
// with as many bits set. In an array of few blocks these differ, since some blocks are fuller than others. Used by
// `bloomgate verify`. Pure; safe from any thread.
#pragma once

#include "filter/layout/filter_view.hpp"

namespace bloomgate {

struct RateOfBits {
  double rate = 0;
  // How far the rate may be off, since the probes of a key are not independent. It vanishes as the array grows.
  double uncertainty = 0;
};

// Reads the whole array.
//
// Layout ribbon: see ribbon_rate.hpp. Page, line and counting: the mean over all blocks of the k-th power of the
// block's fill, since a key falls into each block with the same probability, and its k probes must all hit ones.
// Partitioned: the product of the slices' fills. Classic: the k-th power of the fill. In the last two the probes are
// a + b, a + 2b, … (double_hashing.hpp). If b is close to a multiple of a small part of 2^64, several probes fall
// together, which happens to some 1 in m keys for m bits. Measured over some thirty arrays of 20 to 200 entries, the
// rate differs by at most about 1 / m from the product; twice as much is allowed for.
RateOfBits rate_of_bits(const FilterView& view) noexcept;

}  // namespace bloomgate
