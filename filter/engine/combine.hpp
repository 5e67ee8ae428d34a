// The union and the intersection of filters, and how much two have in common, without the lists they were built from.
//
// Not possible in the layouts ribbon and counting, nor for filters that were built with excluded senders (these can
// only be compared). The filters must have one shape: the same layout, size, number of hashes, hash family, seed and
// profile, so that an entry has the same bits in all. Used by `bloomgate merge`, `intersect` and `compare`. Works at
// the speed of memory, in parallel.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "filter/file/mapped_filter.hpp"
#include "filter/file/secret_key.hpp"

namespace bloomgate {

enum class Combination : std::uint8_t {
  // Lists every address that any of them lists: the same filter as one build from all of their lists. It has sender
  // domains if each filter with addresses has them.
  unite,
  // Lists every address that all of them list, and has the domain entries that all have. It has more bits set than a
  // filter built from the common addresses, so its false-positive rate is between that of such a filter and that of the
  // emptiest one. Its sender domains are those that are in all filters with sender domains.
  intersect,
};

// Throws BloomgateError{bad_argument}, with what differs, unless `a` and `b` have one shape.
void require_same_shape(const MappedFilter& a, const MappedFilter& b);

// Writes the combination of at least two filters to `path` (see FilterWriter), with `threads` threads. Its number of
// addresses is the sum for a union, and an estimate for an intersection; its domain entries are exact. It is signed by
// `key`, if there is one, also if the filters have other signers. Throws what require_same_shape() and FilterWriter
// throw, and BloomgateError{interrupted} if `stop` turned true, or {changed_while_open}. Returns the header as written.
FilterHeader combine_filters(std::span<const MappedFilter* const> filters, Combination combination,
                             const std::string& path, unsigned threads, const std::atomic<bool>& stop,
                             const SecretKey* key = nullptr);

// Numbers of distinct addresses, estimated from the bits that are set (Swamidass and Baldi, 2007; see sizing.hpp).
// Their standard error is below one address in a hundred once there are some ten thousand. Domain entries are counted.
struct Overlap {
  double a = 0;
  double b = 0;
  double either = 0;  // in the union
  double both = 0;    // a + b - either, at least 0
  std::uint64_t domains_of_a = 0;
  std::uint64_t domains_of_b = 0;
  std::uint64_t domains_of_both = 0;
};

// Throws as require_same_shape(), and {changed_while_open}.
Overlap estimate_overlap(const MappedFilter& a, const MappedFilter& b, unsigned threads);

}  // namespace bloomgate
