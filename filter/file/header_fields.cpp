#include "filter/file/header_fields.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "filter/domains/domain_coding.hpp"
#include "filter/layout/sorted_hashes.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

constexpr std::uint32_t kFlagKeepLocalPartCase = kProfileFlags;

std::string hash_family_codes() {
  std::string list;
  for (const HashFamily family : kHashFamilies) {
    append_code(list, static_cast<std::uint32_t>(family), hash_family_name(family));
  }
  return list;
}

// "1 (bits) or 2 (domains)".
std::string kind_codes(std::span<const SectionKind> kinds) {
  std::string list;
  for (const SectionKind kind : kinds) {
    list += list.empty() ? "" : kind == kinds.back() ? " or " : ", ";
    list += std::to_string(static_cast<std::uint32_t>(kind)) + " (" + std::string(section_name(kind)) + ")";
  }
  return list;
}

// Whether the content of such a section is hashes of 8 bytes each.
bool holds_hashes(SectionKind kind) noexcept {
  return kind != SectionKind::bits && kind != SectionKind::pages && kind != SectionKind::sender_domains;
}

}  // namespace

void reject_field(ErrorCode code, const std::string& path, const std::string& field, std::size_t offset,
                  std::string expected, std::string got) {
  const std::string what = path + ": header field " + field + " at offset " + std::to_string(offset) + " is " + got +
                           " instead of " + expected + "; use a file that this version of bloomgate has built";
  throw BloomgateError(code, what, {path, offset, std::move(expected), std::move(got)});
}

void reject_field(ErrorCode code, const std::string& path, Field field, std::string expected, std::string got) {
  reject_field(code, path, std::string(field.name), field.offset, std::move(expected), std::move(got));
}

void expect_zeros(ConstHeaderBytes bytes, std::size_t begin, std::size_t end, const std::string& path) {
  const auto reserved = bytes.subspan(begin, end - begin);
  if (std::ranges::all_of(reserved, [](std::byte b) { return b == std::byte{0}; })) return;
  reject_field(ErrorCode::bad_header_field, path, "reserved", begin, "all zero", "not zero");
}

void append_code(std::string& list, std::uint32_t code, std::string_view name) {
  list += (list.empty() ? "" : ", ") + std::to_string(code) + " (" + std::string(name) + ")";
}

void validate_hash_family(HashFamily family, const std::string& path) {
  if (std::ranges::find(kHashFamilies, family) == std::end(kHashFamilies)) {
    reject_field(ErrorCode::unsupported_hash, path, kHashFamilyField, "one of " + hash_family_codes(),
                 std::to_string(static_cast<std::uint32_t>(family)));
  }
}

void put_common_fields(HeaderBytes out, const Magic& magic, HashFamily family, std::uint64_t seed,
                       const AddressProfile& profile, const Sections& sections) noexcept {
  std::ranges::fill(out, std::byte{0});
  std::memcpy(out.data(), magic.data(), magic.size());
  put(out, kVersionField, kFormatVersion);
  put(out, kHeaderBytesField, static_cast<std::uint32_t>(kHeaderBytes));
  put(out, kHashFamilyField, static_cast<std::uint32_t>(family));
  put(out, kSeedField, seed);
  put(out, kFlagsField, profile.keep_local_part_case ? kFlagKeepLocalPartCase : 0U);
  put(out, kKeyFormField, kKeyForm);
  put(out, kTagSeparatorsField, profile.tag_separators.bits());
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
}

void put_checksum(HeaderBytes out) noexcept {
  put(out, kHeaderChecksumField, checksum(out.first<kHeaderChecksumField.offset>()));
}

std::span<std::byte> room_for_start(Magic& room, std::uint64_t file_bytes) noexcept {
  return std::as_writable_bytes(std::span(room)).first(std::min<std::uint64_t>(file_bytes, room.size()));
}

std::string_view own_kind(std::span<const std::byte> start) noexcept {
  const auto begins_with = [start](const Magic& magic) {
    return start.size() >= magic.size() && std::memcmp(start.data(), magic.data(), magic.size()) == 0;
  };
  if (begins_with(kFilterMagic)) return "a filter";
  return begins_with(kStoreMagic) ? "a store" : "";
}

namespace {

bool begins_with(const std::string& path, const Magic& magic) noexcept {
  // If a pipe were opened and closed here, its writer would see that as the end of its reader.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Magic start = {};
  return file.is_open() && read_at(file.get(), std::as_writable_bytes(std::span(start)), 0) == 0 && start == magic;
}

}  // namespace

bool is_filter(const std::string& path) noexcept {
  return begins_with(path, kFilterMagic);
}

