#include "filter/file/file_format.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/layout/sorted_hashes.hpp"

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
constexpr Field kTagSeparatorsField = {"tag_separators", 52};
constexpr Field kExpectedEntriesField = {"expected_entries", 56};
constexpr Field kBitsSetField = {"bits_set", 64};
constexpr Field kChunkBytesField = {"chunk_bytes", 72};
constexpr Field kSectionCountField = {"section_count", 76};
constexpr Field kReservedField = {"reserved", 80};  // up to the section table
constexpr std::size_t kSectionTableOffset = 128;
constexpr Field kHeaderChecksumField = {"header_checksum", kHeaderBytes - 8};

// An entry of the section table.
constexpr std::size_t kSectionEntryBytes = 64;
constexpr std::uint32_t kMostSections = 16;
constexpr Field kSectionKindField = {"kind", 0};
constexpr Field kSectionFlagsField = {"flags", 4};
constexpr Field kSectionOffsetField = {"offset", 8};
constexpr Field kSectionBytesField = {"bytes", 16};
constexpr Field kSectionItemsField = {"items", 24};
constexpr Field kSectionTableChecksumField = {"table_checksum", 32};
constexpr Field kSectionReservedField = {"reserved", 40};

constexpr std::uint32_t kFlagKeepLocalPartCase = 1U << 0;
constexpr std::uint32_t kKnownFlags = kFlagKeepLocalPartCase;

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

[[noreturn]] void reject(ErrorCode code, const std::string& path, const std::string& field, std::size_t offset,
                         std::string expected, std::string got) {
  const std::string what = path + ": header field " + field + " at offset " + std::to_string(offset) + " is " + got +
                           " instead of " + expected + "; use a filter that this version of bloomgate has built";
  throw BloomgateError(code, what, {path, offset, std::move(expected), std::move(got)});
}

[[noreturn]] void reject(ErrorCode code, const std::string& path, Field field, std::string expected, std::string got) {
  reject(code, path, std::string(field.name), field.offset, std::move(expected), std::move(got));
}

