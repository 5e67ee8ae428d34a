#include "filter/file/file_format.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/saturating_sum.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/layout/sorted_hashes.hpp"

namespace bloomgate {
namespace {

// The header table of FORMAT.md: the fields that only filters have.
constexpr Field kLayoutField = {"layout", 16};
constexpr Field kHashesField = {"hashes", 24};
constexpr Field kBlockBytesField = {"block_bytes", 28};
constexpr Field kBlockCountField = {"block_count", 32};
constexpr Field kExpectedEntriesField = {"expected_entries", 56};
constexpr Field kBitsSetField = {"bits_set", 64};
constexpr Field kStoreIdentityField = {"store_identity", 80};
constexpr Field kStrangersField = {"strangers", 88};
constexpr Field kStrangerEntriesField = {"stranger_entries", 96};
constexpr Field kStrangersByDomainField = {"strangers_by_domain", 104};
constexpr Field kStoreSeedField = {"store_seed", 112};
constexpr Field kSaturatedField = {"saturated", 120};

// Flags that only filters have.
constexpr std::uint32_t kFlagFromStore = 1U << 1;

constexpr SectionKind kFilterKinds[] = {SectionKind::bits, SectionKind::domains, SectionKind::excluded,
                                        SectionKind::sender_domains};

// "1 (page), 2 (line)": the layouts that this version can read, for a person.
std::string layout_codes() {
  std::string list;
  for (const Layout layout : kLayouts) {
    append_code(list, static_cast<std::uint32_t>(layout), layout_rules(layout).name());
  }
  return list;
}

// In most layouts each hash of an address sets at most one bit.
std::uint64_t most_bits_set(const FilterHeader& header) noexcept {
  const std::uint64_t bits = 8 * body_bytes(header.shape) / bits_of_place(header.shape.layout);
  const std::uint64_t of_one = layout_rules(header.shape.layout).most_bits_of_entry(header.shape);
  return header.addresses > bits / of_one ? bits : header.addresses * of_one;
}

std::optional<std::uint64_t> read_store_seed(ConstHeaderBytes bytes, const std::string& path) {
  if ((get<std::uint32_t>(bytes, kFlagsField) & kFlagFromStore) != 0) return get<std::uint64_t>(bytes, kStoreSeedField);
  expect_equal(bytes, kStoreSeedField, std::uint64_t{0}, ErrorCode::bad_header_field, path);
  return std::nullopt;
}

// No address is counted twice, neither as excluded and as an entry, nor as an entry and by its domain.
KnownStrangerCounts read_strangers(ConstHeaderBytes bytes, Layout layout, std::uint64_t excluded,
                                   const std::string& path) {
  const KnownStrangerCounts counts = {.known = get<std::uint64_t>(bytes, kStrangersField),
                                      .entries = get<std::uint64_t>(bytes, kStrangerEntriesField),
                                      .by_domain = get<std::uint64_t>(bytes, kStrangersByDomainField)};
  const auto expect_at_most = [&](Field field, std::uint64_t most, std::uint64_t got) {
    if (got > most) {
      reject_field(ErrorCode::bad_header_field, path, field, "at most " + std::to_string(most), std::to_string(got));
    }
  };
  if (!layout_rules(layout).why_no_strangers().empty()) expect_at_most(kStrangersField, 0, counts.known);
  if (counts.known < excluded) {
    reject_field(ErrorCode::bad_header_field, path, kStrangersField, "at least " + std::to_string(excluded),
                 std::to_string(counts.known));
  }
  expect_at_most(kStrangerEntriesField, counts.known - excluded, counts.entries);
  expect_at_most(kStrangersByDomainField, counts.known - counts.entries, counts.by_domain);
  return counts;
}

bool is_zero(std::span<const std::byte> bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// A file has either all three fields of a signature, or none of them.
std::optional<ClaimedSignature> read_signature(ConstHeaderBytes bytes, const std::string& path) {
  const auto signature = bytes.subspan<kSignerField.offset, kSignatureEnd - kSignerField.offset>();
  expect_zeros(bytes, kSignatureEnd, kPairsField.offset, path);
  if (is_zero(signature)) return std::nullopt;
  const auto bytes_of = [&](Field field, std::size_t end) {
    const auto content = bytes.subspan(field.offset, end - field.offset);
    if (is_zero(content)) {
      reject_field(ErrorCode::bad_header_field, path, field, "not zero, as the file has another part of a signature",
                   "zero");
    }
    return content;
  };
  ClaimedSignature claimed;
  std::memcpy(claimed.signer.bytes.data(), bytes_of(kSignerField, kContentField.offset).data(),
              claimed.signer.bytes.size());
  std::memcpy(claimed.content.data(), bytes_of(kContentField, kSignatureField.offset).data(), claimed.content.size());
  bytes_of(kSignatureField, kSignatureEnd);
  return claimed;
}

// Only counters can be saturated, and only counters that are not 0.
std::uint64_t read_saturated(ConstHeaderBytes bytes, const FilterHeader& header, const std::string& path) {
  const auto saturated = get<std::uint64_t>(bytes, kSaturatedField);
  const std::uint64_t most = layout_rules(header.shape.layout).has_counters() ? header.bits_set : 0;
  if (saturated <= most) return saturated;
  reject_field(ErrorCode::bad_header_field, path, kSaturatedField, "at most " + std::to_string(most),
               std::to_string(saturated));
}

}  // namespace

std::uint64_t entries_of(const FilterHeader& header) noexcept {
  return saturating_sum(header.addresses, header.domains);
}

std::string_view lack_of_sender_domains(bool is_confirmed) noexcept {
  return is_confirmed
             ? "keeps no domains of its senders, so an outsider may find out who is listed"
             : "keeps no domains of its senders, so an unlisted sender at any domain may be found by chance, and may "
               "find out who is listed";
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
  const auto add_hashes = [&](SectionKind kind, std::uint64_t count) {
    constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
    if (count == 0) return;
    const std::uint64_t bytes =
        count > kMostBytes / SortedHashes::kHashBytes ? kMostBytes : count * SortedHashes::kHashBytes;
    sections.push_back({.kind = kind, .bytes = bytes, .items = count});
  };
  add_hashes(SectionKind::domains, header.domains);
  add_hashes(SectionKind::excluded, header.excluded);
  if (header.sender_domains) {
    sections.push_back({.kind = SectionKind::sender_domains,
                        .bytes = DomainCoding(*header.sender_domains).section_bytes(),
                        .items = *header.sender_domains});
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
    reject_field(ErrorCode::unsupported_layout, path, kLayoutField, "one of " + layout_codes(),
                 std::to_string(static_cast<std::uint32_t>(shape.layout)));
  }
  validate_hash_family(shape.hash_family, path);
  const std::uint32_t most_hashes = rules->most_hashes();
  if (shape.hashes < 1 || shape.hashes > most_hashes) {
    reject_field(ErrorCode::bad_header_field, path, kHashesField,
                 most_hashes == 1 ? "1" : "1 to " + std::to_string(most_hashes), std::to_string(shape.hashes));
  }
  if (!rules->allows_block_bytes(shape.block_bytes, shape.hashes)) {
    reject_field(ErrorCode::bad_header_field, path, kBlockBytesField, rules->block_bytes_rule(shape.hashes),
                 std::to_string(shape.block_bytes));
  }
  if (shape.store_seed && !rules->can_have_store()) {
    reject_field(ErrorCode::bad_header_field, path, kFlagsField,
                 "without bit 1 in the layout " + std::string(rules->name()), "with it");
  }
  if (shape.block_count < 1) {
    reject_field(ErrorCode::bad_header_field, path, kBlockCountField, "at least 1", std::to_string(shape.block_count));
  }
  if (!has_possible_size(shape)) {
    reject_field(ErrorCode::size_overflow, path, kBlockCountField, "a number of blocks that fits in a file",
                 std::to_string(shape.block_count));
  }
}

void encode_header(const FilterHeader& header, const Sections& sections,
                   std::span<std::byte, kHeaderBytes> out) noexcept {
  const FilterShape& shape = header.shape;
  put_common_fields(out, kFilterMagic, shape.hash_family, shape.seed, shape.profile, sections);
  put(out, kLayoutField, static_cast<std::uint32_t>(shape.layout));
  put(out, kHashesField, shape.hashes);
  put(out, kBlockBytesField, shape.block_bytes);
  put(out, kBlockCountField, shape.block_count);
  put(out, kExpectedEntriesField, header.expected_entries);
  put(out, kBitsSetField, header.bits_set);
  put(out, kStoreIdentityField, header.store_identity);
  put(out, kSaturatedField, header.saturated);
  put(out, kStrangersField, header.strangers.known);
  put(out, kStrangerEntriesField, header.strangers.entries);
  put(out, kStrangersByDomainField, header.strangers.by_domain);
  put_kinds(out, header.kinds);
  if (shape.store_seed) {
    put(out, kFlagsField, get<std::uint32_t>(out, kFlagsField) | kFlagFromStore);
    put(out, kStoreSeedField, *shape.store_seed);
  }
  put_checksum(out);
}

DecodedHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path) {
  expect_magic(bytes, kFilterMagic, path,
               "is not a Bloomgate filter (its first 8 bytes are not the magic number); build one with 'bloomgate "
               "build'");
  check_common_fields(bytes, path);
  const AddressProfile profile = read_profile(bytes, path, kFlagFromStore | kFlagDomainPairs | kFlagSigners);

  FilterHeader header;
  header.shape = {.layout = static_cast<Layout>(get<std::uint32_t>(bytes, kLayoutField)),
                  .hash_family = static_cast<HashFamily>(get<std::uint32_t>(bytes, kHashFamilyField)),
                  .hashes = get<std::uint32_t>(bytes, kHashesField),
                  .block_bytes = get<std::uint32_t>(bytes, kBlockBytesField),
                  .block_count = get<std::uint64_t>(bytes, kBlockCountField),
                  .seed = get<std::uint64_t>(bytes, kSeedField),
                  .profile = profile,
                  .store_seed = read_store_seed(bytes, path)};
  validate_shape(header.shape, path);
  header.expected_entries = get<std::uint64_t>(bytes, kExpectedEntriesField);
  if (header.expected_entries < 1) {
    reject_field(ErrorCode::bad_header_field, path, kExpectedEntriesField, "at least 1", "0");
  }
  const SectionReader reader(bytes, path);
  Sections sections = reader.read(kFilterKinds, 1, kSignerField.offset);
  reader.expect(0, kSectionKindField, SectionKind::bits, sections.front().kind);
  reader.expect(0, kSectionBytesField, body_bytes(header.shape), sections.front().bytes);
  reader.expect_places(sections);
  header.addresses = sections.front().items;
  const auto items_of = [&](SectionKind kind) {
    const Section* const section = find_section(sections, kind);
    return section == nullptr ? 0 : section->items;
  };
  header.domains = items_of(SectionKind::domains);
  header.excluded = items_of(SectionKind::excluded);
  if (const Section* const section = find_section(sections, SectionKind::sender_domains)) {
    header.sender_domains = section->items;
  }
  header.kinds = read_kinds(bytes, header.addresses, header.domains, path);
  header.strangers = read_strangers(bytes, header.shape.layout, header.excluded, path);
  header.bits_set = get<std::uint64_t>(bytes, kBitsSetField);
  header.store_identity = get<std::uint64_t>(bytes, kStoreIdentityField);
  const std::uint64_t most = most_bits_set(header);
  if (header.bits_set > most) {
    reject_field(ErrorCode::bad_header_field, path, kBitsSetField, "at most " + std::to_string(most),
                 std::to_string(header.bits_set));
  }
  header.saturated = read_saturated(bytes, header, path);
  return {header, std::move(sections), read_signature(bytes, path)};
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace bloomgate
