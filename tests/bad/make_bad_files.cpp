// Writes the corpus of malformed filter files: see README.md. Each is a sound file with one thing wrong.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/domains/sender_domains_encoder.hpp"
#include "filter/engine/builder.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/signature.hpp"
#include "tests/support/test_keys.hpp"

namespace {

using namespace bloomgate;
namespace fs = std::filesystem;
using Image = std::vector<std::byte>;

// Header, one block, its table; and on a page of their own three domain entries and their table.
Image sound_file(const fs::path& folder, Layout layout) {
  FilterBuilder builder({.layout = layout, .seed = 42});
  for (const char* line : {"joe@example.org", "ann@example.net", "@example.com", "@example.org", "@.example.net"}) {
    builder.add(canonicalize_line(line));
  }
  const std::string path = (folder / "sound.tmp").string();
  const std::atomic<bool> never_stop{false};
  builder.write(path, never_stop);
  Image image(fs::file_size(path));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(image.data()), static_cast<std::streamsize>(image.size()));
  fs::remove(path);
  return image;
}

void mend_header_checksum(Image& image) {
  store_little_endian(image.data() + kHeaderBytes - 8, checksum(std::span(image).first(kHeaderBytes - 8)));
}

using Damage = std::function<void(Image&)>;

Damage field32(std::size_t offset, std::uint32_t value) {
  return [=](Image& image) {
    store_little_endian(image.data() + offset, value);
    mend_header_checksum(image);
  };
}

Damage field64(std::size_t offset, std::uint64_t value) {
  return [=](Image& image) {
    store_little_endian(image.data() + offset, value);
    mend_header_checksum(image);
  };
}

// The three fields that make up a shape, with the k of the sound file.
Damage shape(Layout layout, std::uint32_t block_bytes, std::uint64_t block_count) {
  return [=](Image& image) {
    field32(16, static_cast<std::uint32_t>(layout))(image);
    field32(28, block_bytes)(image);
    field64(32, block_count)(image);
  };
}

// The section table: the fields of an entry, by their offsets in it.
constexpr std::size_t kBits = 128;
constexpr std::size_t kDomains = kBits + 64;
constexpr std::size_t kThird = kDomains + 64;
constexpr std::size_t kKind = 0;
constexpr std::size_t kFlags = 4;
constexpr std::size_t kOffset = 8;
constexpr std::size_t kBytes = 16;
constexpr std::size_t kItems = 24;
constexpr std::size_t kTableChecksum = 32;
constexpr std::size_t kReserved = 40;

// Where the parts of the sound file lie.
constexpr std::size_t kBody = kHeaderBytes;
constexpr std::size_t kTable = kBody + 4096;
constexpr std::size_t kHashes = kTable + 4096;
constexpr std::size_t kHashCount = 3;
constexpr std::size_t kHashTable = kHashes + kHashCount * 8;

constexpr std::size_t kExcludedHashes = 4 * 4096;
constexpr std::size_t kExcludedTable = kExcludedHashes + 2 * 8;

// Fields of the header.
constexpr std::size_t kStrangers = 88;
constexpr std::size_t kStrangerEntries = 96;
constexpr std::size_t kStrangersByDomain = 104;
constexpr std::size_t kPairs = kHeaderBytes - 16;

void mend_excluded(Image& image) {
  store_little_endian(image.data() + kExcludedTable, checksum(std::span(image).subspan(kExcludedHashes, 16)));
  field64(kThird + kTableChecksum, checksum(std::span(image).subspan(kExcludedTable, 8)))(image);
}

Damage both(const Damage& one, const Damage& other) {
  return [=](Image& image) {
    one(image);
    other(image);
  };
}

// Other hashes in the section of domain entries, with right checksums.
Damage hashes(std::size_t first, std::size_t second, std::size_t third) {
  return [=](Image& image) {
    const Image sound = image;
    std::size_t to = kHashes;
    for (const std::size_t from : {first, second, third}) {
      std::copy_n(sound.begin() + static_cast<std::ptrdiff_t>(kHashes + from * 8), 8,
                  image.begin() + static_cast<std::ptrdiff_t>(to));
      to += 8;
    }
    store_little_endian(image.data() + kHashTable, checksum(std::span(image).subspan(kHashes, kHashCount * 8)));
    field64(kDomains + kTableChecksum, checksum(std::span(image).subspan(kHashTable, 8)))(image);
  };
}

