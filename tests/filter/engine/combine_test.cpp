#include "filter/engine/combine.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/system/bus_fault.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

using Lines = std::vector<std::string>;

Lines joined(const std::vector<Lines>& lists) {
  Lines all;
  for (const Lines& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Addresses with tags and capitals, `@domain` and `@.domain`, each from `first` on.
Lines mixed_entries(unsigned first, unsigned count) {
  Lines lines;
  for (unsigned i = first; i < first + count; ++i) {
    const std::string number = std::to_string(i);
    lines.push_back("User" + number + "+tag@example.org");
    if (i % 3 == 0) lines.push_back("@" + number + ".example");
    if (i % 5 == 0) lines.push_back("@." + number + ".example");
  }
  return lines;
}

// A filter of each list, open, and their combination.
class Combined {
 public:
  explicit Combined(const std::vector<Lines>& lists, const BuildOptions& options) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::string path = folder_.file("list" + std::to_string(i));
      build_filter(path, lists[i], options);
      filters_.push_back(std::make_unique<MappedFilter>(path));
      views_.push_back(filters_.back().get());
    }
  }

  FilterHeader combine(Combination combination, unsigned threads = 2,
                       const std::atomic<bool>& stop = kNeverStop) const {
    return combine_filters(views_, combination, output(), threads, stop);
  }

  std::string file(std::string_view name) const { return folder_.file(name); }
  std::string output() const { return folder_.file("out"); }
  const MappedFilter& filter(std::size_t index) const { return *filters_[index]; }
  std::span<const MappedFilter* const> views() const { return views_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<MappedFilter>> filters_;
  std::vector<const MappedFilter*> views_;
};

// Everything that makes a filter's bytes another, but its entries.
const std::vector<BuildOptions>& shapes() {
  static const std::vector<BuildOptions> shapes = [] {
    std::vector<BuildOptions> all;
    for (const Layout layout : {Layout::page, Layout::line, Layout::classic, Layout::partitioned}) {
      for (const HashFamily family : kHashFamilies) {
        all.push_back({.layout = layout, .hash_family = family, .hashes = 5, .expected_entries = 3000, .seed = 7});
      }
    }
    all.push_back({.layout = Layout::line, .block_bytes = 256, .expected_entries = 3000, .seed = 7});
    all.push_back({.bits_per_entry = 64, .hashes = 32, .expected_entries = 3000, .seed = 7});
    all.push_back({.hashes = 1, .expected_entries = 3000, .seed = 7, .profile = {.keep_local_part_case = true}});
    all.push_back({.expected_entries = 3000, .seed = 7, .profile = {.tag_separators = *TagSeparators::parse("+-")}});
    // Several MiB of bits, the last of them not whole.
    if (!kIsSanitized) all.push_back({.layout = Layout::classic, .expected_entries = 2'500'000, .seed = 7});
    return all;
  }();
  return shapes;
}

std::set<KeyHash> hashes_of(const SortedHashes& hashes) {
  std::set<KeyHash> all;
  for (std::uint64_t i = 0; i < hashes.size(); ++i) all.insert(hashes[i]);
  return all;
}

TEST_CASE("a union equals the file of a build from all the lists") {
  const BuildOptions& options = GENERATE(from_range(shapes()));
  CAPTURE(options.layout, options.hash_family, options.hashes, options.profile.tag_separators.text());
  const std::vector<Lines> lists = {mixed_entries(0, 900), mixed_entries(600, 900), {}, mixed_entries(2000, 1)};
  const Combined combined(lists, options);
  const FilterHeader header = combined.combine(Combination::unite);
  const FilterHeader want = build_filter(combined.file("want"), joined(lists), options);
  CHECK(header == want);
  CHECK(read_file(combined.output()) == read_file(combined.file("want")));
}

TEST_CASE("an intersection has the common bits and the common domain entries") {
  const BuildOptions& options = GENERATE(from_range(shapes()));
  CAPTURE(options.layout, options.hash_family, options.hashes, options.profile.tag_separators.text());
  const Combined combined({mixed_entries(0, 900), mixed_entries(600, 900), mixed_entries(300, 500)}, options);
  const FilterHeader header = combined.combine(Combination::intersect);

  std::vector<std::byte> bits(combined.filter(0).view().body().begin(), combined.filter(0).view().body().end());
  std::set<KeyHash> domains = hashes_of(combined.filter(0).view().domains());
  for (const MappedFilter* filter : combined.views().subspan(1)) {
    const std::span<const std::byte> body = filter->view().body();
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] &= body[i];
    std::erase_if(domains, [&](KeyHash hash) { return !filter->view().domains().contains(hash); });
  }
  CHECK(header.shape == combined.filter(0).header().shape);
  CHECK(header.expected_entries == *options.expected_entries);
  CHECK(header.bits_set == FilterView(header.shape, bits).count_ones());
  CHECK(header.addresses >= (header.bits_set + options.hashes - 1) / options.hashes);
  CHECK(static_cast<double>(header.addresses) ==
        Approx(distinct_entries(header.bits_set, header.shape)).margin(options.hashes == 1 ? 1 : 0.5));

  // The common ones are 600 to 799.
  const Lines common = mixed_entries(600, 200);
  const auto lists_address = [](const std::string& line) { return line.front() != '@'; };
  CHECK(domains.size() == static_cast<std::size_t>(std::ranges::count_if(common, std::not_fn(lists_address))));
  FilterWriter writer(combined.file("want"), header);
  for (std::uint64_t done = 0; done < bits.size(); done += kChecksumChunkBytes) {
    writer.write(SectionKind::bits, done,
                 std::span(bits).subspan(done, std::min<std::size_t>(kChecksumChunkBytes, bits.size() - done)));
  }
  SectionStream stream(writer.file(), SectionKind::domains);
  for (const KeyHash hash : domains) stream.add({{hash}});
  CHECK(stream.finish() == header.domains);
  writer.commit(header);
  CHECK(read_file(combined.output()) == read_file(combined.file("want")));

  const MappedFilter result(combined.output());
  CHECK_NOTHROW(result.verify_body());
  for (const std::string& line : common) {
    if (!result.view().find(canonicalize_line(line, options.profile)).is_listed()) FAIL(line);
  }
}