void expect_zeros(ConstHeaderBytes bytes, std::size_t begin, std::size_t end, const std::string& path) {
  const auto reserved = bytes.subspan(begin, end - begin);
  if (std::ranges::all_of(reserved, [](std::byte b) { return b == std::byte{0}; })) return;
  reject(ErrorCode::bad_header_field, path, std::string(kReservedField.name), begin, "all zero", "not zero");
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

// In most layouts an address sets one bit for each hash, or finds it set.
std::uint64_t most_bits_set(const FilterHeader& header) noexcept {
  const std::uint64_t bits = 8 * body_bytes(header.shape);
  const std::uint64_t of_one = layout_rules(header.shape.layout).most_bits_of_entry(header.shape);
  return header.addresses > bits / of_one ? bits : header.addresses * of_one;
}

// The entries of the section table, each in its range and in its place.
class SectionReader {
 public:
  SectionReader(ConstHeaderBytes bytes, const std::string& path) noexcept : bytes_(bytes), path_(path) {}

  Sections read(const FilterShape& shape) const {
    const auto count = get<std::uint32_t>(bytes_, kSectionCountField);
    if (count < 1 || count > kMostSections) {
      bloomgate::reject(ErrorCode::bad_header_field, path_, kSectionCountField, "1 to " + std::to_string(kMostSections),
                        std::to_string(count));
    }
    expect_zeros(bytes_, section_offset(count), kHeaderChecksumField.offset, path_);
    Sections sections;
    for (std::uint32_t i = 0; i < count; ++i) sections.push_back(read_entry(i, i == 0 ? nullptr : &sections.back()));
    expect(0, kSectionKindField, SectionKind::bits, sections.front().kind);
    expect(0, kSectionBytesField, body_bytes(shape), sections.front().bytes);
    expect_places(sections);
    return sections;
  }

 private:
  template <typename Value>
  void expect(std::size_t index, Field field, Value expected, Value got) const {
    const auto text = [](Value value) { return std::to_string(static_cast<std::uint64_t>(value)); };
    if (expected != got) reject(index, field, text(expected), text(got));
  }

  [[noreturn]] void reject(std::size_t index, Field field, std::string expected, std::string got,
                           ErrorCode code = ErrorCode::bad_header_field) const {
    bloomgate::reject(code, path_, std::string(field.name) + " of section " + std::to_string(index + 1),
                      section_offset(index) + field.offset, std::move(expected), std::move(got));
  }

  Section read_entry(std::size_t index, const Section* before) const {
    const std::size_t begin = section_offset(index);
    const auto kind = get<std::uint32_t>(bytes_, kSectionKindField, begin);
    const Section section = {.kind = static_cast<SectionKind>(kind),
                             .offset = get<std::uint64_t>(bytes_, kSectionOffsetField, begin),
                             .bytes = get<std::uint64_t>(bytes_, kSectionBytesField, begin),
                             .items = get<std::uint64_t>(bytes_, kSectionItemsField, begin),
                             .table_checksum = get<std::uint64_t>(bytes_, kSectionTableChecksumField, begin)};
    if (section.kind != SectionKind::bits && section.kind != SectionKind::domains) {
      reject(index, kSectionKindField, "1 (bits) or 2 (domains)", std::to_string(kind), ErrorCode::unsupported_section);
    }
    if (before != nullptr && before->kind >= section.kind) {
      reject(index, kSectionKindField, "more than that of the section before it", std::to_string(kind));
    }
    expect(index, kSectionFlagsField, std::uint32_t{0}, get<std::uint32_t>(bytes_, kSectionFlagsField, begin));
    expect_zeros(bytes_, begin + kSectionReservedField.offset, begin + kSectionEntryBytes, path_);
    if (section.kind == SectionKind::domains) {
      constexpr std::uint64_t kMostHashes = std::numeric_limits<std::int64_t>::max() / SortedHashes::kHashBytes;
      if (section.items < 1 || section.items > kMostHashes) {
        reject(index, kSectionItemsField, "1 to " + std::to_string(kMostHashes), std::to_string(section.items));
      }
      expect(index, kSectionBytesField, section.items * SortedHashes::kHashBytes, section.bytes);
    }
    return section;
  }

  // There is one place for each: so none overlaps another, and nothing lies between them.
  void expect_places(const Sections& sections) const {
    Sections placed = sections;
    try {
      place_sections(placed, kHeaderBytes);
    } catch (const BloomgateError& error) {
      throw BloomgateError(error.code(), path_ + ": " + error.what() + "; use a filter that bloomgate has built",
                           {.path = path_});
    }
    for (std::size_t i = 0; i < sections.size(); ++i) {
      expect(i, kSectionOffsetField, placed[i].offset, sections[i].offset);
    }
  }

  ConstHeaderBytes bytes_;
  const std::string& path_;
};

}  // namespace

std::uint64_t entries_of(const FilterHeader& header) noexcept {
  return header.addresses > std::numeric_limits<std::uint64_t>::max() - header.domains
             ? std::numeric_limits<std::uint64_t>::max()
             : header.addresses + header.domains;
}

double distinct_entries_of(const FilterHeader& header) noexcept {
  return distinct_entries(header.bits_set, header.shape) + static_cast<double>(header.domains);
}

double expected_fpr_of(const FilterHeader& header) noexcept {
  if (!std::isnan(distinct_entries_of(header))) return fpr_from_fill(header.bits_set, header.shape);
  return expected_fpr(static_cast<double>(header.addresses), header.shape);
}

Sections sections_of(const FilterHeader& header) {
  Sections sections = {{.kind = SectionKind::bits, .bytes = body_bytes(header.shape), .items = header.addresses}};
  if (header.domains != 0) {
    constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t bytes =
        header.domains > kMostBytes / SortedHashes::kHashBytes ? kMostBytes : header.domains * SortedHashes::kHashBytes;
    sections.push_back({.kind = SectionKind::domains, .bytes = bytes, .items = header.domains});
  }
  place_sections(sections, kHeaderBytes);
  return sections;
}

