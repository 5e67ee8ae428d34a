// Everything that a look-up depends on besides the bits. All of it is in the file's header.
#pragma once

#include <cstdint>
#include <string_view>

#include "filter/address/address_profile.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {

// Where the bits of an entry are in the array: layout.hpp. Files contain these values.
enum class Layout : std::uint32_t {
  page = 1,         // blocks of one page of memory or more
  line = 2,         // blocks of one cache line or a few
  classic = 3,      // one block: the whole array
  partitioned = 4,  // one bit in each of k slices
  ribbon = 5,       // equations instead of bits, in blocks of one page of memory
};

inline constexpr std::uint32_t kMaxHashes = 32;

// The bit array has block_bytes * block_count bytes in every layout; the layout says what a block is.
struct FilterShape {
  Layout layout = Layout::page;
  HashFamily hash_family = HashFamily::xxh3;
  std::uint32_t hashes = 6;  // k: probes per entry, 1 to kMaxHashes
  std::uint32_t block_bytes = 4096;
  std::uint64_t block_count = 0;  // at least 1
  std::uint64_t seed = 0;
  AddressProfile profile = {};  // how keys are made from addresses

  friend bool operator==(const FilterShape&, const FilterShape&) = default;
};

// Whether the number of every bit fits in 64 bits. Such a size is far below the range of off_t.
bool has_possible_size(const FilterShape& shape) noexcept;

// The hash by which a domain entry is kept, of its key: `@domain` or `@.domain`.
KeyHash hash_of_domain(const FilterShape& shape, std::string_view key) noexcept;

// The size of the bit array. Throws BloomgateError{size_overflow} for a shape without a possible size.
std::uint64_t body_bytes(const FilterShape& shape);

}  // namespace bloomgate
