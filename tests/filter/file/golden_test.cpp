// The format, frozen: filter files from tests/golden are built again byte for byte, and a larger one is pinned by its
// checksum and its first false positives.
#include <filesystem>
#include <sstream>

#include "filter/file/mapped_filter.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(source_folder()) / "tests/golden";

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

struct Golden {
  std::string name;
  std::string list;
  BuildOptions options;
};

// tests/golden/README.md.
const std::vector<Golden> kGoldenFiles = {
    {"addresses", "addresses", {.seed = 42}},
    {"domains", "domains", {.bits_per_entry = 16, .hashes = 11, .seed = 0x0123456789abcdef}},
    {"keep-case", "keep-case", {.expected_entries = 5000, .seed = 1, .profile = {.keep_local_part_case = true}}},
    {"tag-separators", "tag-separators", {.seed = 1, .profile = {.tag_separators = *TagSeparators::parse("+-")}}},
    {"pairs", "pairs", {.seed = 42}},
    {"lists", "lists", {.seed = 42}},
    {"page-8192", "addresses", {.block_bytes = 8192, .seed = 42}},
    {"line", "addresses", {.layout = Layout::line, .seed = 42}},
    {"line-256", "addresses", {.layout = Layout::line, .block_bytes = 256, .hashes = 3, .seed = 42}},
    {"classic", "addresses", {.layout = Layout::classic, .seed = 42}},
    {"partitioned", "addresses", {.layout = Layout::partitioned, .seed = 42}},
    {"ribbon", "addresses", {.layout = Layout::ribbon, .hashes = 1, .seed = 42}},
    {"counting", "addresses", {.layout = Layout::counting, .seed = 42}},
    {"murmur3", "addresses", {.hash_family = HashFamily::murmur3, .seed = 42}},
    {"fnv1a-murmur3", "addresses", {.hash_family = HashFamily::fnv1a_murmur3, .seed = 42}},
    {"classic-murmur3",
     "addresses",
     {.layout = Layout::classic, .hash_family = HashFamily::murmur3, .bits_per_entry = 64, .hashes = 32, .seed = 42}},
    {"partitioned-fnv1a-murmur3",
     "addresses",
     {.layout = Layout::partitioned, .hash_family = HashFamily::fnv1a_murmur3, .hashes = 5, .seed = 42}},
    {"sender-domains", "addresses", {.seed = 42, .sender_domains = true}},
    {"neighbours", "lists", {.seed = 42, .sender_domains = true}},
};

TEST_CASE("the golden files are built again byte for byte") {
  const Golden golden = GENERATE(from_range(kGoldenFiles));
  CAPTURE(golden.name);
  const TemporaryFolder folder;
  build_filter(folder.file("filter"), lines_of(kGolden / (golden.list + ".txt")), golden.options);
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / (golden.name + ".bloom")));
}

TEST_CASE_METHOD(InFolder, "the golden filter with a store is built again byte for byte, and so is its store") {
  build_filter(folder.file("filter"), lines_of(kGolden / "domains.txt"),
               {.seed = 7, .store_path = folder.file("store"), .store_seed = 42});
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / "stored.bloom"));
  CHECK(read_file(folder.file("store")) == read_file(kGolden / "stored.store"));
}

TEST_CASE_METHOD(InFolder, "the golden filter with sender domains and a store is built again byte for byte") {
  build_filter(folder.file("filter"), lines_of(kGolden / "pairs.txt"),
               {.seed = 7, .store_path = folder.file("store"), .store_seed = 42, .sender_domains = true});
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / "stored-sender-domains.bloom"));
  CHECK(read_file(folder.file("store")) == read_file(kGolden / "sender-domains.store"));
}

TEST_CASE_METHOD(InFolder, "a filter of 3,000 entries with a domain each has the frozen checksum") {
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) lines.push_back("user@d" + std::to_string(i) + ".example");
  build_filter(folder.file("filter"), lines, {.seed = 7, .sender_domains = true});
  const std::string bytes = read_file(folder.file("filter"));
  // The same number stands in tests/golden/format_test.py, which comes to it by itself.
  CHECK(checksum(std::as_bytes(std::span(bytes))) == 0x26df714f26af23ab);
}

