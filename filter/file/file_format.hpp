// The header of a filter file: its fields in memory, its bytes on disk, and the checks between the two. FORMAT.md is
// the normative description. Used by the writer and by MappedFilter; pure functions over bytes, safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "filter/address/kinds_held.hpp"
#include "filter/base/public_key.hpp"
#include "filter/file/sections.hpp"
#include "filter/layout/filter_shape.hpp"

namespace bloomgate {

inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kFormatVersion = 1;

// Counts of the addresses that a build was told to exclude (`bloomgate build --never-match`), each address once.
struct KnownStrangerCounts {
  std::uint64_t known = 0;
  std::uint64_t entries = 0;    // how many of these are entries themselves, and so listed
  std::uint64_t by_domain = 0;  // how many of these are not entries, but listed by a domain entry

  friend bool operator==(const KnownStrangerCounts&, const KnownStrangerCounts&) = default;
};

struct FilterHeader {
  FilterShape shape;
  std::uint64_t expected_entries = 0;  // addresses that the bit array was sized for
  // Inserted into the bits, duplicates counted each time. In the layout counting, the addresses that are in it now,
  // each counted once for each command that has added it.
  std::uint64_t addresses = 0;
  std::uint64_t domains = 0;    // domain entries, and pairs with a domain, each once
  std::uint64_t bits_set = 0;   // ones in the bit array; in the layout counting, counters that are not 0
  std::uint64_t saturated = 0;  // how many of these counters never change again (counters.hpp)
  std::uint64_t excluded = 0;   // excluded senders whose bits are all set, and who are not entries
  KnownStrangerCounts strangers = {};
  std::uint64_t store_identity = 0;  // of the store with the same entries; 0: there is no store
  KindsHeld kinds = {};              // among the addresses and the domain entries
  // The number of domains of the senders of all addresses, each once, and of the keys that other entries share with
  // their neighbours (filter/domains/neighbours.hpp); nothing: the file does not have them.
  std::optional<std::uint64_t> sender_domains = {};

  // Whether the file has the domain of every listed address, and the keys that pairs and entries with a signer share
  // with their neighbours.
  bool knows_sender_domains() const noexcept {
    return sender_domains || (addresses == 0 && !kinds.any_pairs() && !kinds.signers);
  }

  friend bool operator==(const FilterHeader&, const FilterHeader&) = default;
};

// The number of all entries: addresses and domain entries. At most 2^64 - 1.
std::uint64_t entries_of(const FilterHeader& header) noexcept;

// What a filter without the domains of its senders lacks, with or without a store beside it: a sentence that begins
// with its verb, without a full stop.
std::string_view lack_of_sender_domains(bool is_confirmed) noexcept;

// The number of different entries: an estimate of the addresses from the fill (infinite for a full array), plus the
// domain entries. Not a number in the layout ribbon, whose fill is always one half.
double distinct_entries_of(const FilterHeader& header) noexcept;

// The false-positive rate that the theory of the layout expects. It follows from the fill; in the layout ribbon, from
// the number of addresses, as if no address had been inserted twice.
double expected_fpr_of(const FilterHeader& header) noexcept;

// The sections of a file with that header, each at its offset, without their checksums. Throws
// BloomgateError{size_overflow} if a file cannot be that large.
Sections sections_of(const FilterHeader& header);

// The size of the file.
std::uint64_t file_bytes(const FilterHeader& header);

// Throws BloomgateError (bad_header_field, unsupported_layout, unsupported_hash, size_overflow) unless every field is
// in its range. `path` is for the message.
void validate_shape(const FilterShape& shape, const std::string& path);

// The header as it is in a file, checksum included. `sections` are those of sections_of(), with their checksums.
void encode_header(const FilterHeader& header, const Sections& sections,
                   std::span<std::byte, kHeaderBytes> out) noexcept;

// A BLAKE2b digest of 256 bits (RFC 7693).
using Digest = std::array<std::uint8_t, 32>;

// What a header says about who has signed the file. Nothing of it is verified (signature.hpp verifies it).
struct ClaimedSignature {
  PublicKey signer;
  Digest content = {};
};

struct DecodedHeader {
  FilterHeader header;
  Sections sections;
  std::optional<ClaimedSignature> signature;  // nothing: the file is not signed
};

// Reads and checks a header: magic, version, checksum, then every field. Throws BloomgateError with the offending
// field's offset. `path` is for the message.
DecodedHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path);

// XXH3-64 with seed 0: the checksum of the header, of each table and of each chunk.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace bloomgate
