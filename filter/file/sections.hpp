// The sections of a filter file or a store, and their offsets in it: FORMAT.md, "Sections". Used by the writer and by
// MappedFilter; pure, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bloomgate {

// Files contain these values.
enum class SectionKind : std::uint32_t {
  bits = 1,            // the bit array, which holds the addresses
  domains = 2,         // the domain entries: their hashes, in ascending order
  excluded = 3,        // excluded senders whose bits are all set: their first hash values, in ascending order
  sender_domains = 7,  // the domains of all addresses, coded (filter/domains/domain_coding.hpp)
  // Of a store:
  pages = 4,                  // the hashes of the addresses, in coded pages
  index = 5,                  // the first hash of each page
  stored_domains = 6,         // the same as domains, of a store
  stored_sender_domains = 8,  // the hashes of the domains of all addresses, in ascending order
};

// "bits", "domains", "excluded", "pages", "index", "sender-domains"; "unknown" for anything else.
std::string_view section_name(SectionKind kind) noexcept;

inline constexpr std::uint64_t kSectionAlignment = 4096;
inline constexpr std::uint64_t kChecksumChunkBytes = std::uint64_t{1} << 20;

// The bytes of a section, followed by its table: a checksum for each chunk of kChecksumChunkBytes; the last chunk may
// be shorter.
struct Section {
  SectionKind kind = SectionKind::bits;
  std::uint64_t offset = 0;  // of its first byte, from the start of the file
  std::uint64_t bytes = 0;
  std::uint64_t items = 0;           // addresses inserted, each duplicate counted; hashes
  std::uint64_t table_checksum = 0;  // XXH3 of the table

  std::uint64_t chunk_count() const noexcept {
    return bytes / kChecksumChunkBytes + (bytes % kChecksumChunkBytes != 0 ? 1 : 0);
  }
  std::uint64_t table_bytes() const noexcept { return chunk_count() * sizeof(std::uint64_t); }
  std::uint64_t table_offset() const noexcept { return offset + bytes; }
  std::uint64_t end() const noexcept { return table_offset() + table_bytes(); }

  friend bool operator==(const Section&, const Section&) = default;
};

// In the order of the file, each once; bits is the first.
using Sections = std::vector<Section>;

// Gives each section its offset, one after the other from `begin` on. Throws BloomgateError{size_overflow} if a file
// cannot be that large.
void place_sections(Sections& sections, std::uint64_t begin);

// The section of that kind; null if there is none.
const Section* find_section(const Sections& sections, SectionKind kind) noexcept;

}  // namespace bloomgate
