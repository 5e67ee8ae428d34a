#include "filter/file/file_format.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "filter/base/error.hpp"
#include "tests/support/filter_files.hpp"

namespace bloomgate {
namespace {

using test::error_code_of;

FilterHeader sample_header() {
  FilterHeader header;
  header.shape = {.hashes = 11,
                  .block_count = 300,
                  .seed = 0x0123456789abcdef,
                  .profile = {.keep_local_part_case = true, .tag_separators = *TagSeparators::parse("+-")},
                  .has_domains = true,
                  .has_domain_trees = true};
  header.expected_entries = 100'000;
  header.entries = 99'999;
  header.bits_set = 5'000'000;
  header.table_checksum = 0xfedcba9876543210;
  return header;
}

TEST_CASE("a header survives the way to the file and back") {
  std::array<std::byte, kHeaderBytes> bytes;
  FilterHeader header = sample_header();
  SECTION("with every flag") {}
  SECTION("without flags") {
    header.shape.profile.keep_local_part_case = header.shape.has_domains = header.shape.has_domain_trees = false;
  }
  SECTION("with one flag") {
    header.shape.has_domains = header.shape.profile.keep_local_part_case = false;
  }
  SECTION("without tag separators") {
    header.shape.profile.tag_separators = {};
  }
  SECTION("with every tag separator") {
    header.shape.profile.tag_separators = TagSeparators::from_bits(TagSeparators::kAllBits);
  }
  encode_header(header, bytes);
  CHECK(decode_header(bytes, "test") == header);
}

TEST_CASE("every single damaged byte of a header is noticed") {
  std::array<std::byte, kHeaderBytes> bytes;
  encode_header(sample_header(), bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{0x10};
    const ErrorCode want = i < 8    ? ErrorCode::bad_magic
                           : i < 12 ? ErrorCode::unsupported_version
                                    : ErrorCode::bad_header_checksum;
    if (error_code_of([&] { decode_header(bytes, "test"); }) != want) FAIL("byte " << i);
    bytes[i] ^= std::byte{0x10};
  }
}

TEST_CASE("an error names the file, the place, and what was expected and found") {
  std::array<std::byte, kHeaderBytes> bytes;
  FilterHeader header = sample_header();
  header.shape.hashes = 33;
  encode_header(header, bytes);
  try {
    decode_header(bytes, "/some/filter");
    FAIL("accepted");
  } catch (const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::bad_header_field);
    CHECK(error.details().path == "/some/filter");
    CHECK(error.details().offset == 24);
    CHECK(error.details().expected == "1 to 32");
    CHECK(error.details().got == "33");
    CHECK(std::string(error.what()).find("/some/filter: header field hashes at offset 24 is 33") == 0);
  }
}

TEST_CASE("the parts of a file follow each other") {
  struct Row {
    std::uint64_t block_count;
    FileExtent want;
  };
  const Row row = GENERATE(values<Row>({
      {1, {4096, 1, 8, 4096 + 4096 + 8}},
      {256, {1 << 20, 1, 8, 4096 + (1 << 20) + 8}},
      {257, {(1 << 20) + 4096, 2, 16, 4096 + (1 << 20) + 4096 + 16}},
      {1 << 20, {4ULL << 30, 4096, 32768, 4096 + (4ULL << 30) + 32768}},
      {std::uint64_t{1} << 40, {1ULL << 52, 1ULL << 32, 1ULL << 35, 4096 + (1ULL << 52) + (1ULL << 35)}},
  }));
  const FileExtent extent = file_extent({.block_count = row.block_count});
  CHECK(extent.body_bytes == row.want.body_bytes);
  CHECK(extent.chunk_count == row.want.chunk_count);
  CHECK(extent.table_bytes == row.want.table_bytes);
  CHECK(extent.file_bytes == row.want.file_bytes);
}

TEST_CASE("a size that does not fit in 63 bits is refused, not wrapped") {
  const auto block_count = GENERATE(values<std::uint64_t>(
      {std::uint64_t{1} << 51, std::uint64_t{1} << 52, (std::uint64_t{1} << 52) + 1, ~std::uint64_t{0}}));
  CHECK(error_code_of([&] { file_extent({.block_count = block_count}); }) == ErrorCode::size_overflow);
}

}  // namespace
}  // namespace bloomgate