bool is_store(const std::string& path) noexcept {
  return begins_with(path, kStoreMagic);
}

BloomgateError too_short_error(std::span<const std::byte> start, const Magic& magic, const std::string& path,
                               std::uint64_t file_bytes) {
  const std::string_view wanted = own_kind(std::as_bytes(std::span(magic)));
  const bool is_cut = file_bytes == 0 || own_kind(start) == wanted;
  return {ErrorCode::too_short,
          path + (is_cut ? " has " : " is not " + std::string(wanted) + " of Bloomgate: it has ") +
              std::to_string(file_bytes) + " bytes, less than the header of " + std::to_string(kHeaderBytes) +
              (is_cut ? "; copy or build the file again" : "; name a file that 'bloomgate build' has made"),
          {path, file_bytes, std::to_string(kHeaderBytes), std::to_string(file_bytes)}};
}

void expect_magic(ConstHeaderBytes bytes, const Magic& magic, const std::string& path, std::string_view advice) {
  if (std::memcmp(bytes.data() + kMagicField.offset, magic.data(), magic.size()) == 0) return;
  std::string expected;
  for (const unsigned char byte : magic) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    expected += expected.empty() ? "" : " ";
    expected += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  std::string what = path + " " + std::string(advice);
  const std::string_view kind = own_kind(bytes);
  const std::string_view wanted = own_kind(std::as_bytes(std::span(magic)));
  if (!kind.empty() && !wanted.empty()) {
    what = path + " is " + std::string(kind) + ", and " + std::string(wanted) +
           " is wanted here; name the other file of the pair that 'bloomgate build --store' makes";
  }
  throw BloomgateError(ErrorCode::bad_magic, what, {path, kMagicField.offset, expected, "other bytes"});
}

void check_common_fields(ConstHeaderBytes bytes, const std::string& path) {
  expect_equal(bytes, kVersionField, kFormatVersion, ErrorCode::unsupported_version, path);
  const auto stored = get<std::uint64_t>(bytes, kHeaderChecksumField);
  const std::uint64_t computed = checksum(bytes.first<kHeaderChecksumField.offset>());
  if (stored != computed) {
    throw BloomgateError(ErrorCode::bad_header_checksum,
                         path + ": the header is damaged (its checksum does not match); copy or build the file again",
                         {path, kHeaderChecksumField.offset, std::to_string(computed), std::to_string(stored)});
  }
  expect_equal(bytes, kHeaderBytesField, static_cast<std::uint32_t>(kHeaderBytes), ErrorCode::bad_header_field, path);
  expect_equal(bytes, kChunkBytesField, static_cast<std::uint32_t>(kChecksumChunkBytes), ErrorCode::bad_header_field,
               path);
}

namespace {

void expect_key_form(std::uint8_t form, const std::string& path) {
  if (form == kKeyForm) return;
  const std::string expected = std::to_string(kKeyForm);
  const std::string got = std::to_string(form);
  throw BloomgateError(ErrorCode::unsupported_version,
                       path + ": another version of bloomgate has built it, with keys of form " + got + " instead of " +
                           expected + " (field key_form); build it again from its lists",
                       {path, kKeyFormField.offset, expected, got});
}

}  // namespace

AddressProfile read_profile(ConstHeaderBytes bytes, const std::string& path, std::uint32_t others) {
  const std::uint32_t flags = get<std::uint32_t>(bytes, kFlagsField) & kAllFlags;
  if ((flags & ~(kProfileFlags | others)) != 0) {
    reject_field(ErrorCode::bad_header_field, path, kFlagsField,
                 "at most " + std::to_string(kProfileFlags | others) + ", with no other bit set",
                 std::to_string(flags));
  }
  expect_key_form(get<std::uint8_t>(bytes, kKeyFormField), path);
  const auto tag_separators = get<std::uint32_t>(bytes, kTagSeparatorsField);
  if ((tag_separators & ~TagSeparators::kAllBits) != 0) {
    reject_field(ErrorCode::bad_header_field, path, kTagSeparatorsField, "only bits 0 to 18 set",
                 std::to_string(tag_separators));
  }
  return {.keep_local_part_case = (flags & kFlagKeepLocalPartCase) != 0,
          .tag_separators = TagSeparators::from_bits(tag_separators)};
}

void put_kinds(HeaderBytes out, const KindsHeld& kinds) noexcept {
  put(out, kPairsField, kinds.pairs_in_bits);
  auto flags = get<std::uint32_t>(out, kFlagsField);
  if (kinds.domain_pairs) flags |= kFlagDomainPairs;
  if (kinds.signers) flags |= kFlagSigners;
  put(out, kFlagsField, flags);
}

