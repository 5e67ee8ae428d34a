// The file with a part of a filter, for `bloomgate join`: FORMAT.md, "Parts of a filter". A page with the header of the
// whole filter, with the entries of this part alone, and the range; then the bits of the range, and their checksums.
//
// Written by FilterPart. Part files are read, not mapped: they are on other people's file systems as a rule, and are
// read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/engine/filter_part.hpp"
#include "filter/file/file_format.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {

struct PartHeader {
  FilterHeader filter;  // as if it had the entries of this part alone
  BlockRange range;
  std::uint64_t table_checksum = 0;

  friend bool operator==(const PartHeader&, const PartHeader&) = default;
};

void encode_part_header(const PartHeader& header, std::span<std::byte, kHeaderBytes> out);

// Reads and checks a header: that of a filter that can be made of parts (require_parts), then the range. Pure. Throws
// BloomgateError; `path` is for the message.
PartHeader decode_part_header(std::span<const std::byte, kHeaderBytes> bytes, const std::string& path);

// Writes a part file as NewFile does, and throws as it does.
void write_part(const std::string& path, const PartHeader& header, std::span<const std::byte> bytes, unsigned threads);

class PartFile {
 public:
  // Opens it, and checks all but the bits. Throws BloomgateError.
  explicit PartFile(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  const PartHeader& header() const noexcept { return header_; }
  // Where its bits are in the array of the filter.
  std::uint64_t begin_bytes() const noexcept { return header_.range.first * header_.filter.shape.block_bytes; }
  std::uint64_t end_bytes() const noexcept { return header_.range.end() * header_.filter.shape.block_bytes; }

  // Checks all bits against their checksums, with `threads` threads. Throws BloomgateError{bad_body_checksum,
  // cannot_read}.
  void verify(unsigned threads) const;

  // The bits at `offset` of the range. Safe from any thread. Throws BloomgateError{cannot_read}.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  // Throws BloomgateError{changed_while_open} if somebody has written to it since it was opened.
  void require_whole() const;

 private:
  void read_at_offset(std::uint64_t offset, std::span<std::byte> out) const;

  std::string path_;
  FileStamp stamp_;
  FileDescriptor file_;
  PartHeader header_;
  Section section_;
  std::vector<std::byte> table_;
};

}  // namespace bloomgate
