// How often the bits of a whitelist match a key that cannot be on it: the measured false-positive rate, beside the
// expected one. It looks up random keys without an at sign. The key of every entry has an at sign, so no list can
// contain them. Such a key is hashed and looked up like the key of a sender at any domain. Only the bits are asked, not
// a store: the rate of both together is too small to measure.
//
// Used by one thread, the one that makes the pages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// The probes of a whitelist since it was loaded.
struct Probes {
  std::uint64_t probes = 0;
  std::uint64_t hits = 0;
};

class RateProbes {
 public:
  // Looks up one key in each whitelist that is loaded and undamaged. If a whitelist was loaded since the last call,
  // from another file or the same, its counts start again; those of a whitelist that is no longer in use are dropped.
  // Cost: a page of each filter, which may have to be read from disk. Does nothing if memory runs out.
  void probe(const LoadedLists& lists) noexcept;

  // All zero for an unknown whitelist.
  Probes of(const LoadedFilter& whitelist) const noexcept;

 private:
  struct Seen {
    std::weak_ptr<const LoadedFilter> whitelist;  // weak, so that it does not keep the whitelist in memory
    Probes probes;
  };

  std::vector<Seen> seen_;
};

// The expected rate of the bits alone; without a store this is the rate of the whitelist. Cost: up to a millisecond.
double expected_rate_of_bits(const LoadedFilter& whitelist) noexcept;

}  // namespace bloomgate