KindsHeld read_kinds(ConstHeaderBytes bytes, std::uint64_t addresses, std::uint64_t domains, const std::string& path) {
  const auto flags = get<std::uint32_t>(bytes, kFlagsField);
  const KindsHeld kinds = {.pairs_in_bits = get<std::uint64_t>(bytes, kPairsField),
                           .domain_pairs = (flags & kFlagDomainPairs) != 0,
                           .signers = (flags & kFlagSigners) != 0};
  if (kinds.pairs_in_bits > addresses) {
    reject_field(ErrorCode::bad_header_field, path, kPairsField, "at most " + std::to_string(addresses),
                 std::to_string(kinds.pairs_in_bits));
  }
  if ((kinds.domain_pairs || kinds.signers) && domains == 0) {
    reject_field(ErrorCode::bad_header_field, path, kFlagsField,
                 "without bits 2 and 3 in a file without domain entries", "with one of them");
  }
  return kinds;
}

Sections SectionReader::read(std::span<const SectionKind> kinds, std::uint32_t least_count, std::size_t end) const {
  const auto count = get<std::uint32_t>(bytes_, kSectionCountField);
  if (count < least_count || count > kMostSections) {
    reject_field(ErrorCode::bad_header_field, path_, kSectionCountField,
                 std::to_string(least_count) + " to " + std::to_string(kMostSections), std::to_string(count));
  }
  expect_zeros(bytes_, section_offset(count), end, path_);
  Sections sections;
  for (std::uint32_t i = 0; i < count; ++i) {
    sections.push_back(read_entry(i, i == 0 ? nullptr : &sections.back(), kinds));
  }
  return sections;
}

void SectionReader::reject(std::size_t index, Field field, std::string expected, std::string got,
                           ErrorCode code) const {
  reject_field(code, path_, std::string(field.name) + " of section " + std::to_string(index + 1),
               section_offset(index) + field.offset, std::move(expected), std::move(got));
}

Section SectionReader::read_entry(std::size_t index, const Section* before, std::span<const SectionKind> kinds) const {
  const std::size_t begin = section_offset(index);
  const auto kind = get<std::uint32_t>(bytes_, kSectionKindField, begin);
  const Section section = {.kind = static_cast<SectionKind>(kind),
                           .offset = get<std::uint64_t>(bytes_, kSectionOffsetField, begin),
                           .bytes = get<std::uint64_t>(bytes_, kSectionBytesField, begin),
                           .items = get<std::uint64_t>(bytes_, kSectionItemsField, begin),
                           .table_checksum = get<std::uint64_t>(bytes_, kSectionTableChecksumField, begin)};
  if (std::ranges::find(kinds, section.kind) == kinds.end()) {
    reject(index, kSectionKindField, kind_codes(kinds), std::to_string(kind), ErrorCode::unsupported_section);
  }
  if (before != nullptr && before->kind >= section.kind) {
    reject(index, kSectionKindField, "more than that of the section before it", std::to_string(kind));
  }
  expect(index, kSectionFlagsField, std::uint32_t{0}, get<std::uint32_t>(bytes_, kSectionFlagsField, begin));
  expect_zeros(bytes_, begin + kSectionReservedField.offset, begin + kSectionEntryBytes, path_);
  if (holds_hashes(section.kind)) {
    constexpr std::uint64_t kMostHashes = std::numeric_limits<std::int64_t>::max() / SortedHashes::kHashBytes;
    if (section.items < 1 || section.items > kMostHashes) {
      reject(index, kSectionItemsField, "1 to " + std::to_string(kMostHashes), std::to_string(section.items));
    }
    expect(index, kSectionBytesField, section.items * SortedHashes::kHashBytes, section.bytes);
  }
  if (section.kind == SectionKind::sender_domains) {
    if (section.items > kMostSenderDomains) {
      reject(index, kSectionItemsField, "at most " + std::to_string(kMostSenderDomains), std::to_string(section.items));
    }
    expect(index, kSectionBytesField, DomainCoding(section.items).section_bytes(), section.bytes);
  }
  return section;
}

void SectionReader::expect_places(const Sections& sections) const {
  Sections placed = sections;
  try {
    place_sections(placed, kHeaderBytes);
  } catch (const BloomgateError& error) {
    throw BloomgateError(error.code(), path_ + ": " + error.what() + "; use a file that bloomgate has built",
                         {.path = path_});
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    expect(i, kSectionOffsetField, placed[i].offset, sections[i].offset);
  }
}

}  // namespace bloomgate
