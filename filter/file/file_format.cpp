#include "filter/file/file_format.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {
namespace {

// Not text (the high bit), and broken by a transfer that changes line ends or stops at control-Z.
constexpr std::array<unsigned char, 8> kMagic = {0x89, 'B', 'L', 'M', '\r', '\n', 0x1a, '\n'};

// The header table of FORMAT.md.
struct Field {
  std::string_view name;
  std::size_t offset;
};
constexpr Field kMagicField = {"magic", 0};
constexpr Field kVersionField = {"version", 8};
constexpr Field kHeaderBytesField = {"header_bytes", 12};
constexpr Field kLayoutField = {"layout", 16};
constexpr Field kHashFamilyField = {"hash_family", 20};
constexpr Field kHashesField = {"hashes", 24};
constexpr Field kBlockBytesField = {"block_bytes", 28};
constexpr Field kBlockCountField = {"block_count", 32};
constexpr Field kSeedField = {"seed", 40};
constexpr Field kFlagsField = {"flags", 48};
constexpr Field kChunkBytesField = {"chunk_bytes", 52};
constexpr Field kExpectedEntriesField = {"expected_entries", 56};
constexpr Field kEntriesField = {"entries", 64};
constexpr Field kBitsSetField = {"bits_set", 72};
constexpr Field kTableChecksumField = {"table_checksum", 80};
constexpr Field kTagSeparatorsField = {"tag_separators", 88};
constexpr Field kReservedField = {"reserved", 92};
constexpr Field kHeaderChecksumField = {"header_checksum", kHeaderBytes - 8};

constexpr std::uint32_t kFlagKeepLocalPartCase = 1U << 0;
constexpr std::uint32_t kFlagDomains = 1U << 1;
constexpr std::uint32_t kFlagDomainTrees = 1U << 2;
constexpr std::uint32_t kKnownFlags = kFlagKeepLocalPartCase | kFlagDomains | kFlagDomainTrees;

using HeaderBytes = std::span<std::byte, kHeaderBytes>;
using ConstHeaderBytes = std::span<const std::byte, kHeaderBytes>;

template <typename Integer>
void put(HeaderBytes out, Field field, Integer value) noexcept {
  store_little_endian(out.data() + field.offset, value);
}

template <typename Integer>
Integer get(ConstHeaderBytes bytes, Field field) noexcept {
  return load_little_endian<Integer>(bytes.data() + field.offset);
}

[[noreturn]] void reject(ErrorCode code, const std::string& path, Field field, std::string expected, std::string got) {
  const std::string what = path + ": header field " + std::string(field.name) + " at offset " +
                           std::to_string(field.offset) + " is " + got + " instead of " + expected +
                           "; use a filter that this version of bloomgate has built";
  throw BloomgateError(code, what, {path, field.offset, std::move(expected), std::move(got)});
}

template <typename Integer>
void expect_equal(ConstHeaderBytes bytes, Field field, Integer expected, ErrorCode code, const std::string& path) {
  const auto got = get<Integer>(bytes, field);
  if (got != expected) reject(code, path, field, std::to_string(expected), std::to_string(got));
}

void append_code(std::string& list, std::uint32_t code, std::string_view name) {
  list += (list.empty() ? "" : ", ") + std::to_string(code) + " (" + std::string(name) + ")";
}

// "1 (page), 2 (line)": what this version can read, for a person.
std::string layout_codes() {
  std::string list;
  for (const Layout layout : kLayouts) {
    append_code(list, static_cast<std::uint32_t>(layout), layout_rules(layout).name());
  }
  return list;
}

std::string hash_family_codes() {
  std::string list;
  for (const HashFamily family : kHashFamilies) {
    append_code(list, static_cast<std::uint32_t>(family), hash_family_name(family));
  }
  return list;
}

}  // namespace

FileExtent file_extent(const FilterShape& shape) {
  FileExtent extent;
  extent.body_bytes = body_bytes(shape);
  extent.chunk_count = extent.body_bytes / kChecksumChunkBytes + (extent.body_bytes % kChecksumChunkBytes != 0);
  extent.table_bytes = extent.chunk_count * sizeof(std::uint64_t);
  extent.file_bytes = kHeaderBytes + extent.body_bytes + extent.table_bytes;
  return extent;
}

void validate_shape(const FilterShape& shape, const std::string& path) {
  const LayoutRules* const rules = find_layout(shape.layout);
  if (rules == nullptr) {
    reject(ErrorCode::unsupported_layout, path, kLayoutField, "one of " + layout_codes(),
           std::to_string(static_cast<std::uint32_t>(shape.layout)));
  }
  if (std::ranges::find(kHashFamilies, shape.hash_family) == std::end(kHashFamilies)) {
    reject(ErrorCode::unsupported_hash, path, kHashFamilyField, "one of " + hash_family_codes(),
           std::to_string(static_cast<std::uint32_t>(shape.hash_family)));
  }
  if (shape.hashes < 1 || shape.hashes > kMaxHashes) {
    reject(ErrorCode::bad_header_field, path, kHashesField, "1 to " + std::to_string(kMaxHashes),
           std::to_string(shape.hashes));
  }
  if (!rules->allows_block_bytes(shape.block_bytes, shape.hashes)) {
    reject(ErrorCode::bad_header_field, path, kBlockBytesField, rules->block_bytes_rule(shape.hashes),
           std::to_string(shape.block_bytes));
  }
  if (shape.block_count < 1) {
    reject(ErrorCode::bad_header_field, path, kBlockCountField, "at least 1", std::to_string(shape.block_count));
  }
  if (!has_possible_size(shape)) {
    reject(ErrorCode::size_overflow, path, kBlockCountField, "a number of blocks that fits in a file",
           std::to_string(shape.block_count));
  }
}

