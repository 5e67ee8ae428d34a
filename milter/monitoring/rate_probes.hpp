// How often the bits of a whitelist have somebody who cannot be on it: the false-positive rate as it is, beside the one
// that is expected. Looks a key up that is drawn at random and has no at sign, which the key of every entry has, so no
// list can hold it. It is hashed and looked up as the key of a sender
// is, at whatever domain: the bits alone are asked. A store is not asked: of the two together the
// rate is too small to be seen.
//
// Used by one thread, the one that makes the pages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// What was seen of a whitelist since it was loaded.
struct Probes {
  std::uint64_t probes = 0;
  std::uint64_t hits = 0;
};

class RateProbes {
 public:
  // Looks one key up in each whitelist that is loaded and not damaged. Of a whitelist that was loaded since the last
  // call, from another file or the same, the counts begin anew; those of one that is no longer in use are forgotten.
  // Cost: a page of each filter, which may have to be read from the disk. Does nothing where memory runs out.
  void probe(const LoadedLists& lists) noexcept;

  // Nothing was seen of a whitelist that it does not know.
  Probes of(const LoadedFilter& whitelist) const noexcept;

 private:
  struct Seen {
    std::weak_ptr<const LoadedFilter> whitelist;  // without keeping it in memory
    Probes probes;
  };

  std::vector<Seen> seen_;
};

// The rate that the bits alone are expected to have; without a store it is that of the whitelist. Cost: up to a
// millisecond.
double expected_rate_of_bits(const LoadedFilter& whitelist) noexcept;

}  // namespace bloomgate
