// What the headers of all files of Bloomgate have in common: fields at fixed places, the section table, the checksum.
// FORMAT.md is the normative description. Used by file_format.cpp and store_format.cpp; pure functions over bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "filter/address/address_profile.hpp"
#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/sections.hpp"

namespace bloomgate {

// The first bytes of a filter, and of a store. They are not text (the high bit), and a transfer that changes line ends
// or stops at control-Z breaks them.
using Magic = std::array<unsigned char, 8>;
inline constexpr Magic kFilterMagic = {0x89, 'B', 'L', 'M', '\r', '\n', 0x1a, '\n'};
inline constexpr Magic kStoreMagic = {0x89, 'B', 'L', 'S', '\r', '\n', 0x1a, '\n'};

struct Field {
  std::string_view name;
  std::size_t offset;
};
inline constexpr Field kMagicField = {"magic", 0};
inline constexpr Field kVersionField = {"version", 8};
inline constexpr Field kHeaderBytesField = {"header_bytes", 12};
inline constexpr Field kHashFamilyField = {"hash_family", 20};
inline constexpr Field kSeedField = {"seed", 40};
inline constexpr Field kFlagsField = {"flags", 48};  // three bytes
inline constexpr Field kKeyFormField = {"key_form", 51};
inline constexpr Field kTagSeparatorsField = {"tag_separators", 52};
inline constexpr Field kChunkBytesField = {"chunk_bytes", 72};
inline constexpr Field kSectionCountField = {"section_count", 76};
inline constexpr std::size_t kSectionTableOffset = 128;
// Only filters have these; in an unsigned filter all are zero.
inline constexpr Field kSignerField = {"signer", 3936};
inline constexpr Field kContentField = {"content", 3968};
inline constexpr Field kSignatureField = {"signature", 4000};
inline constexpr std::size_t kSignatureEnd = 4064;
inline constexpr Field kPairsField = {"pairs", kHeaderBytes - 16};
inline constexpr Field kHeaderChecksumField = {"header_checksum", kHeaderBytes - 8};

// An entry of the section table.
inline constexpr std::size_t kSectionEntryBytes = 64;
inline constexpr std::uint32_t kMostSections = 16;
inline constexpr Field kSectionKindField = {"kind", 0};
inline constexpr Field kSectionFlagsField = {"flags", 4};
inline constexpr Field kSectionOffsetField = {"offset", 8};
inline constexpr Field kSectionBytesField = {"bytes", 16};
inline constexpr Field kSectionItemsField = {"items", 24};
inline constexpr Field kSectionTableChecksumField = {"table_checksum", 32};
inline constexpr Field kSectionReservedField = {"reserved", 40};

using HeaderBytes = std::span<std::byte, kHeaderBytes>;
using ConstHeaderBytes = std::span<const std::byte, kHeaderBytes>;

// Where an entry of the section table begins.
constexpr std::size_t section_offset(std::size_t index) noexcept {
  return kSectionTableOffset + index * kSectionEntryBytes;
}

template <typename Integer>
void put(HeaderBytes out, Field field, Integer value, std::size_t begin = 0) noexcept {
  store_little_endian(out.data() + begin + field.offset, value);
}

template <typename Integer>
Integer get(ConstHeaderBytes bytes, Field field, std::size_t begin = 0) noexcept {
  return load_little_endian<Integer>(bytes.data() + begin + field.offset);
}

// Throws a BloomgateError that names the field.
[[noreturn]] void reject_field(ErrorCode code, const std::string& path, const std::string& field, std::size_t offset,
                               std::string expected, std::string got);
[[noreturn]] void reject_field(ErrorCode code, const std::string& path, Field field, std::string expected,
                               std::string got);

// Throws BloomgateError{bad_header_field} unless these reserved bytes are zero.
void expect_zeros(ConstHeaderBytes bytes, std::size_t begin, std::size_t end, const std::string& path);

template <typename Integer>
void expect_equal(ConstHeaderBytes bytes, Field field, Integer expected, ErrorCode code, const std::string& path) {
  const auto got = get<Integer>(bytes, field);
  if (got != expected) reject_field(code, path, field, std::to_string(expected), std::to_string(got));
}

// Appends "1 (page)" to `list`, after a separator if the list is not empty.
void append_code(std::string& list, std::uint32_t code, std::string_view name);

// Throws BloomgateError{unsupported_hash} unless this version knows the family.
void validate_hash_family(HashFamily family, const std::string& path);

// The fields that every header begins with, and those that mean the same in all headers.
void put_common_fields(HeaderBytes out, const Magic& magic, HashFamily family, std::uint64_t seed,
                       const AddressProfile& profile, const Sections& sections) noexcept;
// Puts the last field: the checksum of all fields before it.
void put_checksum(HeaderBytes out) noexcept;

// The part of `room` that a file of so many bytes can fill with its first bytes.
std::span<std::byte> room_for_start(Magic& room, std::uint64_t file_bytes) noexcept;

// "a filter" or "a store" if a file of Bloomgate begins with `start`; empty for any other file.
std::string_view own_kind(std::span<const std::byte> start) noexcept;
// Whether the file at `path` begins as a filter or as a store does. False if it cannot be read: opening it later
// reports why. A pipe is neither, and is not opened.
bool is_filter(const std::string& path) noexcept;
bool is_store(const std::string& path) noexcept;

// The error to throw for a file that is shorter than a header. `start` is as many of its first bytes as it has.
BloomgateError too_short_error(std::span<const std::byte> start, const Magic& magic, const std::string& path,
                               std::uint64_t file_bytes);

// Reads the magic number: throws BloomgateError{bad_magic} with `advice`, which begins with "is not".
void expect_magic(ConstHeaderBytes bytes, const Magic& magic, const std::string& path, std::string_view advice);
// Throws BloomgateError{unsupported_version, bad_header_checksum, bad_header_field}.
void check_common_fields(ConstHeaderBytes bytes, const std::string& path);
// The flags of the profile, which every file may have.
inline constexpr std::uint32_t kProfileFlags = 1U << 0;
inline constexpr std::uint32_t kAllFlags = (1U << 24) - 1;
// Throws BloomgateError{bad_header_field}, also for flags beside those of the profile and `others`;
// BloomgateError{unsupported_version} for keys in another form than kKeyForm.
AddressProfile read_profile(ConstHeaderBytes bytes, const std::string& path, std::uint32_t others = 0);

// The flags that say that pairs, and entries with a signer, are among the domain entries. put_kinds() also puts the
// number of pairs among the addresses.
inline constexpr std::uint32_t kFlagDomainPairs = 1U << 2;
inline constexpr std::uint32_t kFlagSigners = 1U << 3;
void put_kinds(HeaderBytes out, const KindsHeld& kinds) noexcept;
// Throws BloomgateError{bad_header_field} if these are more than the entries.
KindsHeld read_kinds(ConstHeaderBytes bytes, std::uint64_t addresses, std::uint64_t domains, const std::string& path);

// Reads the entries of the section table, and checks that each is in its range and at its offset.
class SectionReader {
 public:
  SectionReader(ConstHeaderBytes bytes, const std::string& path) noexcept : bytes_(bytes), path_(path) {}

  // `kinds` are those that this sort of file may have. The reserved bytes after the table end at `end`. Throws
  // BloomgateError{bad_header_field, unsupported_section, size_overflow}.
  Sections read(std::span<const SectionKind> kinds, std::uint32_t least_count,
                std::size_t end = kPairsField.offset) const;

  // Each section has exactly one possible offset, so no section overlaps another, and nothing lies between two. Throws
  // as read().
  void expect_places(const Sections& sections) const;

  template <typename Value>
  void expect(std::size_t index, Field field, Value expected, Value got) const {
    const auto text = [](Value value) { return std::to_string(static_cast<std::uint64_t>(value)); };
    if (expected != got) reject(index, field, text(expected), text(got));
  }

 private:
  [[noreturn]] void reject(std::size_t index, Field field, std::string expected, std::string got,
                           ErrorCode code = ErrorCode::bad_header_field) const;
  Section read_entry(std::size_t index, const Section* before, std::span<const SectionKind> kinds) const;

  ConstHeaderBytes bytes_;
  const std::string& path_;
};

}  // namespace bloomgate