void encode_header(const FilterHeader& header, std::span<std::byte, kHeaderBytes> out) noexcept {
  const FilterShape& shape = header.shape;
  std::ranges::fill(out, std::byte{0});
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  put(out, kVersionField, kFormatVersion);
  put(out, kHeaderBytesField, static_cast<std::uint32_t>(kHeaderBytes));
  put(out, kLayoutField, static_cast<std::uint32_t>(shape.layout));
  put(out, kHashFamilyField, static_cast<std::uint32_t>(shape.hash_family));
  put(out, kHashesField, shape.hashes);
  put(out, kBlockBytesField, shape.block_bytes);
  put(out, kBlockCountField, shape.block_count);
  put(out, kSeedField, shape.seed);
  put(out, kFlagsField,
      (shape.profile.keep_local_part_case ? kFlagKeepLocalPartCase : 0U) | (shape.has_domains ? kFlagDomains : 0U) |
          (shape.has_domain_trees ? kFlagDomainTrees : 0U));
  put(out, kChunkBytesField, static_cast<std::uint32_t>(kChecksumChunkBytes));
  put(out, kExpectedEntriesField, header.expected_entries);
  put(out, kEntriesField, header.entries);
  put(out, kBitsSetField, header.bits_set);
  put(out, kTableChecksumField, header.table_checksum);
  put(out, kTagSeparatorsField, shape.profile.tag_separators.bits());
  put(out, kHeaderChecksumField, checksum(out.first<kHeaderChecksumField.offset>()));
}

FilterHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path) {
  if (std::memcmp(bytes.data() + kMagicField.offset, kMagic.data(), kMagic.size()) != 0) {
    throw BloomgateError(ErrorCode::bad_magic,
                         path +
                             " is not a Bloomgate filter (its first 8 bytes are not the magic number); "
                             "build one with 'bloomgate build'",
                         {path, kMagicField.offset, "89 42 4c 4d 0d 0a 1a 0a", "other bytes"});
  }
  expect_equal(bytes, kVersionField, kFormatVersion, ErrorCode::unsupported_version, path);
  const std::uint64_t stored = get<std::uint64_t>(bytes, kHeaderChecksumField);
  const std::uint64_t computed = checksum(bytes.first<kHeaderChecksumField.offset>());
  if (stored != computed) {
    throw BloomgateError(ErrorCode::bad_header_checksum,
                         path + ": the header is damaged (its checksum does not match); copy or build the file again",
                         {path, kHeaderChecksumField.offset, std::to_string(computed), std::to_string(stored)});
  }
  expect_equal(bytes, kHeaderBytesField, static_cast<std::uint32_t>(kHeaderBytes), ErrorCode::bad_header_field, path);
  expect_equal(bytes, kChunkBytesField, static_cast<std::uint32_t>(kChecksumChunkBytes), ErrorCode::bad_header_field,
               path);
  const auto flags = get<std::uint32_t>(bytes, kFlagsField);
  if ((flags & ~kKnownFlags) != 0) {
    reject(ErrorCode::bad_header_field, path, kFlagsField, "only bits 0 to 2 set", std::to_string(flags));
  }
  const auto tag_separators = get<std::uint32_t>(bytes, kTagSeparatorsField);
  if ((tag_separators & ~TagSeparators::kAllBits) != 0) {
    reject(ErrorCode::bad_header_field, path, kTagSeparatorsField, "only bits 0 to 18 set",
           std::to_string(tag_separators));
  }
  const auto reserved = bytes.subspan<kReservedField.offset, kHeaderChecksumField.offset - kReservedField.offset>();
  if (std::ranges::any_of(reserved, [](std::byte b) { return b != std::byte{0}; })) {
    reject(ErrorCode::bad_header_field, path, kReservedField, "all zero", "not zero");
  }

  FilterHeader header;
  header.shape = {.layout = static_cast<Layout>(get<std::uint32_t>(bytes, kLayoutField)),
                  .hash_family = static_cast<HashFamily>(get<std::uint32_t>(bytes, kHashFamilyField)),
                  .hashes = get<std::uint32_t>(bytes, kHashesField),
                  .block_bytes = get<std::uint32_t>(bytes, kBlockBytesField),
                  .block_count = get<std::uint64_t>(bytes, kBlockCountField),
                  .seed = get<std::uint64_t>(bytes, kSeedField),
                  .profile = {.keep_local_part_case = (flags & kFlagKeepLocalPartCase) != 0,
                              .tag_separators = TagSeparators::from_bits(tag_separators)},
                  .has_domains = (flags & kFlagDomains) != 0,
                  .has_domain_trees = (flags & kFlagDomainTrees) != 0};
  validate_shape(header.shape, path);
  header.expected_entries = get<std::uint64_t>(bytes, kExpectedEntriesField);
  if (header.expected_entries < 1) {
    reject(ErrorCode::bad_header_field, path, kExpectedEntriesField, "at least 1", "0");
  }
  header.entries = get<std::uint64_t>(bytes, kEntriesField);
  header.bits_set = get<std::uint64_t>(bytes, kBitsSetField);
  const std::uint64_t bytes_of_body = body_bytes(header.shape);
  if (header.bits_set / 8 + (header.bits_set % 8 != 0) > bytes_of_body) {
    reject(ErrorCode::bad_header_field, path, kBitsSetField,
           "at most 8 for each of " + std::to_string(bytes_of_body) + " bytes", std::to_string(header.bits_set));
  }
  header.table_checksum = get<std::uint64_t>(bytes, kTableChecksumField);
  return header;
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace bloomgate
