// The header of a store: its fields in memory, its bytes on disk, and the checks between the two. FORMAT.md, "The
// store", is the normative description. Used by StoreWriter and StoreFile; pure functions over bytes, safe from any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/address/address_profile.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/sections.hpp"
#include "filter/hash/hash.hpp"
#include "filter/store/store_page.hpp"

namespace bloomgate {

// A chunk of checked bytes has whole pages.
inline constexpr std::size_t kStorePagesInChunk = kChecksumChunkBytes / kStorePageBytes;

// How hashes are made from text.
struct StoreShape {
  HashFamily hash_family = HashFamily::xxh3;
  std::uint64_t seed = 0;
  AddressProfile profile = {};

  friend bool operator==(const StoreShape&, const StoreShape&) = default;
};

// Which part of a list a store has, if several jobs have read one part each. 0 parts: the store has the whole list.
struct StorePart {
  static constexpr std::uint32_t kMost = 1 << 20;

  std::uint32_t index = 0;  // from 0 on
  std::uint32_t parts = 0;
  std::uint64_t run = 0;       // the same for all parts that belong together, and with near certainty for no others
  std::uint64_t repeated = 0;  // how many addresses were duplicates: a filter counts each time

  bool is_one() const noexcept { return parts != 0; }
  friend bool operator==(const StorePart&, const StorePart&) = default;
};

struct StoreHeader {
  StoreShape shape;
  unsigned low_bits = 0;        // of a coded hash, see store_page.hpp
  std::uint64_t pages = 0;      // 0 if there are no addresses
  std::uint64_t addresses = 0;  // each once
  std::uint64_t domains = 0;    // domain entries, and pairs with a domain, each once
  KindsHeld kinds = {};         // among these
  // The number of domains of the senders of all addresses, and maybe of some removed addresses. 0: the store does not
  // have them, or has no addresses.
  std::uint64_t sender_domains = 0;
  StorePart part = {};

  // Whether a filter that is made from the store can have them. Each pair has a key that it shares with its neighbours,
  // so a store of pairs has a number above 0 here if it was made with them.
  bool knows_sender_domains() const noexcept { return sender_domains != 0 || (addresses == 0 && !kinds.any_pairs()); }

  friend bool operator==(const StoreHeader&, const StoreHeader&) = default;
};

// The sections of a store with that header, each at its offset, without their checksums. Throws
// BloomgateError{size_overflow}.
Sections sections_of(const StoreHeader& header);

// Puts the header, checksum included, into `out`, and returns the store's identity: a number that depends on everything
// in it, by which a filter names it; never 0. `sections` are those of sections_of(), with their checksums.
std::uint64_t encode_store_header(const StoreHeader& header, const Sections& sections,
                                  std::span<std::byte, kHeaderBytes> out) noexcept;

struct DecodedStoreHeader {
  StoreHeader header;
  Sections sections;
  std::uint64_t identity = 0;
};

// Reads and checks a header. Throws BloomgateError with the offending field's offset. `path` is for the message.
DecodedStoreHeader decode_store_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path);

}  // namespace bloomgate