// A third section, of excluded senders: the first and the last of the domain entries' hashes, and the damage.
Damage with_excluded(const Damage& damage) {
  return [=](Image& image) {
    image.resize(kExcludedHashes);
    for (const std::size_t from : {std::size_t{0}, kHashCount - 1}) {
      const auto at = image.begin() + static_cast<std::ptrdiff_t>(kHashes + from * 8);
      const Image hash(at, at + 8);
      image.insert(image.end(), hash.begin(), hash.end());
    }
    image.resize(image.size() + 8);
    mend_excluded(image);
    field32(kThird + kKind, 3)(image);
    field64(kThird + kOffset, kExcludedHashes)(image);
    field64(kThird + kBytes, 16)(image);
    field64(kThird + kItems, 2)(image);
    field64(kStrangers, 7)(image);
    field64(kStrangerEntries, 3)(image);
    field64(kStrangersByDomain, 4)(image);
    field32(76, 3)(image);
    damage(image);
  };
}

// The file without its second section, and the damage.
Damage without_domains(const Damage& damage) {
  return [=](Image& image) {
    image.resize(kTable + 8);
    std::fill_n(image.begin() + kDomains, 64, std::byte{0});
    field32(76, 1)(image);
    damage(image);
  };
}

// Other hashes of excluded senders, with right checksums.
Damage excluded_hashes(std::uint64_t first, std::uint64_t second) {
  return with_excluded([=](Image& image) {
    store_little_endian(image.data() + kExcludedHashes, first);
    store_little_endian(image.data() + kExcludedHashes + 8, second);
    mend_excluded(image);
  });
}

// Two sender domains in two buckets: one each, with low parts of 59 bits; and one number in the table of the groups.
constexpr DomainNumber kFirstSenders[] = {5, DomainNumber{1} << 59 | 6};
constexpr std::size_t kSenders = 4 * 4096;
constexpr std::size_t kSendersGroups = kSenders + 16;
constexpr std::size_t kSendersTable = kSenders + 24;

void mend_senders(Image& image) {
  store_little_endian(image.data() + kSendersTable, checksum(std::span(image).subspan(kSenders, 24)));
  field64(kThird + kTableChecksum, checksum(std::span(image).subspan(kSendersTable, 8)))(image);
}

// The section table says that so many sender domains make up the third section, whose table is the end of the image.
void declare_senders(Image& image, std::uint64_t items) {
  const std::uint64_t bytes = image.size() - 8 - kSenders;
  field32(kThird + kKind, 7)(image);
  field64(kThird + kOffset, kSenders)(image);
  field64(kThird + kBytes, bytes)(image);
  field64(kThird + kItems, items)(image);
  field32(76, 3)(image);
}

// A third section, of sender domains, and the damage.
Damage with_senders(const Damage& damage) {
  return [=](Image& image) {
    image.resize(kSenders);
    SenderDomainsEncoder encoder(2, kChecksumChunkBytes, [&](std::span<const std::byte> bytes) {
      image.insert(image.end(), bytes.begin(), bytes.end());
    });
    encoder.add(kFirstSenders);
    encoder.finish();
    image.resize(image.size() + 8);
    mend_senders(image);
    declare_senders(image, 2);
    damage(image);
  };
}

// 65 sender domains, with the low parts 0, 1, 2 and so on, all in the first of 128 buckets, which may have 64.
void crowd_bucket(Image& image) {
  constexpr std::size_t kDomainsOfBucket = 65;
  constexpr std::size_t kLowBits = 53;
  constexpr std::size_t kGroupBytes = (128 + kDomainsOfBucket * (kLowBits + 1) + 63) / 64 * 8;
  image.resize(kSenders);
  image.resize(kSenders + kGroupBytes + 8 + 8);
  const auto set_bit = [&](std::size_t bit) { image[kSenders + bit / 8] |= std::byte{1} << bit % 8; };
  for (std::size_t domain = 0; domain < kDomainsOfBucket; ++domain) {
    set_bit(domain);
    for (std::size_t bit = 0; bit < kLowBits; ++bit) {
      if ((domain >> bit & 1) != 0) set_bit(128 + kDomainsOfBucket + domain * kLowBits + bit);
    }
  }
  const std::size_t table_at = image.size() - 8;
  store_little_endian(image.data() + table_at, checksum(std::span(image).subspan(kSenders, table_at - kSenders)));
  field64(kThird + kTableChecksum, checksum(std::span(image).subspan(table_at, 8)))(image);
  declare_senders(image, kDomainsOfBucket);
}

