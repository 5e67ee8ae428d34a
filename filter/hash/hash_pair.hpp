// Two hashes of one key. A plain value.
#pragma once

#include <cstdint>

namespace bloomgate {

// Two functions of one key, for double hashing.
struct HashPair {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  friend bool operator==(const HashPair&, const HashPair&) = default;
};

}  // namespace bloomgate
