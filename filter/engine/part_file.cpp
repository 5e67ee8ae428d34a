#include "filter/engine/part_file.hpp"

#include <algorithm>
#include <array>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/new_file.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

constexpr Magic kPartMagic = {0x89, 'B', 'L', 'P', '\r', '\n', 0x1a, '\n'};

// What a part has beside the fields of a filter, where these have zeros.
constexpr Field kFirstBlockField = {"first_block", 4056};
constexpr Field kRangeBlocksField = {"range_blocks", 4064};
constexpr Field kRangeChecksumField = {"range_checksum", 4072};
constexpr std::size_t kRangeEnd = 4080;

void put_magic(HeaderBytes header, const Magic& magic) noexcept {
  std::ranges::copy(std::as_bytes(std::span(magic)), header.begin());
}

Section section_of(const PartHeader& header) noexcept {
  return {.kind = SectionKind::bits,
          .offset = kHeaderBytes,
          .bytes = header.range.count * header.filter.shape.block_bytes,
          .items = header.filter.addresses,
          .table_checksum = header.table_checksum};
}

void check_magic_and_checksum(ConstHeaderBytes bytes, const std::string& path) {
  expect_magic(bytes, kPartMagic, path,
               "is not a part of a filter (its first 8 bytes are not the magic number); name the files of a build by "
               "parts");
  if (get<std::uint64_t>(bytes, kHeaderChecksumField) != checksum(bytes.first<kHeaderChecksumField.offset>())) {
    throw BloomgateError(ErrorCode::bad_header_checksum, path + ": the header is damaged; copy or build the part again",
                         {.path = path, .offset = kHeaderChecksumField.offset});
  }
}

}  // namespace

void encode_part_header(const PartHeader& header, HeaderBytes out) {
  encode_header(header.filter, sections_of(header.filter), out);
  put_magic(out, kPartMagic);
  put(out, kFirstBlockField, header.range.first);
  put(out, kRangeBlocksField, header.range.count);
  put(out, kRangeChecksumField, header.table_checksum);
  put_checksum(out);
}

PartHeader decode_part_header(ConstHeaderBytes bytes, const std::string& path) {
  check_magic_and_checksum(bytes, path);
  // What is left is the header of a filter.
  std::array<std::byte, kHeaderBytes> filter;
  std::ranges::copy(bytes, filter.begin());
  put_magic(filter, kFilterMagic);
  std::fill(filter.begin() + kFirstBlockField.offset, filter.begin() + kRangeEnd, std::byte{0});
  put_checksum(filter);
  const DecodedHeader decoded = decode_header(filter, path);
  PartHeader header = {.filter = decoded.header,
                       .range = {.first = get<std::uint64_t>(bytes, kFirstBlockField),
                                 .count = get<std::uint64_t>(bytes, kRangeBlocksField)},
                       .table_checksum = get<std::uint64_t>(bytes, kRangeChecksumField)};
  const FilterHeader& of_filter = header.filter;
  const bool has_more = of_filter.domains != 0 || of_filter.kinds.any_pairs() || of_filter.strangers.known != 0 ||
                        of_filter.store_identity != 0 || of_filter.shape.store_seed || decoded.signature;
  if (has_more || !is_made_of_parts(of_filter.shape.layout)) {
    throw BloomgateError(ErrorCode::bad_header_field,
                         path + ": no part of a filter of that kind can be; build the part again", {.path = path});
  }
  const std::uint64_t blocks = of_filter.shape.block_count;
  if (!header.range.is_within(blocks)) {
    throw BloomgateError(ErrorCode::bad_header_field,
                         path + ": its range of " + std::to_string(header.range.count) + " blocks from number " +
                             std::to_string(header.range.first) + " on is not within the " + std::to_string(blocks) +
                             " of its filter; build the part again",
                         {.path = path, .offset = kFirstBlockField.offset});
  }
  return header;
}

void write_part(const std::string& path, const PartHeader& header, std::span<const std::byte> bytes, unsigned threads) {
  const Section section = section_of(header);
  NewFile file(path, {section});
  for_each_parallel(threads, section.chunk_count(), [&](std::size_t chunk) {
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    file.write(SectionKind::bits, begin, bytes.subspan(begin, std::min(kChecksumChunkBytes, bytes.size() - begin)));
  });
  file.complete(
      {section},
      [&](const Sections& written, HeaderBytes out) {
        PartHeader complete = header;
        complete.table_checksum = written.front().table_checksum;
        encode_part_header(complete, out);
      },
      threads);
  file.publish();
}

PartFile::PartFile(const std::string& path) : path_(path) {
  struct stat status = {};
  file_ = open_regular_file(path, "a part of a filter", status);
  stamp_ = FileStamp(status);
  const auto refuse_size = [&](ErrorCode code, std::uint64_t expected) {
    throw BloomgateError(
        code,
        path + " has " + std::to_string(stamp_.size_bytes()) + " bytes instead of " + std::to_string(expected) +
            "; copy or build the part again",
        {path, std::min(stamp_.size_bytes(), expected), std::to_string(expected), std::to_string(stamp_.size_bytes())});
  };
  if (stamp_.size_bytes() < kHeaderBytes) refuse_size(ErrorCode::too_short, kHeaderBytes);
  std::array<std::byte, kHeaderBytes> header;
  read_at_offset(0, header);
  header_ = decode_part_header(header, path);
  section_ = section_of(header_);
  if (stamp_.size_bytes() != section_.end()) refuse_size(ErrorCode::wrong_size, section_.end());
  table_.resize(section_.table_bytes());
  read_at_offset(section_.table_offset(), table_);
  if (checksum(table_) != section_.table_checksum) {
    throw BloomgateError(ErrorCode::bad_table_checksum,
                         path + ": the checksum table at offset " + std::to_string(section_.table_offset()) +
                             " is damaged; copy or build the part again",
                         {.path = path, .offset = section_.table_offset()});
  }
}

void PartFile::verify(unsigned threads) const {
  for_each_parallel(threads, section_.chunk_count(), [&](std::size_t chunk) {
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    std::vector<std::byte> bytes(std::min(kChecksumChunkBytes, section_.bytes - begin));
    read(begin, bytes);
    const std::byte* const noted = table_.data() + chunk * sizeof(std::uint64_t);
    if (checksum(bytes) == load_little_endian<std::uint64_t>(noted)) return;
    throw BloomgateError(ErrorCode::bad_body_checksum,
                         path_ + ": the bits are damaged in the MiB at offset " + std::to_string(kHeaderBytes + begin) +
                             "; copy or build the part again",
                         {.path = path_, .offset = kHeaderBytes + begin});
  });
}

void PartFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  read_at_offset(kHeaderBytes + offset, out);
}

void PartFile::read_at_offset(std::uint64_t offset, std::span<std::byte> out) const {
  if (const int error = read_at(file_.get(), out, offset); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read", path_, error);
  }
}

void PartFile::require_whole() const {
  const std::optional<FileStamp> now = FileStamp::of(file_.get());
  if (now && *now == stamp_) return;
  throw BloomgateError(ErrorCode::changed_while_open, path_ + " was written to while it was read; build the part again",
                       {.path = path_});
}

}  // namespace bloomgate
