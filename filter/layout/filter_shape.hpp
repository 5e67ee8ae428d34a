// Everything that a look-up depends on besides the bits. All of it is in the file's header.
#pragma once

#include <cstdint>
#include <optional>
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
  counting = 6,     // the blocks of page, with a counter in place of each bit: entries can be removed
};

inline constexpr std::uint32_t kMaxHashes = 32;

// How many bits of the array stand for one bit of a filter: one, or those of a counter.
constexpr std::uint32_t bits_of_place(Layout layout) noexcept {
  return layout == Layout::counting ? 4 : 1;
}

// The filter has block_bytes * block_count bytes of bits in every layout; the layout says what a block is. The array
// has as many, or bits_of_place() times as many.
struct FilterShape {
  Layout layout = Layout::page;
  HashFamily hash_family = HashFamily::xxh3;
  std::uint32_t hashes = 6;  // k: probes per entry, 1 to kMaxHashes
  std::uint32_t block_bytes = 4096;
  std::uint64_t block_count = 0;  // at least 1
  std::uint64_t seed = 0;
  AddressProfile profile = {};  // how keys are made from addresses
  // For a filter that is made from a store, the seed of the hashes that the store keeps. These are mixed with `seed`
  // (mix_hash). Only in layouts whose values are hashes.
  std::optional<std::uint64_t> store_seed = {};

  friend bool operator==(const FilterShape&, const FilterShape&) = default;
};

// Whether the number of every bit of the array fits in 64 bits. Such a size is far below the range of off_t.
bool has_possible_size(const FilterShape& shape) noexcept;

// The hash of a key as a store keeps it: with the store's seed if the filter is made from one.
inline KeyHash stored_hash(const FilterShape& shape, std::string_view key) noexcept {
  return hash_key(key, shape.store_seed.value_or(shape.seed), shape.hash_family);
}

// The hash by which an address is looked up in the bits, in layouts whose values are hashes.
inline KeyHash hash_of_address(const FilterShape& shape, std::string_view key) noexcept {
  const KeyHash hash = stored_hash(shape, key);
  return shape.store_seed ? mix_hash(hash, shape.seed) : hash;
}

// The hash of a domain entry's key, `@domain` or `@.domain`, as a filter keeps it. A store keeps the same.
inline KeyHash hash_of_domain(const FilterShape& shape, std::string_view key) noexcept {
  return stored_hash(shape, key);
}

// The size of the array. Throws BloomgateError{size_overflow} for a shape without a possible size.
std::uint64_t body_bytes(const FilterShape& shape);

}  // namespace bloomgate