// Other words in the groups, with right checksums. Without damage they are 1 | 1 << 2 | 5 << 4, and 6 << 63 | ... >> 1.
Damage senders(std::uint64_t first, std::uint64_t second, std::uint64_t before = 0) {
  return with_senders([=](Image& image) {
    store_little_endian(image.data() + kSenders, first);
    store_little_endian(image.data() + kSenders + 8, second);
    store_little_endian(image.data() + kSendersGroups, before);
    mend_senders(image);
  });
}

Damage flip(std::size_t offset) {
  return [=](Image& image) { image.at(offset) ^= std::byte{1}; };
}

Damage resize(std::int64_t change) {
  return
      [=](Image& image) { image.resize(static_cast<std::size_t>(static_cast<std::int64_t>(image.size()) + change)); };
}

Damage cut(std::size_t size) {
  return [=](Image& image) { image.resize(size); };
}

struct BadFile {
  std::string name;
  ErrorCode want;
  Damage damage;
  Layout layout = Layout::page;  // of the sound file
};

std::vector<BadFile> bad_files() {
  using enum ErrorCode;
  constexpr std::uint64_t kBig = ~std::uint64_t{0};
  return {
      {"empty", too_short, cut(0)},
      {"one-byte", too_short, cut(1)},
      {"header-less-one-byte", too_short, cut(kHeaderBytes - 1)},
      {"header-only", wrong_size, cut(kHeaderBytes)},
      {"body-truncated", wrong_size, cut(kBody + 2048)},
      {"table-missing", wrong_size, cut(kTable)},
      {"second-section-missing", wrong_size, cut(kTable + 8)},
      {"second-section-truncated", wrong_size, cut(kHashes + 20)},
      {"second-table-missing", wrong_size, cut(kHashTable)},
      {"last-byte-missing", wrong_size, resize(-1)},
      {"one-byte-too-many", wrong_size, resize(1)},
      {"twice-as-long", wrong_size, resize(8192 + 4096 + 32)},
      {"magic-first-byte", bad_magic, flip(0)},
      {"magic-last-byte", bad_magic, flip(7)},
      {"magic-text-mode", bad_magic, [](Image& image) { image[4] = std::byte{'\n'}; }},
      {"all-zeros", bad_magic, [](Image& image) { image.assign(image.size(), std::byte{0}); }},
      {"plain-text", bad_magic, [](Image& image) { image.assign(image.size(), std::byte{'a'}); }},
      {"version-0", unsupported_version, field32(8, 0)},
      {"version-2", unsupported_version, field32(8, 2)},
      {"version-big-endian", unsupported_version, field32(8, 0x01000000)},
      {"header-checksum-wrong", bad_header_checksum, flip(kHeaderBytes - 8)},
      {"header-damaged", bad_header_checksum, flip(40)},
      {"reserved-damaged", bad_header_checksum, flip(2000)},
      {"header-bytes-0", bad_header_field, field32(12, 0)},
      {"header-bytes-8192", bad_header_field, field32(12, 8192)},
      {"layout-0", unsupported_layout, field32(16, 0)},
      {"layout-7", unsupported_layout, field32(16, 7)},
      {"layout-ribbon-with-six-hashes", bad_header_field, field32(16, 5)},
      {"layout-counting-with-the-array-of-a-page", bad_header_field, field32(16, 6)},
      {"layout-unknown", unsupported_layout, field32(16, 0xffffffff)},
      {"hash-0", unsupported_hash, field32(20, 0)},
      {"hash-4", unsupported_hash, field32(20, 4)},
      {"hash-unknown", unsupported_hash, field32(20, 0xffffffff)},
      {"hashes-0", bad_header_field, field32(24, 0)},
      {"hashes-33", bad_header_field, field32(24, 33)},
      {"hashes-4294967295", bad_header_field, field32(24, 0xffffffff)},
      {"block-bytes-0", bad_header_field, field32(28, 0)},
      {"block-bytes-not-a-page", bad_header_field, field32(28, 4095)},
      {"block-bytes-half-a-page", bad_header_field, field32(28, 2048)},
      {"block-bytes-three-pages", bad_header_field, field32(28, 12288)},
      {"block-bytes-two-pages-in-a-file-of-one", bad_header_field, field32(28, 8192)},
      {"block-bytes-2-mib", bad_header_field, field32(28, 2 << 20)},
      {"block-bytes-huge", bad_header_field, field32(28, 0x80000000)},
      {"line-with-a-page", bad_header_field, shape(Layout::line, 4096, 1)},
      {"line-with-half-a-line", bad_header_field, shape(Layout::line, 32, 128)},
      {"line-one-block-more", bad_header_field, shape(Layout::line, 64, 65)},
      {"line-product-wraps-to-4096", size_overflow, shape(Layout::line, 64, (std::uint64_t{1} << 58) + 64)},
      {"classic-with-a-page", bad_header_field, shape(Layout::classic, 4096, 1)},
      {"classic-one-word-less", bad_header_field, shape(Layout::classic, 8, 511)},
      {"classic-bits-past-64-bits", size_overflow, shape(Layout::classic, 8, std::uint64_t{1} << 58)},
      {"classic-product-wraps-to-4096", size_overflow, shape(Layout::classic, 8, (std::uint64_t{1} << 61) + 512)},
      {"partitioned-with-a-page", bad_header_field, shape(Layout::partitioned, 4096, 1)},
      {"partitioned-for-another-k", bad_header_field, shape(Layout::partitioned, 64, 64)},
      {"partitioned-one-word-a-slice-more", bad_header_field, shape(Layout::partitioned, 48, 86)},
      {"partitioned-bits-past-64-bits", size_overflow, shape(Layout::partitioned, 48, std::uint64_t{1} << 56)},
      {"block-count-0", bad_header_field, field64(32, 0)},
      {"block-count-one-more", bad_header_field, field64(32, 2)},
      {"one-block-more-in-all-places", wrong_size,
       both(both(field64(32, 2), field64(kBits + kBytes, 8192)), field64(kDomains + kOffset, kHashes + 4096))},
      {"block-count-bits-past-64-bits", size_overflow, field64(32, std::uint64_t{1} << 49)},
      {"block-count-larger-than-a-file", size_overflow, field64(32, std::uint64_t{1} << 51)},
      {"block-count-product-wraps-to-0", size_overflow, field64(32, std::uint64_t{1} << 52)},
      {"block-count-product-wraps-to-4096", size_overflow, field64(32, (std::uint64_t{1} << 52) + 1)},
      {"block-count-largest", size_overflow, field64(32, kBig)},
      {"flags-unknown", bad_header_field, field32(48, 0x01000010)},
      {"flags-all", bad_header_field, field32(48, 0xffffffff)},
      {"key-form-0", unsupported_version, field32(48, 0)},
      {"key-form-2", unsupported_version, field32(48, 0x02000000)},
      {"store-seed-without-its-flag", bad_header_field, field64(112, 1)},
      {"chunk-bytes-0", bad_header_field, field32(72, 0)},
      {"chunk-bytes-4096", bad_header_field, field32(72, 4096)},
      {"expected-entries-0", bad_header_field, field64(56, 0)},
      {"bits-set-one-more-than-the-addresses-can-set", bad_header_field, field64(64, 13)},
      {"bits-set-one-more-than-there-are", bad_header_field,
       both(field64(kBits + kItems, kBig), field64(64, 4096 * 8 + 1))},
      {"bits-set-largest", bad_header_field, field64(64, kBig)},
      {"tag-separators-unknown", bad_header_field, field32(52, 1 << 19)},
      {"tag-separators-all", bad_header_field, field32(52, 0xffffffff)},
      {"saturated-one-without-counters", bad_header_field, field64(120, 1)},
      {"saturated-largest-without-counters", bad_header_field, field64(120, kBig)},
      {"reserved-behind-the-sections-not-zero", bad_header_field, field32(kThird, 1)},
      {"reserved-last-byte-not-zero", bad_header_field, field32(kHeaderBytes - 20, 0x01000000)},
      {"pairs-one-more-than-the-addresses", bad_header_field, field64(kPairs, 3)},
      {"pairs-largest", bad_header_field, field64(kPairs, kBig)},
      {"pairs-with-domains-without-their-section", bad_header_field, without_domains(field32(48, 0x01000004))},
      {"signers-without-their-section", bad_header_field, without_domains(field32(48, 0x01000008))},
      {"pairs-and-signers-without-their-section", bad_header_field, without_domains(field32(48, 0x0100000c))},
      {"table-checksum-wrong", bad_table_checksum, field64(kBits + kTableChecksum, 0)},
      {"second-table-checksum-wrong", bad_table_checksum, field64(kDomains + kTableChecksum, 0)},
      {"table-damaged", bad_table_checksum, flip(kTable)},
      {"second-table-damaged", bad_table_checksum, flip(kHashTable + 7)},
      {"sections-none", bad_header_field, field32(76, 0)},
      {"sections-one-less", bad_header_field, field32(76, 1)},
      {"sections-one-more", unsupported_section, field32(76, 3)},
      {"sections-17", bad_header_field, field32(76, 17)},
      {"sections-4294967295", bad_header_field, field32(76, 0xffffffff)},
      {"section-kind-0", unsupported_section, field32(kDomains + kKind, 0)},
      {"section-kind-4", unsupported_section, field32(kDomains + kKind, 4)},
      {"section-kind-unknown", unsupported_section, field32(kDomains + kKind, 0xffffffff)},
      {"section-bits-unknown", unsupported_section, field32(kBits + kKind, 9)},
      {"section-bits-missing", bad_header_field,
       both(field32(76, 1),
            [](Image& image) {
              std::copy_n(image.begin() + kDomains, 64, image.begin() + kBits);
              std::fill_n(image.begin() + kDomains, 64, std::byte{0});
              mend_header_checksum(image);
            })},
      {"section-bits-twice", bad_header_field, field32(kDomains + kKind, 1)},
      {"section-domains-twice", bad_header_field,
       both(field32(76, 3),
            [](Image& image) {
              std::copy_n(image.begin() + kDomains, 64, image.begin() + kThird);
              mend_header_checksum(image);
            })},
      {"sections-in-the-wrong-order", bad_header_field,
       [](Image& image) {
         std::swap_ranges(image.begin() + kBits, image.begin() + kDomains, image.begin() + kDomains);
         mend_header_checksum(image);
       }},
      {"section-bits-flags", bad_header_field, field32(kBits + kFlags, 1)},
      {"section-domains-flags", bad_header_field, field32(kDomains + kFlags, 0x80000000)},
      {"section-bits-reserved", bad_header_field, field64(kBits + kReserved, 1)},
      {"section-domains-reserved", bad_header_field, field64(kDomains + kReserved + 16, 1)},
      {"section-bits-offset-0", bad_header_field, field64(kBits + kOffset, 0)},
      {"section-bits-offset-one-page-on", bad_header_field, field64(kBits + kOffset, 8192)},
      {"section-domains-offset-in-the-bits", bad_header_field, field64(kDomains + kOffset, kBody)},
      {"section-domains-offset-in-the-table", bad_header_field, field64(kDomains + kOffset, kTable)},
      {"section-domains-offset-behind-the-table", bad_header_field, field64(kDomains + kOffset, kTable + 8)},
      {"section-domains-offset-not-aligned", bad_header_field, field64(kDomains + kOffset, kHashes + 8)},
      {"section-domains-offset-one-page-on", bad_header_field, field64(kDomains + kOffset, kHashes + 4096)},
      {"section-domains-offset-largest", bad_header_field, field64(kDomains + kOffset, kBig)},
      {"section-bits-bytes-0", bad_header_field, field64(kBits + kBytes, 0)},
      {"section-bits-bytes-one-block-more", bad_header_field, field64(kBits + kBytes, 8192)},
      {"section-bits-bytes-largest", bad_header_field, field64(kBits + kBytes, kBig)},
      {"section-domains-bytes-0", bad_header_field, field64(kDomains + kBytes, 0)},
      {"section-domains-bytes-one-more", bad_header_field, field64(kDomains + kBytes, kHashCount * 8 + 1)},
      {"section-domains-bytes-largest", bad_header_field, field64(kDomains + kBytes, kBig)},
      {"section-domains-items-0", bad_header_field, field64(kDomains + kItems, 0)},
      {"section-domains-items-one-less", bad_header_field, field64(kDomains + kItems, kHashCount - 1)},
      {"section-domains-items-product-wraps", bad_header_field,
       field64(kDomains + kItems, (std::uint64_t{1} << 61) + kHashCount)},
      {"section-domains-one-hash-more", wrong_size,
       both(field64(kDomains + kItems, kHashCount + 1), field64(kDomains + kBytes, (kHashCount + 1) * 8))},
      {"section-domains-larger-than-a-file", size_overflow,
       both(field64(kDomains + kItems, (std::uint64_t{1} << 60) - 1),
            field64(kDomains + kBytes, (std::uint64_t{1} << 63) - 8))},
      {"gap-first-byte", bad_section, flip(kTable + 8)},
      {"gap-last-byte", bad_section, flip(kHashes - 1)},
      {"domains-first-bit", bad_body_checksum, flip(kHashes)},
      {"domains-last-bit", bad_body_checksum, flip(kHashTable - 1)},
      {"domains-not-sorted", bad_section, hashes(1, 0, 2)},
      {"domains-falling-at-the-end", bad_section, hashes(0, 2, 1)},
      {"domains-with-a-duplicate", bad_section, hashes(0, 1, 1)},
      {"excluded-cut", wrong_size, with_excluded(cut(kExcludedHashes + 8))},
      {"excluded-table-missing", wrong_size, with_excluded(cut(kExcludedTable))},
      {"excluded-first-bit", bad_body_checksum, with_excluded(flip(kExcludedHashes))},
      {"excluded-last-bit", bad_body_checksum, with_excluded(flip(kExcludedTable - 1))},
      {"excluded-table-damaged", bad_table_checksum, with_excluded(flip(kExcludedTable))},
      {"excluded-not-sorted", bad_section, excluded_hashes(2, 1)},
      {"excluded-with-a-duplicate", bad_section, excluded_hashes(2, 2)},
      {"excluded-gap-not-zero", bad_section, with_excluded(flip(kExcludedHashes - 1))},
      {"section-excluded-items-0", bad_header_field, with_excluded(field64(kThird + kItems, 0))},
      {"section-excluded-items-one-less", bad_header_field, with_excluded(field64(kThird + kItems, 1))},
      {"section-excluded-one-hash-more", wrong_size,
       with_excluded(both(field64(kThird + kItems, 3), field64(kThird + kBytes, 24)))},
      {"section-excluded-items-product-wraps", bad_header_field,
       with_excluded(field64(kThird + kItems, (std::uint64_t{1} << 61) + 2))},
      {"section-excluded-offset-in-the-domains", bad_header_field, with_excluded(field64(kThird + kOffset, kHashes))},
      {"section-excluded-offset-in-the-bits", bad_header_field, with_excluded(field64(kThird + kOffset, kBody))},
      {"section-excluded-before-the-domains", bad_header_field,
       with_excluded(both(field32(kDomains + kKind, 3), field32(kThird + kKind, 2)))},
      {"section-excluded-twice", bad_header_field, with_excluded(field32(kDomains + kKind, 3))},
      {"sender-domains-first-bit", bad_body_checksum, with_senders(flip(kSenders))},
      {"sender-domains-last-bit", bad_body_checksum, with_senders(flip(kSendersTable - 1))},
      {"sender-domains-table-damaged", bad_table_checksum, with_senders(flip(kSendersTable))},
      {"sender-domains-not-sorted", bad_section, senders(0b0011 | 6U << 4, 5 >> 1)},
      {"sender-domains-with-a-duplicate", bad_section, senders(0b0011 | 6U << 4, 6 >> 1)},
      {"sender-domains-one-too-few", bad_section, senders(0b0001 | 5U << 4, 3)},
      {"sender-domains-one-too-many", bad_section, senders(0b0111 | 5U << 4, 3)},
      {"sender-domains-behind-the-last-bucket", bad_section, senders(0b1001 | 5U << 4, 3)},
      {"sender-domains-before-the-first-group", bad_section, senders(0b0101 | 5U << 4, 3, 1)},
      {"sender-domains-last-word-not-filled-with-zeros", bad_section,
       senders(0b0101 | 5U << 4, 3 | std::uint64_t{1} << 63)},
      {"sender-domains-one-too-many-in-a-bucket", bad_section, crowd_bucket},
      {"section-sender-domains-items-one-less", bad_header_field, with_senders(field64(kThird + kItems, 1))},
      {"section-sender-domains-items-one-more", bad_header_field, with_senders(field64(kThird + kItems, 3))},
      {"section-sender-domains-more-than-there-can-be", bad_header_field,
       with_senders(field64(kThird + kItems, (std::uint64_t{1} << 48) + 1))},
      {"section-sender-domains-of-a-store", unsupported_section, with_senders(field32(kThird + kKind, 8))},
      {"strangers-fewer-than-excluded", bad_header_field,
       with_excluded(both(field64(kStrangers, 1), both(field64(kStrangerEntries, 0), field64(kStrangersByDomain, 0))))},
      {"strangers-none-in-spite-of-a-section", bad_header_field, field32(kDomains + kKind, 3)},
      {"stranger-entries-one-more-than-are-left", bad_header_field,
       with_excluded(both(field64(kStrangerEntries, 6), field64(kStrangersByDomain, 0)))},
      {"stranger-entries-largest", bad_header_field, with_excluded(field64(kStrangerEntries, kBig))},
      {"strangers-by-domain-one-more-than-are-left", bad_header_field, with_excluded(field64(kStrangersByDomain, 5))},
      {"strangers-by-domain-largest", bad_header_field, with_excluded(field64(kStrangersByDomain, kBig))},
      {"body-first-bit", bad_body_checksum, flip(kBody)},
      {"body-last-bit", bad_body_checksum, flip(kTable - 1)},
      {"body-all-ones", bad_body_checksum,
       [](Image& image) { std::fill_n(image.begin() + kBody, 4096, std::byte{0xff}); }},
      {"counting-taken-for-page", bad_header_field, field32(16, 1), Layout::counting},
      {"counting-with-half-a-page", bad_header_field, shape(Layout::counting, 2048, 2), Layout::counting},
      {"counting-one-block-more", bad_header_field, field64(32, 2), Layout::counting},
      {"counting-bits-past-64-bits", size_overflow, field64(32, std::uint64_t{1} << 47), Layout::counting},
      {"counting-product-wraps-to-0", size_overflow, field64(32, std::uint64_t{1} << 50), Layout::counting},
      {"counting-product-wraps-to-16384", size_overflow, field64(32, (std::uint64_t{1} << 50) + 1), Layout::counting},
      {"counting-made-from-a-store", bad_header_field, field32(48, 0x01000002), Layout::counting},
      {"counting-with-known-strangers", bad_header_field, field64(kStrangers, 1), Layout::counting},
      {"counting-bits-set-one-more-than-there-are", bad_header_field,
       both(field64(kBits + kItems, kBig), field64(64, 4096 * 8 + 1)), Layout::counting},
      {"counting-saturated-one-more-than-are-used", bad_header_field, field64(120, 13), Layout::counting},
      {"counting-saturated-largest", bad_header_field, field64(120, kBig), Layout::counting},
      {"counting-first-bit", bad_body_checksum, flip(kBody), Layout::counting},
      {"counting-last-bit", bad_body_checksum, flip(kBody + 4 * 4096 - 1), Layout::counting},
  };
}

