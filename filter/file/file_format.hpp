// The header of a filter file: its fields in memory, its bytes on disk, and the checks between the two. FORMAT.md is
// the normative description. Used by the writer and by MappedFilter; pure functions over bytes, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "filter/layout/filter_shape.hpp"

namespace bloomgate {

inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint64_t kChecksumChunkBytes = std::uint64_t{1} << 20;

struct FilterHeader {
  FilterShape shape;
  std::uint64_t expected_entries = 0;  // what the bit array was sized for
  std::uint64_t entries = 0;           // inserted, duplicates counted each time
  std::uint64_t bits_set = 0;          // ones in the bit array
  std::uint64_t table_checksum = 0;    // XXH3 of the checksum table

  friend bool operator==(const FilterHeader&, const FilterHeader&) = default;
};

// Where the parts of a file are, in bytes. The parts follow one another.
struct FileExtent {
  std::uint64_t body_bytes = 0;   // at offset kHeaderBytes
  std::uint64_t chunk_count = 0;  // of kChecksumChunkBytes each, the last one shorter
  std::uint64_t table_bytes = 0;  // 8 for each chunk, at offset kHeaderBytes + body_bytes
  std::uint64_t file_bytes = 0;
};

// The extent of a file of that shape. Throws BloomgateError{size_overflow} for a body of 2^61 bytes or more: the
// numbers of its bits would not fit in 64 bits.
FileExtent file_extent(const FilterShape& shape);

// Throws BloomgateError (bad_header_field, unsupported_layout, unsupported_hash, size_overflow) unless every field is
// in its range. `path` is for the message.
void validate_shape(const FilterShape& shape, const std::string& path);

// The header as it is in a file, checksum included.
void encode_header(const FilterHeader& header, std::span<std::byte, kHeaderBytes> out) noexcept;

// Reads and checks a header: magic, version, checksum, then every field. Throws BloomgateError with the offending
// field's offset. `path` is for the message.
FilterHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path);

// XXH3-64 with seed 0: the checksum of the header, of the table and of each chunk.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace bloomgate