TEST_CASE_METHOD(InFolder,
                 "the golden filter with excluded senders is built again byte for byte, and none of them is found") {
  const BuildOptions options = {.layout = Layout::line, .hashes = 1, .seed = 42};
  const auto entries = lines_of(kGolden / "excluded.txt");
  build_with_strangers(folder.file("filter"), entries, lines_of(kGolden / "not.txt"), options);
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / "excluded.bloom"));

  const MappedFilter filter((kGolden / "excluded.bloom").string());
  filter.verify_body();
  CHECK(filter.sections().size() == 3);
  CHECK(filter.view().excluded().size() == 3);
  CHECK(filter.header().strangers == KnownStrangerCounts{.known = 102, .entries = 2, .by_domain = 10});
  for (const std::string& line : entries) {
    const Entry entry = canonicalize_line(line);
    CAPTURE(line);
    if (entry.kind() != EntryKind::blank) CHECK(filter.view().find(entry).is_listed());
  }
  for (int i = 0; i < 100; ++i) {
    const std::string user = "user" + std::to_string(i);
    CAPTURE(user);
    if (i % 10 == 0) {
      CHECK(filter.view().find(canonicalize_line(user + "@mail.example")).match == Match::domain);
    } else {
      CHECK_FALSE(filter.view().may_contain(user + "@example.org"));
      CHECK(filter.view().is_excluded(user + "@example.org") == (i == 13 || i == 62 || i == 84));
    }
  }
}

TEST_CASE("in every layout but counting a filter of 5,000 entries and 1,010 excluded senders has the frozen checksum") {
  // The same numbers stand in tests/golden/format_test.py, which comes to them by itself.
  const std::vector<std::uint64_t> want = {0x194cb5a22fb036ef, 0x677087316b1378fb, 0x07af5e270063249e,
                                           0x0b3cd5d500442996, 0x8227558edec14a3e};
  std::vector<std::uint64_t> got;
  const TemporaryFolder folder;
  for (const Layout layout : kLayouts) {
    if (!layout_rules(layout).why_no_strangers().empty()) continue;
    build_with_strangers(folder.file("filter"), numbered_addresses(0, 5000), numbered_addresses(4990, 1010),
                         {.layout = layout, .hashes = std::min(3U, layout_rules(layout).most_hashes()), .seed = 7});
    const std::string bytes = read_file(folder.file("filter"));
    got.push_back(checksum(std::as_bytes(std::span(bytes))));
  }
  CHECK(got == want);
}

TEST_CASE_METHOD(InFolder, "a store of 5,000 entries has the frozen checksum") {
  build_filter(folder.file("filter"), numbered_addresses(0, 5000), {.seed = 7, .store_path = folder.file("store")});
  const std::string bytes = read_file(folder.file("store"));
  // The same number stands in tests/golden/format_test.py.
  CHECK(checksum(std::as_bytes(std::span(bytes))) == 0x5dd697feba8a26c9);
}

TEST_CASE("the golden files are read and every entry is found") {
  const Golden golden = GENERATE(from_range(kGoldenFiles));
  CAPTURE(golden.name);
  const MappedFilter filter((kGolden / (golden.name + ".bloom")).string());
  filter.verify_body();
  for (const std::string& line : lines_of(kGolden / (golden.list + ".txt"))) {
    const Entry entry = canonicalize_list_line(line, filter.header().shape.profile);
    CAPTURE(line);
    if (entry.kind() == EntryKind::pair) {
      CHECK(filter.view().may_contain(entry.key()));
    } else if (entry.kind() == EntryKind::domain_pair) {
      CHECK(filter.view().contains_domain(entry.key()));
    } else if (entry.kind() != EntryKind::blank) {
      CHECK(filter.view().find(entry).is_listed());
    }
  }
}

TEST_CASE_METHOD(InFolder,
                 "the golden filter with pairs and a store is built again byte for byte, and so is its store") {
  build_filter(folder.file("filter"), lines_of(kGolden / "pairs.txt"),
               {.seed = 7, .store_path = folder.file("store"), .store_seed = 42});
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / "stored-pairs.bloom"));
  CHECK(read_file(folder.file("store")) == read_file(kGolden / "pairs.store"));
}