// What becomes of a signed file, without a trusted key and where the key of the signer is trusted; nothing: it is
// sound.
struct SignedFile {
  std::string name;
  std::optional<ErrorCode> without;
  std::optional<ErrorCode> with;
  Damage damage;
};

Damage fill(std::size_t begin, std::size_t bytes, std::uint8_t value) {
  return [=](Image& image) {
    std::fill_n(image.begin() + static_cast<std::ptrdiff_t>(begin), bytes, std::byte{value});
    mend_header_checksum(image);
  };
}

Damage flip_in_header(std::size_t offset) {
  return both(flip(offset), mend_header_checksum);
}

// With right checksums, but for the header's.
void mend_tables(Image& image) {
  store_little_endian(image.data() + kTable, checksum(std::span(image).subspan(kBody, 4096)));
  field64(kBits + kTableChecksum, checksum(std::span(image).subspan(kTable, 8)))(image);
  store_little_endian(image.data() + kHashTable, checksum(std::span(image).subspan(kHashes, kHashCount * 8)));
  field64(kDomains + kTableChecksum, checksum(std::span(image).subspan(kHashTable, 8)))(image);
}

Digest content_of_image(const Image& image) {
  return content_of({digest_of(std::span(image).subspan(kHeaderBytes))});
}

Damage signed_as(const SecretKey& key, const Damage& damage) {
  return [=](Image& image) {
    damage(image);
    sign_header(std::span(image).first<kHeaderBytes>(), content_of_image(image), key);
  };
}

