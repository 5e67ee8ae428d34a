// A page of a store: sorted hashes, coded by Elias and Fano (Elias, "Efficient storage and retrieval by content and
// address of static files", 1974; Vigna, "Quasi-succinct indices", 2013). FORMAT.md, "The pages of a store", is the
// normative description.
//
// Each hash is kept as its distance from the first hash of its page: the low bits as they are, the high ones in unary.
// Among 10^9 hashes that are even over 2^64, an entry takes 36.1 bits. Pure functions over bytes; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

inline constexpr std::size_t kStorePageBytes = 4096;
inline constexpr unsigned kMostLowBits = 63;
// Each hash takes at least one bit of those between the first fields and the checksum.
inline constexpr std::size_t kMostHashesOfStorePage = 8 * (kStorePageBytes - 24);

// The fastest implementation for the processor, or the one for every processor. Their results are the same.
enum class PageCoding : std::uint8_t { fastest, one_by_one };

using StorePageBytes = std::span<const std::byte, kStorePageBytes>;

// The low bits that make pages of that many hashes smallest: the whole part of log2(2^64 / hashes), at most
// kMostLowBits.
unsigned low_bits_for(std::uint64_t hashes) noexcept;

// The most hashes that can go into a page; at least 1.
constexpr std::size_t most_hashes_in_page(unsigned low_bits) noexcept {
  return kMostHashesOfStorePage / (low_bits + 1);
}

// How many hashes from the front of `hashes` go into one page; at least 1. `hashes` ascend strictly and are not empty.
std::size_t hashes_in_page(std::span<const KeyHash> hashes, unsigned low_bits) noexcept;

// Makes the page with that number from as many hashes as hashes_in_page() allows.
void encode_store_page(std::span<const KeyHash> hashes, unsigned low_bits, std::uint64_t page,
                       std::span<std::byte, kStorePageBytes> out, PageCoding coding = PageCoding::fastest) noexcept;

// Whether the page is as it was written there: its checksum covers its number.
bool store_page_is_sound(StorePageBytes bytes, std::uint64_t page) noexcept;

// Whether the page has the hash. Safe for any bytes, whose answer then means nothing: ask store_page_is_sound() first.
bool store_page_contains(StorePageBytes bytes, unsigned low_bits, KeyHash hash) noexcept;

// Appends the hashes of a page. If the bytes violate the format of FORMAT.md, returns false and appends nothing.
bool decode_store_page(StorePageBytes bytes, unsigned low_bits, std::vector<KeyHash>& out,
                       PageCoding coding = PageCoding::fastest);

}  // namespace bloomgate
