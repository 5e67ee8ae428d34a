#include "filter/store/store_format.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "filter/base/error.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/layout/sorted_hashes.hpp"
#include "filter/store/store_page.hpp"

namespace bloomgate {
namespace {

// The header table of FORMAT.md: the fields that only stores have.
constexpr Field kPageBytesField = {"page_bytes", 16};
constexpr Field kLowBitsField = {"low_bits", 24};
constexpr std::size_t kFirstReserved = 28;  // up to the seed
constexpr Field kIdentityField = {"identity", 56};
constexpr std::size_t kSecondReserved = 64;  // up to chunk_bytes
constexpr Field kPartIndexField = {"part_index", 80};
constexpr Field kPartsField = {"parts", 84};
constexpr Field kRunField = {"run", 88};
constexpr Field kRepeatedField = {"repeated", 96};
constexpr std::size_t kThirdReserved = 104;  // up to the section table

constexpr SectionKind kStoreKinds[] = {SectionKind::pages, SectionKind::index, SectionKind::stored_domains,
                                       SectionKind::stored_sender_domains};

// The identity of a header; its own field and the checksum are ignored.
std::uint64_t identity_of(ConstHeaderBytes bytes) noexcept {
  std::array<std::byte, kHeaderBytes> copy;
  std::ranges::copy(bytes, copy.begin());
  put(copy, kIdentityField, std::uint64_t{0});
  return std::max<std::uint64_t>(1, checksum(std::span(copy).first<kHeaderChecksumField.offset>()));
}

StorePart read_part(ConstHeaderBytes bytes, const std::string& path) {
  const StorePart part = {.index = get<std::uint32_t>(bytes, kPartIndexField),
                          .parts = get<std::uint32_t>(bytes, kPartsField),
                          .run = get<std::uint64_t>(bytes, kRunField),
                          .repeated = get<std::uint64_t>(bytes, kRepeatedField)};
  if (part.parts > StorePart::kMost) {
    reject_field(ErrorCode::bad_header_field, path, kPartsField, "at most " + std::to_string(StorePart::kMost),
                 std::to_string(part.parts));
  }
  const std::uint32_t last = part.is_one() ? part.parts - 1 : 0;
  if (part.index > last) {
    reject_field(ErrorCode::bad_header_field, path, kPartIndexField, "at most " + std::to_string(last),
                 std::to_string(part.index));
  }
  if (!part.is_one()) {
    expect_equal(bytes, kRunField, std::uint64_t{0}, ErrorCode::bad_header_field, path);
    expect_equal(bytes, kRepeatedField, std::uint64_t{0}, ErrorCode::bad_header_field, path);
  }
  return part;
}

void check_sections(const SectionReader& reader, const DecodedStoreHeader& decoded) {
  const Section* const pages = find_section(decoded.sections, SectionKind::pages);
  const Section* const index = find_section(decoded.sections, SectionKind::index);
  if ((pages == nullptr) != (index == nullptr)) {
    // One of the two is missing; the other one is the first section.
    const SectionKind there = decoded.sections.front().kind;
    reader.expect(0, kSectionKindField, there == SectionKind::pages ? SectionKind::index : SectionKind::pages, there);
  }
  if (pages != nullptr) {
    // The index has less than 2^60 hashes.
    const std::uint64_t count = index->items;
    constexpr std::uint64_t kMostPages = std::numeric_limits<std::int64_t>::max() / kStorePageBytes;
    reader.expect(0, kSectionBytesField, std::min(count, kMostPages) * kStorePageBytes, pages->bytes);
    constexpr std::uint64_t kMostInPage = 8 * kStorePageBytes;
    const std::uint64_t most = std::min(count, kMostPages) * kMostInPage;
    reader.expect(0, kSectionItemsField, std::clamp(pages->items, count, std::max(count, most)), pages->items);
  }
  reader.expect_places(decoded.sections);
}

}  // namespace

Sections sections_of(const StoreHeader& header) {
  constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
  const auto product = [](std::uint64_t count, std::uint64_t each) {
    return count > kMostBytes / each ? kMostBytes : count * each;
  };
  Sections sections;
  if (header.pages != 0) {
    sections.push_back(
        {.kind = SectionKind::pages, .bytes = product(header.pages, kStorePageBytes), .items = header.addresses});
    sections.push_back(
        {.kind = SectionKind::index, .bytes = product(header.pages, SortedHashes::kHashBytes), .items = header.pages});
  }
  const auto add_hashes = [&](SectionKind kind, std::uint64_t count) {
    if (count == 0) return;
    sections.push_back({.kind = kind, .bytes = product(count, SortedHashes::kHashBytes), .items = count});
  };
  add_hashes(SectionKind::stored_domains, header.domains);
  add_hashes(SectionKind::stored_sender_domains, header.sender_domains);
  place_sections(sections, kHeaderBytes);
  return sections;
}

std::uint64_t encode_store_header(const StoreHeader& header, const Sections& sections,
                                  std::span<std::byte, kHeaderBytes> out) noexcept {
  const StoreShape& shape = header.shape;
  put_common_fields(out, kStoreMagic, shape.hash_family, shape.seed, shape.profile, sections);
  put(out, kPageBytesField, static_cast<std::uint32_t>(kStorePageBytes));
  put(out, kLowBitsField, std::uint32_t{header.low_bits});
  put_kinds(out, header.kinds);
  put(out, kPartIndexField, header.part.index);
  put(out, kPartsField, header.part.parts);
  put(out, kRunField, header.part.run);
  put(out, kRepeatedField, header.part.repeated);
  const std::uint64_t identity = identity_of(out);
  put(out, kIdentityField, identity);
  put_checksum(out);
  return identity;
}

DecodedStoreHeader decode_store_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path) {
  expect_magic(bytes, kStoreMagic, path,
               "is not a store of Bloomgate (its first 8 bytes are not the magic number); make one with 'bloomgate "
               "build --store'");
  check_common_fields(bytes, path);
  expect_equal(bytes, kPageBytesField, static_cast<std::uint32_t>(kStorePageBytes), ErrorCode::bad_header_field, path);
  expect_zeros(bytes, kFirstReserved, kSeedField.offset, path);
  expect_zeros(bytes, kSecondReserved, kChunkBytesField.offset, path);
  expect_zeros(bytes, kThirdReserved, kSectionTableOffset, path);
  DecodedStoreHeader decoded;
  StoreHeader& header = decoded.header;
  header.shape = {.hash_family = static_cast<HashFamily>(get<std::uint32_t>(bytes, kHashFamilyField)),
                  .seed = get<std::uint64_t>(bytes, kSeedField),
                  .profile = read_profile(bytes, path, kFlagDomainPairs | kFlagSigners)};
  validate_hash_family(header.shape.hash_family, path);
  header.low_bits = get<std::uint32_t>(bytes, kLowBitsField);
  if (header.low_bits > kMostLowBits) {
    reject_field(ErrorCode::bad_header_field, path, kLowBitsField, "at most " + std::to_string(kMostLowBits),
                 std::to_string(header.low_bits));
  }
  const SectionReader reader(bytes, path);
  decoded.sections = reader.read(kStoreKinds, 0);
  check_sections(reader, decoded);
  const auto items = [&](SectionKind kind) {
    const Section* const section = find_section(decoded.sections, kind);
    return section == nullptr ? 0 : section->items;
  };
  header.pages = items(SectionKind::index);
  header.addresses = items(SectionKind::pages);
  header.domains = items(SectionKind::stored_domains);
  header.sender_domains = items(SectionKind::stored_sender_domains);
  header.kinds = read_kinds(bytes, header.addresses, header.domains, path);
  header.part = read_part(bytes, path);
  decoded.identity = get<std::uint64_t>(bytes, kIdentityField);
  expect_equal(bytes, kIdentityField, identity_of(bytes), ErrorCode::bad_header_field, path);
  return decoded;
}

}  // namespace bloomgate
