// A range of hashes, such as those whose bits belong to one of several processes.
#pragma once

#include <limits>

#include "filter/hash/hash.hpp"

namespace bloomgate {

// Hashes from `first` to `last`; all of them by default.
struct HashRange {
  KeyHash first = 0;
  KeyHash last = std::numeric_limits<KeyHash>::max();

  bool has(KeyHash hash) const noexcept { return hash - first <= last - first; }
};

}  // namespace bloomgate