std::vector<SignedFile> signed_files() {
  using enum ErrorCode;
  constexpr std::size_t kSigner = 3936;
  constexpr std::size_t kContent = 3968;
  constexpr std::size_t kSignature = 4000;
  const Damage nothing = [](Image&) {};
  const PublicKey trusted = test::signing_key().public_key();
  return {
      {"sound", {}, {}, nothing},
      {"not-signed", {}, bad_signature, fill(kSigner, 128, 0)},
      {"by-another-key", {}, bad_signature, signed_as(test::other_signing_key(), nothing)},
      {"by-another-key-in-the-name-of-the-trusted-one",
       {},
       bad_signature,
       both(signed_as(test::other_signing_key(), nothing),
            [=](Image& image) {
              std::ranges::copy(std::as_bytes(std::span(trusted.bytes)), image.begin() + kSigner);
              mend_header_checksum(image);
            })},
      {"signer-first-bit", {}, bad_signature, flip_in_header(kSigner)},
      {"signature-first-bit", {}, bad_signature, flip_in_header(kSignature)},
      {"signature-last-bit", {}, bad_signature, flip_in_header(kSignature + 63)},
      {"half-a-signature", {}, bad_signature, fill(kSignature + 32, 32, 0)},
      {"content-first-bit", {}, bad_signature, flip_in_header(kContent)},
      {"content-of-another-file",
       {},
       bad_signature,
       [](Image& image) { sign_header(std::span(image).first<kHeaderBytes>(), digest_of({}), test::signing_key()); }},
      {"header-changed", {}, bad_signature, field64(56, 3)},
      {"body-changed", {}, bad_signature, both(flip(kBody), mend_tables)},
      {"domains-changed", {}, bad_signature, both(flip(kHashes), mend_tables)},
      {"body-damaged", bad_body_checksum, bad_body_checksum, flip(kBody)},
      {"table-damaged", bad_table_checksum, bad_table_checksum, flip(kTable)},
      {"signer-without-signature", bad_header_field, bad_header_field, fill(kSignature, 64, 0)},
      {"signature-without-signer", bad_header_field, bad_header_field, fill(kSigner, 32, 0)},
      {"signature-without-content", bad_header_field, bad_header_field, fill(kContent, 32, 0)},
      {"content-alone", bad_header_field, bad_header_field, both(fill(kSigner, 32, 0), fill(kSignature, 64, 0))},
      {"reserved-behind-the-signature-not-zero", bad_header_field, bad_header_field, flip_in_header(kSignature + 64)},
  };
}