TEST_CASE_METHOD(
    InFolder,
    "the golden filter with mailing lists, signers and a store is built again byte for byte, and so is its store") {
  build_filter(folder.file("filter"), lines_of(kGolden / "lists.txt"),
               {.seed = 7, .store_path = folder.file("store"), .store_seed = 42});
  CHECK(read_file(folder.file("filter")) == read_file(kGolden / "stored-lists.bloom"));
  CHECK(read_file(folder.file("store")) == read_file(kGolden / "lists.store"));
}

TEST_CASE("the keys of mailing lists, signers and their pairs have the frozen hashes") {
  const MappedFilter filter((kGolden / "lists.bloom").string());
  CHECK(filter.header().kinds == KindsHeld{.domain_pairs = true, .signers = true});
  CHECK(filter.header().addresses == 2);
  CHECK(filter.header().domains == 10);
  struct Row {
    std::string line;
    KeyHash want;
  };
  const Row row = GENERATE(values<Row>({
      {"list:announce.lists.example.org", 0xd07d4c10a40fd911},
      {"list:*.lists.example.org", 0x6ef92e2c9b8dcf96},
      {"list:announce.lists.example.org > ann@ours.example", 0x442949b9124f2116},
      {"billing@bank.example signed-by esp.example", 0x4717277e7429fb55},
      {"@.shop.example signed-by mg.m\u00fcller.example", 0x43b5d067d56ccf3d},
      {"list:*.lists.example.net signed-by esp.example", 0x043f47ae70e77f45},
  }));
  CAPTURE(row.line);
  const Entry entry = canonicalize_list_line(row.line);
  CHECK(hash_of_domain(filter.header().shape, entry.key()) == row.want);
  CHECK(filter.view().contains_domain(entry.key()));
}

TEST_CASE("in every layout and hash family a filter of 5,000 entries has the frozen checksum") {
  // The same numbers stand in tests/golden/format_test.py, which comes to them by itself.
  const std::vector<std::uint64_t> want = {
      0x89c6ce7f8b33ac63, 0xc43b9a6fc4523afc, 0xe4b4553cd857e5b0, 0xf9d88df1adb68084, 0x2ac5cde1ddb91726,
      0x94b3e6d86fbd7e17, 0xf4d6611d6174dd3c, 0x00bae5edb1192e51, 0x0210db470506edfe, 0xe6931b6b79f50997,
      0x80d507a01a6eace3, 0xf97ece8d441aea7f, 0x3b35f95bba05c3ce, 0x7a25a7da253a04fd, 0xddc7b02123538783,
      0x0a163d756fba42b3, 0x2e9dd5fd47a7b411, 0x074dc5eff58d432b,
  };
  std::vector<std::uint64_t> got;
  const TemporaryFolder folder;
  const auto addresses = numbered_addresses(0, 5000);
  for (const Layout layout : kLayouts) {
    for (const HashFamily family : kHashFamilies) {
      build_filter(folder.file("filter"), addresses,
                   {.layout = layout,
                    .hash_family = family,
                    .hashes = std::min(6U, layout_rules(layout).most_hashes()),
                    .seed = 7});
      const std::string bytes = read_file(folder.file("filter"));
      got.push_back(checksum(std::as_bytes(std::span(bytes))));
    }
  }
  CHECK(got == want);
}

TEST_CASE_METHOD(InFolder, "a filter of 50,000 entries has the frozen checksum and the frozen false positives") {
  build_filter(folder.file("filter"), numbered_addresses(0, 50'000), {.seed = 7});
  const std::string bytes = read_file(folder.file("filter"));
  CHECK(checksum(std::as_bytes(std::span(bytes))) == 0x73a946e610e8d3eb);

  const MappedFilter filter(folder.file("filter"));
  std::vector<std::uint64_t> false_positives;
  for (std::uint64_t i = 50'000; false_positives.size() < 8; ++i) {
    if (filter.view().may_contain("user" + std::to_string(i) + "@example.org")) false_positives.push_back(i);
  }
  CHECK(false_positives == std::vector<std::uint64_t>{50029, 50039, 50042, 50071, 50079, 50164, 50174, 50199});
}

}  // namespace
}  // namespace bloomgate::test
