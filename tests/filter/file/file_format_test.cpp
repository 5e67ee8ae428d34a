#include "filter/file/file_format.hpp"

#include <array>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"

namespace bloomgate::test {
namespace {

FilterHeader sample_header() {
  FilterHeader header;
  header.shape = {.hashes = 11,
                  .block_count = 300,
                  .seed = 0x0123456789abcdef,
                  .profile = {.keep_local_part_case = true, .tag_separators = *TagSeparators::parse("+-")}};
  header.expected_entries = 100'000;
  header.addresses = 99'999;
  header.domains = 200'000;
  header.bits_set = 900'000;
  return header;
}

Sections sections_with_checksums(const FilterHeader& header) {
  Sections sections = sections_of(header);
  for (Section& section : sections) section.table_checksum = 0xfedcba9876543210 + section.offset;
  return sections;
}

struct Encoded {
  FilterHeader header = sample_header();
  std::array<std::byte, kHeaderBytes> bytes;
};

TEST_CASE_METHOD(Encoded, "a header is read as it was written") {
  SECTION("with every flag") {}
  SECTION("without flags") {
    header.shape.profile.keep_local_part_case = false;
  }
  SECTION("without domain entries") {
    header.domains = 0;
  }
  SECTION("without addresses") {
    header.addresses = header.bits_set = 0;
  }
  SECTION("with as many ones as its addresses can set") {
    header.bits_set = header.addresses * header.shape.hashes;
  }
  SECTION("made from a store") {
    header.shape.store_seed = 0xfedcba9876543210;
  }
  SECTION("made from a store with the seed 0") {
    header.shape.store_seed = 0;
  }
  SECTION("without tag separators") {
    header.shape.profile.tag_separators = {};
  }
  SECTION("with every tag separator") {
    header.shape.profile.tag_separators = TagSeparators::from_bits(TagSeparators::kAllBits);
  }
  const Sections sections = sections_with_checksums(header);
  encode_header(header, sections, bytes);
  const DecodedHeader decoded = decode_header(bytes, "test");
  CHECK(decoded.header == header);
  CHECK(decoded.sections == sections);
}

TEST_CASE_METHOD(Encoded,
                 "a header with the seed of a store is refused without its flag, and in a layout without hashes") {
  header.shape.store_seed = 1;
  encode_header(header, sections_with_checksums(header), bytes);
  const auto refuses = [&] {
    store_little_endian(bytes.data() + kHeaderBytes - 8, checksum(std::span(bytes).first<kHeaderBytes - 8>()));
    return error_code_of([&] { decode_header(bytes, "test"); }) == ErrorCode::bad_header_field;
  };
  SECTION("without its flag") {
    bytes[48] = std::byte{1};
    CHECK(refuses());
  }
  SECTION("in the layout classic") {
    bytes[16] = std::byte{3};
    store_little_endian(bytes.data() + 28, std::uint32_t{8});
    CHECK(refuses());
  }
}

TEST_CASE_METHOD(Encoded, "every single damaged byte of a header is noticed") {
  encode_header(sample_header(), sections_with_checksums(sample_header()), bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{0x10};
    const ErrorCode want = i < 8    ? ErrorCode::bad_magic
                           : i < 12 ? ErrorCode::unsupported_version
                                    : ErrorCode::bad_header_checksum;
    if (error_code_of([&] { decode_header(bytes, "test"); }) != want) FAIL("byte " << i);
    bytes[i] ^= std::byte{0x10};
  }
}

TEST_CASE_METHOD(Encoded, "a file with keys of another form is refused, and the error says what to do") {
  encode_header(header, sections_with_checksums(header), bytes);
  CHECK(bytes[51] == std::byte{1});
  bytes[51] = std::byte{0};
  store_little_endian(bytes.data() + kHeaderBytes - 8, checksum(std::span(bytes).first<kHeaderBytes - 8>()));
  const BloomgateError error = error_of([&] { decode_header(bytes, "/some/filter"); });
  CHECK(error.code() == ErrorCode::unsupported_version);
  CHECK(error.details().offset == 51);
  CHECK(std::string(error.what()) ==
        "/some/filter: another version of bloomgate has built it, with keys of form 0 instead of 1 (field key_form); "
        "build it again from its lists");
}

TEST_CASE_METHOD(Encoded, "an error names the file, the place, and what was expected and found") {
  header.shape.hashes = 33;
  encode_header(header, sections_of(header), bytes);
  const BloomgateError error = error_of([&] { decode_header(bytes, "/some/filter"); });
  CHECK(error.code() == ErrorCode::bad_header_field);
  CHECK(error.details().path == "/some/filter");
  CHECK(error.details().offset == 24);
  CHECK(error.details().expected == "1 to 32");
  CHECK(error.details().got == "33");
  CHECK(std::string(error.what()).find("/some/filter: header field hashes at offset 24 is 33") == 0);
}

TEST_CASE_METHOD(Encoded, "an error about a section names the section and the place of the field") {
  Sections sections = sections_of(sample_header());
  sections[1].offset += 4096;
  encode_header(sample_header(), sections, bytes);
  const BloomgateError error = error_of([&] { decode_header(bytes, "/some/filter"); });
  CHECK(error.code() == ErrorCode::bad_header_field);
  CHECK(error.details().offset == 128 + 64 + 8);
  CHECK(std::string(error.what()).find("/some/filter: header field offset of section 2 at offset 200 is ") == 0);
}

TEST_CASE_METHOD(Encoded, "a section of a kind that no filter has is refused with the kinds that there are") {
  Sections sections = sections_of(sample_header());
  sections[1].kind = SectionKind::pages;
  encode_header(sample_header(), sections, bytes);
  const BloomgateError error = error_of([&] { decode_header(bytes, "test"); });
  CHECK(error.code() == ErrorCode::unsupported_section);
  CHECK(error.details().expected == "1 (bits), 2 (domains), 3 (excluded) or 7 (sender-domains)");
  CHECK(error.details().got == "4");
}

TEST_CASE_METHOD(
    Encoded, "a file whose first section is not a bit array is refused, also where that section has the size of one") {
  const std::uint64_t body_bytes = header.shape.block_count * header.shape.block_bytes;
  Sections sections = {{.kind = SectionKind::domains, .bytes = body_bytes, .items = body_bytes / 8}};
  place_sections(sections, kHeaderBytes);
  encode_header(header, sections, bytes);
  CHECK(error_code_of([&] { decode_header(bytes, "test"); }) == ErrorCode::bad_header_field);
}

// Of the error about a header with these sections.
BloomgateError::Details refusal_of(Sections sections, bool is_placed = true) {
  std::array<std::byte, kHeaderBytes> bytes;
  if (is_placed) place_sections(sections, kHeaderBytes);
  encode_header(sample_header(), sections, bytes);
  try {
    decode_header(bytes, "test");
  } catch (const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::bad_header_field);
    return error.details();
  }
  FAIL("accepted");
  return {};
}

TEST_CASE("a section table that is empty, out of order, or with a list of no hashes or of too many, is refused") {
  const Sections good = sections_of(sample_header());
  CHECK(refusal_of({}, false).expected == "1 to 16");
  CHECK(refusal_of({good[1], good[0]}).offset == 128 + 64);
  CHECK(refusal_of({good[1], good[0]}).expected == "more than that of the section before it");
  Sections sections = good;
  sections[1].items = sections[1].bytes = 0;
  CHECK(refusal_of(sections).offset == 128 + 64 + 24);
  sections[1].items = std::uint64_t{1} << 60;
  sections[1].bytes = std::uint64_t{1} << 63;
  CHECK(refusal_of(sections, false).offset == 128 + 64 + 24);
}

TEST_CASE("a shape that cannot be is refused by the field, which names what it may be") {
  struct Row {
    FilterShape shape;
    std::uint64_t offset;
    std::string_view expected;
    std::string_view got;
    ErrorCode code = ErrorCode::bad_header_field;
  };
  const Row row = GENERATE(values<Row>({
      {{.layout = static_cast<Layout>(7)},
       16,
       "one of 1 (page), 2 (line), 3 (classic), 4 (partitioned), 5 (ribbon), 6 (counting)",
       "7",
       ErrorCode::unsupported_layout},
      {{.hash_family = static_cast<HashFamily>(4)},
       20,
       "one of 1 (xxh3), 2 (murmur3), 3 (fnv1a-murmur3)",
       "4",
       ErrorCode::unsupported_hash},
      {{.hashes = 0}, 24, "1 to 32", "0"},
      {{.layout = Layout::ribbon, .hashes = 6}, 24, "1", "6"},
      {{.block_bytes = 6144}, 28, "a power of two from 4096 to 1048576", "6144"},
      {{.layout = Layout::partitioned, .hashes = 3, .block_bytes = 8}, 28, "24", "8"},
      {{.layout = Layout::classic, .block_bytes = 8, .store_seed = 1},
       48,
       "without bit 1 in the layout classic",
       "with it"},
      {{.block_count = 0}, 32, "at least 1", "0"},
      {{.block_count = std::uint64_t{1} << 52},
       32,
       "a number of blocks that fits in a file",
       "4503599627370496",
       ErrorCode::size_overflow},
  }));
  CAPTURE(row.expected);
  const BloomgateError error = error_of([&] { validate_shape(row.shape, "test"); });
  CHECK(error.code() == row.code);
  CHECK(error.details().offset == row.offset);
  CHECK(error.details().expected == row.expected);
  CHECK(error.details().got == row.got);
}

TEST_CASE(
    "the number of entries is the sum of addresses and domain entries, or the largest number if the sum does not fit") {
  CHECK(entries_of(sample_header()) == 299'999);
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  FilterHeader header = sample_header();
  for (const auto& [addresses, domains] : {std::pair{kMost - 1, std::uint64_t{1}}, {kMost, 1}, {2, kMost}}) {
    header.addresses = addresses;
    header.domains = domains;
    CHECK(entries_of(header) == kMost);
  }
  FilterHeader without_domains = sample_header();
  without_domains.domains = 0;
  CHECK(distinct_entries_of(sample_header()) == Approx(distinct_entries_of(without_domains) + 200'000));
}

TEST_CASE_METHOD(Encoded, "more ones than the addresses can set are refused") {
  header.shape.hashes = 2;
  header.addresses = 10;
  header.bits_set = 21;
  encode_header(header, sections_of(header), bytes);
  CHECK(error_code_of([&] { decode_header(bytes, "test"); }) == ErrorCode::bad_header_field);
  // The product is past 64 bits: what the array has room for is the limit.
  header.addresses = ~std::uint64_t{0};
  header.bits_set = 300 * 4096 * 8;
  encode_header(header, sections_of(header), bytes);
  CHECK_NOTHROW(decode_header(bytes, "test"));
}

TEST_CASE("the parts of a file follow each other, each section on a page of its own") {
  struct Row {
    std::uint64_t block_count;
    std::uint64_t domains;
    std::vector<std::uint64_t> offsets;
    std::uint64_t bytes;
  };
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kMiB = 1 << 20;
  const std::vector<Row> rows = {
      {1, 0, {kPage}, 2 * kPage + 8},
      {1, 1, {kPage, 3 * kPage}, 3 * kPage + 8 + 8},
      {256, 0, {kPage}, kPage + kMiB + 8},
      {256, 131'072, {kPage, kMiB + 2 * kPage}, 2 * kPage + 2 * kMiB + 8},
      {257, 131'073, {kPage, kMiB + 3 * kPage}, 3 * kPage + 2 * kMiB + 8 + 2 * 8},
      // A table that ends where a page ends leaves no gap.
      {512 * 256, 1, {kPage, 2 * kPage + 512 * kMiB}, 2 * kPage + 512 * kMiB + 8 + 8},
      {1 << 20, 0, {kPage}, kPage + (4ULL << 30) + 32768},
      {std::uint64_t{1} << 40, 0, {kPage}, kPage + (1ULL << 52) + (1ULL << 35)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.block_count, row.domains);
    const FilterHeader header = {.shape = {.block_count = row.block_count}, .domains = row.domains};
    std::vector<std::uint64_t> offsets;
    for (const Section& section : sections_of(header)) offsets.push_back(section.offset);
    CHECK(offsets == row.offsets);
    CHECK(file_bytes(header) == row.bytes);
  }
}

TEST_CASE("a size that does not fit in 63 bits is refused, not wrapped") {
  const auto block_count = GENERATE(values<std::uint64_t>(
      {std::uint64_t{1} << 51, std::uint64_t{1} << 52, (std::uint64_t{1} << 52) + 1, ~std::uint64_t{0}}));
  CHECK(error_code_of([&] { file_bytes({.shape = {.block_count = block_count}}); }) == ErrorCode::size_overflow);
  const auto domains = GENERATE(values<std::uint64_t>(
      {std::uint64_t{1} << 60, std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1, ~std::uint64_t{0}}));
  CHECK(error_code_of([&] { file_bytes({.shape = {.block_count = 1}, .domains = domains}); }) ==
        ErrorCode::size_overflow);
}

}  // namespace
}  // namespace bloomgate::test
