// The format, frozen: filter files from tests/golden are built again byte for byte, and a larger one is pinned by its
// checksum and its first false positives.
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "filter/mapped_filter.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using test::build_filter;
using test::numbered_addresses;
using test::read_file;
using test::TemporaryFolder;

const std::filesystem::path kGolden = std::filesystem::path(BLOOMGATE_TESTS_FOLDER) / "golden";

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("the golden files are built again byte for byte") {
  struct Row {
    std::string name;
    BuildOptions options;
  };
  const Row row = GENERATE(values<Row>({
      {"addresses", {.seed = 42}},
      {"domains", {.bits_per_entry = 16, .hashes = 11, .seed = 0x0123456789abcdef}},
      {"keep-case", {.expected_entries = 5000, .seed = 1, .profile = {.keep_local_part_case = true}}},
  }));
  CAPTURE(row.name);
  const TemporaryFolder folder;
  build_filter(folder.file("filter"), lines_of(kGolden / (row.name + ".txt")), row.options);
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / (row.name + ".bloom")));
}

TEST_CASE("the golden files are read and every entry is found") {
  const std::string name = GENERATE("addresses", "domains", "keep-case");
  CAPTURE(name);
  const MappedFilter filter((kGolden / (name + ".bloom")).string());
  filter.verify_body();
  for (const std::string& line : lines_of(kGolden / (name + ".txt"))) {
    const Entry entry = canonicalize_line(line, filter.header().shape.profile);
    CAPTURE(line);
    if (entry.kind() != EntryKind::blank) CHECK(filter.view().may_contain(entry.key()));
  }
}

TEST_CASE("a filter of 50,000 entries has the frozen checksum and the frozen false positives") {
  const TemporaryFolder folder;
  build_filter(folder.file("filter"), numbered_addresses(0, 50'000), {.seed = 7});
  const std::string bytes = read_file(folder.file("filter"));
  CHECK(checksum(std::as_bytes(std::span(bytes))) == 0x88ffaf7d39fa6810);

  const MappedFilter filter(folder.file("filter"));
  std::vector<std::uint64_t> false_positives;
  for (std::uint64_t i = 50'000; false_positives.size() < 8; ++i) {
    if (filter.view().may_contain("user" + std::to_string(i) + "@example.org")) false_positives.push_back(i);
  }
  CHECK(false_positives == std::vector<std::uint64_t>{50029, 50039, 50042, 50071, 50079, 50164, 50174, 50199});
}

}  // namespace
}  // namespace bloomgate