TEST_CASE("more domain entries than one MiB holds are united and intersected exactly") {
  Lines a = {"joe@example.org"};
  Lines b = {"ann@example.org"};
  for (unsigned i = 0; i < 150'000; ++i) a.push_back("@" + std::to_string(i) + ".example");
  for (unsigned i = 10'000; i < 165'000; ++i) b.push_back("@" + std::to_string(i) + ".example");
  const BuildOptions options = {.expected_entries = 2, .seed = 1};
  const Combined combined({a, b}, options);
  CHECK(combined.combine(Combination::unite).domains == 165'000);
  build_filter(combined.file("want"), joined({a, b}), options);
  CHECK(read_file(combined.output()) == read_file(combined.file("want")));
  CHECK(combined.combine(Combination::intersect).domains == 140'000);
  const MappedFilter common(combined.output());
  CHECK_NOTHROW(common.verify_body());
  for (unsigned i = 0; i < 165'000; ++i) {
    const bool want = i >= 10'000 && i < 150'000;
    if (common.view().contains_domain("@" + std::to_string(i) + ".example") != want) FAIL(i);
  }
  const Overlap overlap = estimate_overlap(combined.filter(0), combined.filter(1), 2);
  CHECK(overlap.domains_of_a == 150'000);
  CHECK(overlap.domains_of_b == 155'000);
  CHECK(overlap.domains_of_both == 140'000);
}

TEST_CASE("the number of threads changes nothing in a combination") {
  const BuildOptions options = {.bits_per_entry = 16, .expected_entries = 2'500'000, .seed = 1};
  const Combined combined({numbered_addresses(0, 5000), numbered_addresses(2500, 5000)}, options);
  const Combination combination = GENERATE(Combination::unite, Combination::intersect);
  combined.combine(combination, 1);
  const std::string want = read_file(combined.output());
  combined.combine(combination, 5);
  CHECK(read_file(combined.output()) == want);
}

// A filter of that header, without a domain entry, whose bits are all as `fill` says.
void write_filter(const std::string& path, FilterHeader header, std::byte fill) {
  const std::vector<std::byte> bits(body_bytes(header.shape), fill);
  header.bits_set = FilterView(header.shape, bits).count_ones();
  FilterWriter writer(path, header);
  writer.write(SectionKind::bits, 0, bits);
  writer.commit(header);
}

TEST_CASE_METHOD(InFolder, "a sum of addresses that does not fit in 64 bits stays at the greatest number") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  FilterHeader header = {.shape = {.block_count = 1}, .expected_entries = 1};
  const auto [a, b, want] = GENERATE_COPY(table<std::uint64_t, std::uint64_t, std::uint64_t>(
      {{kMost, 1, kMost}, {1, kMost, kMost}, {kMost, kMost, kMost}, {kMost - 5, 5, kMost}, {kMost - 5, 4, kMost - 1}}));
  header.addresses = a;
  write_filter(folder.file("a"), header, std::byte{0});
  header.addresses = b;
  write_filter(folder.file("b"), header, std::byte{0});
  const MappedFilter of_a(folder.file("a"));
  const MappedFilter of_b(folder.file("b"));
  const std::array<const MappedFilter*, 2> filters = {&of_a, &of_b};
  CHECK(combine_filters(filters, Combination::unite, folder.file("out"), 1, kNeverStop).addresses == want);
  CHECK(MappedFilter(folder.file("out")).header().addresses == want);
}

TEST_CASE_METHOD(
    InFolder,
    "the intersection of full filters has as many addresses as they have, and that of empty filters has none") {
  FilterHeader header = {.shape = {.block_count = 2}, .expected_entries = 1, .addresses = 100'000};
  const auto fill = GENERATE(std::byte{0xff}, std::byte{0});
  write_filter(folder.file("a"), header, fill);
  header.expected_entries = 5;
  header.addresses = 200'000;
  write_filter(folder.file("b"), header, fill);
  const MappedFilter a(folder.file("a"));
  const MappedFilter b(folder.file("b"));
  const std::array<const MappedFilter*, 2> filters = {&a, &b};
  const FilterHeader common = combine_filters(filters, Combination::intersect, folder.file("out"), 1, kNeverStop);
  CHECK(common.addresses == (fill == std::byte{0} ? 0 : 300'000));
  CHECK(common.expected_entries == 5);
  CHECK_NOTHROW(MappedFilter(folder.file("out")).verify_body());
}

TEST_CASE("an intersection never has more ones than its addresses can set") {
  // A few common ones of entries that differ: from the fill alone, the estimate would round them away.
  std::uint64_t common = 0;
  for (std::uint64_t first = 0; first < 30'000; first += 1000) {
    const Combined combined({numbered_addresses(first, 50), numbered_addresses(first + 500, 50)},
                            {.expected_entries = 600, .seed = 1});
    const FilterHeader header = combined.combine(Combination::intersect);
    common += header.bits_set;
    CHECK(header.bits_set <= header.shape.hashes * header.addresses);
    CHECK_NOTHROW(MappedFilter(combined.output()).verify_body());
  }
  CHECK(common > 0);
}

TEST_CASE("filters that differ in anything but their entries are refused with the difference") {
  struct Row {
    std::string what;
    BuildOptions options;
  };
  const BuildOptions same = {.layout = Layout::line, .expected_entries = 3000, .seed = 7, .store_seed = 3};
  const auto other = [&](auto change) {
    BuildOptions options = same;
    change(options);
    return options;
  };
  const std::vector<Row> rows = {
      {"layout (2 and 1)", other([](BuildOptions& o) { o.layout = Layout::page; })},
      {"hash family (1 and 2)", other([](BuildOptions& o) { o.hash_family = HashFamily::murmur3; })},
      {"number of hashes (6 and 5)", other([](BuildOptions& o) { o.hashes = 5; })},
      {"size of a block (64 and 128)", other([](BuildOptions& o) { o.block_bytes = 128; })},
      {"number of blocks (47 and 48)", other([](BuildOptions& o) { o.expected_entries = 3060; })},
      {"seed (7 and 8)", other([](BuildOptions& o) { o.seed = 8; })},
      {"whether they are made from a store (1 and 0)", other([](BuildOptions& o) { o.store_seed.reset(); })},
      {"seed of the store (3 and 4)", other([](BuildOptions& o) { o.store_seed = 4; })},
      {"whether the case of local parts is kept (0 and 1)",
       other([](BuildOptions& o) { o.profile.keep_local_part_case = true; })},
      {"tag separators (none and '+-')",
       other([](BuildOptions& o) { o.profile.tag_separators = *TagSeparators::parse("-+"); })},
  };
  const TemporaryFolder folder;
  build_filter(folder.file("a"), mixed_entries(0, 10), same);
  build_filter(folder.file("b"), mixed_entries(0, 10), same);
  const MappedFilter a(folder.file("a"));
  const MappedFilter b(folder.file("b"));
  for (const Row& row : rows) {
    CAPTURE(row.what);
    build_filter(folder.file("other"), mixed_entries(0, 10), row.options);
    const MappedFilter different(folder.file("other"));
    const std::array<const MappedFilter*, 3> filters = {&a, &b, &different};
    const auto unite = [&] { combine_filters(filters, Combination::unite, folder.file("out"), 1, kNeverStop); };
    CHECK_THROWS_WITH(unite(),
                      Contains("they differ in " + row.what) && Contains(a.path()) && Contains(different.path()));
    const BloomgateError error = error_of(unite);
    CHECK(error.code() == ErrorCode::bad_argument);
    CHECK(error.details().path == different.path());
    CHECK(row.what.ends_with("(" + error.details().expected + " and " + error.details().got + ")"));
    CHECK(error_code_of([&] { combine_filters(filters, Combination::intersect, folder.file("out"), 1, kNeverStop); }) ==
          ErrorCode::bad_argument);
    CHECK(error_code_of([&] { estimate_overlap(b, different, 1); }) == ErrorCode::bad_argument);
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("out")));
  CHECK_NOTHROW(require_same_shape(a, b));
}

TEST_CASE("filters whose bits or exclusions cannot be combined are refused") {
  struct Row {
    BuildOptions options;
    bool has_strangers;
    ErrorCode combined;
    std::optional<ErrorCode> compared;  // nothing: these can be compared
  };
  const Row row = GENERATE(
      values<Row>({{{.layout = Layout::ribbon, .hashes = 1}, false, ErrorCode::bad_argument, ErrorCode::bad_argument},
                   {{.layout = Layout::counting}, false, ErrorCode::unsupported_layout, ErrorCode::unsupported_layout},
                   {{.expected_entries = 10}, true, ErrorCode::bad_argument, {}}}));
  const TemporaryFolder folder;
  build_filter(folder.file("a"), {"joe@example.org"}, row.options);
  if (row.has_strangers) {
    build_with_strangers(folder.file("b"), {"ann@example.org"}, {"eve@example.org"}, row.options);
  } else {
    build_filter(folder.file("b"), {"ann@example.org"}, row.options);
  }
  const MappedFilter a(folder.file("a"));
  const MappedFilter b(folder.file("b"));
  const std::array<const MappedFilter*, 2> filters = {&a, &b};
  CHECK(error_code_of([&] { combine_filters(filters, Combination::unite, folder.file("out"), 1, kNeverStop); }) ==
        row.combined);
  if (row.compared) {
    CHECK(error_code_of([&] { estimate_overlap(a, b, 1); }) == *row.compared);
  } else {
    CHECK_NOTHROW(estimate_overlap(a, b, 1));
  }
}

TEST_CASE_METHOD(InFolder, "a combination of filters with stores has none, and it is signed if there is a key") {
  const SecretKey key = signing_key();
  for (const char* const name : {"a", "b"}) {
    build_filter(
        folder.file(name), {"joe@example.org"},
        {.expected_entries = 10, .seed = 1, .store_path = folder.file(std::string(name) + ".store"), .store_seed = 3});
  }
  const MappedFilter a(folder.file("a"));
  const MappedFilter b(folder.file("b"));
  const std::array<const MappedFilter*, 2> filters = {&a, &b};
  CHECK(a.header().store_identity != 0);
  CHECK(combine_filters(filters, Combination::unite, folder.file("out"), 1, kNeverStop, &key).store_identity == 0);
  CHECK(MappedFilter(folder.file("out")).signature().has_value());
}

TEST_CASE("filters that are cut off or written to meanwhile are not combined, and the old result stays",
          "[bus fault]") {
  install_bus_fault_handler();
  struct Row {
    std::string name;
    std::size_t which;
    std::function<void(const std::string&)> change;
  };
  const auto cut_to = [](std::uint64_t share) {
    return [share](const std::string& path) {
      std::filesystem::resize_file(path, std::filesystem::file_size(path) * share / 100);
    };
  };
  const auto rewrite = [](const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('x');
    REQUIRE(file.flush());
  };
  const Row row = GENERATE_COPY(values<Row>(
      {{"the first, to nothing", 0, cut_to(0)},
       {"the first, in its bits", 0, cut_to(50)},
       {"the second, at its header", 1, [](const std::string& p) { std::filesystem::resize_file(p, 4096); }},
       {"the last, in its domain entries", 2, cut_to(99)},
       {"the last, written to", 2, rewrite}}));
  CAPTURE(row.name);
  const Combined combined({mixed_entries(0, 3000), mixed_entries(2000, 3000), mixed_entries(2500, 3000)},
                          {.expected_entries = 2'000'000, .seed = 1});
  for (const MappedFilter* filter : combined.views()) filter->verify_body();
  write_file(combined.output(), "old");
  make_old(combined.filter(row.which).path());
  row.change(combined.filter(row.which).path());
  for (const Combination combination : {Combination::unite, Combination::intersect}) {
    CHECK(error_code_of([&] { combined.combine(combination); }) == ErrorCode::changed_while_open);
  }
  const std::size_t other = row.which == 0 ? 1 : 0;
  CHECK(error_code_of([&] { estimate_overlap(combined.filter(other), combined.filter(row.which), 2); }) ==
        ErrorCode::changed_while_open);
  CHECK(read_file(combined.output()) == "old");
  CHECK(std::ranges::distance(std::filesystem::directory_iterator(combined.folder())) == 4);
}

TEST_CASE("a combination that is stopped leaves nothing behind") {
  const Lines lines = GENERATE(numbered_addresses(0, 10), mixed_entries(0, 10));
  const Combined combined({lines, lines}, {.expected_entries = 100, .seed = 1});
  const std::atomic<bool> stop{true};
  const Combination combination = GENERATE(Combination::unite, Combination::intersect);
  CHECK(error_code_of([&] { combined.combine(combination, 1, stop); }) == ErrorCode::interrupted);
  CHECK(std::ranges::distance(std::filesystem::directory_iterator(combined.folder())) == 2);
}

TEST_CASE("an overlap is never negative, and says what each filter has") {
  const BuildOptions options = {.expected_entries = GENERATE(values<std::uint64_t>({100'000, 2'500'000})), .seed = 1};
  if (kIsSanitized && options.expected_entries > 100'000) return;
  const auto check = [&](std::uint64_t first_of_b, double want_both) {
    const Combined combined({numbered_addresses(0, 40'000), numbered_addresses(first_of_b, 20'000)}, options);
    const Overlap overlap = estimate_overlap(combined.filter(0), combined.filter(1), 3);
    CHECK(overlap.a == Approx(40'000).margin(400));
    CHECK(overlap.b == Approx(20'000).margin(300));
    CHECK(overlap.either == Approx(60'000 - want_both).margin(600));
    CHECK(overlap.both == Approx(want_both).margin(600));
    CHECK(overlap.both >= 0);
    CHECK(overlap.both == std::max(0.0, overlap.a + overlap.b - overlap.either));
    CHECK(overlap.domains_of_a + overlap.domains_of_b + overlap.domains_of_both == 0);
  };
  for (std::uint64_t first = 40'000; first < 80'000; first += 10'000) check(first, 0);
  check(30'000, 10'000);
  check(0, 20'000);
}

}  // namespace
}  // namespace bloomgate::test