std::uint64_t file_bytes(const FilterHeader& header) {
  return sections_of(header).back().end();
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
  const std::uint32_t most_hashes = rules->most_hashes();
  if (shape.hashes < 1 || shape.hashes > most_hashes) {
    reject(ErrorCode::bad_header_field, path, kHashesField,
           most_hashes == 1 ? "1" : "1 to " + std::to_string(most_hashes), std::to_string(shape.hashes));
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

void encode_header(const FilterHeader& header, const Sections& sections,
                   std::span<std::byte, kHeaderBytes> out) noexcept {
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
  put(out, kFlagsField, shape.profile.keep_local_part_case ? kFlagKeepLocalPartCase : 0U);
  put(out, kTagSeparatorsField, shape.profile.tag_separators.bits());
  put(out, kExpectedEntriesField, header.expected_entries);
  put(out, kBitsSetField, header.bits_set);
  put(out, kChunkBytesField, static_cast<std::uint32_t>(kChecksumChunkBytes));
  put(out, kSectionCountField, static_cast<std::uint32_t>(sections.size()));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::size_t begin = section_offset(i);
    put(out, kSectionKindField, static_cast<std::uint32_t>(sections[i].kind), begin);
    put(out, kSectionOffsetField, sections[i].offset, begin);
    put(out, kSectionBytesField, sections[i].bytes, begin);
    put(out, kSectionItemsField, sections[i].items, begin);
    put(out, kSectionTableChecksumField, sections[i].table_checksum, begin);
  }
  put(out, kHeaderChecksumField, checksum(out.first<kHeaderChecksumField.offset>()));
}

DecodedHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path) {
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
    reject(ErrorCode::bad_header_field, path, kFlagsField, "only bit 0 set", std::to_string(flags));
  }
  const auto tag_separators = get<std::uint32_t>(bytes, kTagSeparatorsField);
  if ((tag_separators & ~TagSeparators::kAllBits) != 0) {
    reject(ErrorCode::bad_header_field, path, kTagSeparatorsField, "only bits 0 to 18 set",
           std::to_string(tag_separators));
  }
  expect_zeros(bytes, kReservedField.offset, kSectionTableOffset, path);

  FilterHeader header;
  header.shape = {.layout = static_cast<Layout>(get<std::uint32_t>(bytes, kLayoutField)),
                  .hash_family = static_cast<HashFamily>(get<std::uint32_t>(bytes, kHashFamilyField)),
                  .hashes = get<std::uint32_t>(bytes, kHashesField),
                  .block_bytes = get<std::uint32_t>(bytes, kBlockBytesField),
                  .block_count = get<std::uint64_t>(bytes, kBlockCountField),
                  .seed = get<std::uint64_t>(bytes, kSeedField),
                  .profile = {.keep_local_part_case = (flags & kFlagKeepLocalPartCase) != 0,
                              .tag_separators = TagSeparators::from_bits(tag_separators)}};
  validate_shape(header.shape, path);
  header.expected_entries = get<std::uint64_t>(bytes, kExpectedEntriesField);
  if (header.expected_entries < 1) {
    reject(ErrorCode::bad_header_field, path, kExpectedEntriesField, "at least 1", "0");
  }
  Sections sections = SectionReader(bytes, path).read(header.shape);
  header.addresses = sections.front().items;
  const Section* const domains = find_section(sections, SectionKind::domains);
  header.domains = domains == nullptr ? 0 : domains->items;
  header.bits_set = get<std::uint64_t>(bytes, kBitsSetField);
  const std::uint64_t most = most_bits_set(header);
  if (header.bits_set > most) {
    reject(ErrorCode::bad_header_field, path, kBitsSetField, "at most " + std::to_string(most),
           std::to_string(header.bits_set));
  }
  return {header, std::move(sections)};
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace bloomgate