std::string code_name(const std::optional<ErrorCode>& code) {
  return code ? std::string(error_code_name(*code)) : "sound";
}

void write(const fs::path& path, const Image& image) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_bad_files FOLDER\n";
    return 64;
  }
  const fs::path folder = argv[1];
  const Image sound = sound_file(folder, Layout::page);
  const Image sound_counting = sound_file(folder, Layout::counting);
  std::ofstream expected(folder / "expected.tsv");
  for (const BadFile& bad : bad_files()) {
    Image image = bad.layout == Layout::counting ? sound_counting : sound;
    bad.damage(image);
    write(folder / (bad.name + ".bloom"), image);
    expected << bad.name << ".bloom\t" << error_code_name(bad.want) << '\n';
  }
  fs::create_directory(folder / "signed");
  std::ofstream expected_signed(folder / "signed" / "expected.tsv");
  for (const SignedFile& each : signed_files()) {
    Image image = sound;
    signed_as(test::signing_key(), [](Image&) {})(image);
    each.damage(image);
    write(folder / "signed" / (each.name + ".bloom"), image);
    expected_signed << each.name << ".bloom\t" << code_name(each.without) << '\t' << code_name(each.with) << '\n';
  }
  return expected.flush() && expected_signed.flush() ? 0 : 1;
}
