#include "filter/file/sections.hpp"

#include <limits>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kLargestFile = std::numeric_limits<std::int64_t>::max();

TEST_CASE("sections larger than any file are refused, and no sum of offsets wraps") {
  struct Row {
    const char* name;
    std::uint64_t begin;
    std::vector<std::uint64_t> bytes;
  };
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  const Row row = GENERATE(values<Row>({
      {"more than a file by itself", 4096, {kHalf}},
      {"the table is past the end", 4096, {kLargestFile - 4096}},
      {"the sum of offset and size is 2^64", 4096, {std::uint64_t{0} - 4096}},
      {"the sum of offset and size is more than 2^64", 4096, {~std::uint64_t{0}}},
      {"the next page is past the end", kLargestFile - 100, {1}},
      {"the next page is past the end, and with the size the sum is 2^64", kLargestFile - 100, {kHalf}},
      {"the second section has no place behind the first", 4096, {std::uint64_t{1} << 62, std::uint64_t{1} << 62}},
      {"the second section makes the sum wrap", 4096, {4096, std::uint64_t{0} - 8192}},
  }));
  INFO(row.name);
  Sections sections;
  for (const std::uint64_t bytes : row.bytes) sections.push_back({.bytes = bytes});
  CHECK(test::error_code_of([&] { place_sections(sections, row.begin); }) == ErrorCode::size_overflow);
}

TEST_CASE("each section starts at the first multiple of a page after the section before it") {
  Sections sections = {{.bytes = 1},
                       {.bytes = 4096 - 8},
                       {.bytes = 4096 - 7},
                       {.bytes = 0},
                       {.bytes = 1 << 20},
                       {.bytes = (1 << 20) + 1},
                       {.bytes = std::uint64_t{1} << 62}};
  place_sections(sections, 4097);
  const std::uint64_t mib = 1 << 20;
  const std::vector<std::uint64_t> want = {
      8192, 12288, 16384, 24576, 24576, 24576 + mib + 4096, 24576 + 2 * mib + 8192};
  std::uint64_t end = 4097;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    CAPTURE(i);
    CHECK(sections[i].offset == want[i]);
    CHECK(sections[i].offset >= end);
    CHECK(sections[i].offset - end < kSectionAlignment);
    end = sections[i].end();
  }
}

TEST_CASE("a section is found by its kind, and each kind has its name") {
  const Sections both = {{.kind = SectionKind::bits}, {.kind = SectionKind::domains}};
  CHECK(find_section(both, SectionKind::bits) == &both[0]);
  CHECK(find_section(both, SectionKind::domains) == &both[1]);
  CHECK(find_section({both[0]}, SectionKind::domains) == nullptr);
  const std::string_view names[] = {"bits",    "domains",        "excluded",       "pages",  "index",
                                    "domains", "sender-domains", "sender-domains", "unknown"};
  for (std::size_t i = 0; i < std::size(names); ++i) CHECK(section_name(static_cast<SectionKind>(i + 1)) == names[i]);
}

}  // namespace
}  // namespace bloomgate
