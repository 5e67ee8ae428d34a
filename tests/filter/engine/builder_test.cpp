#include "filter/engine/builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "filter/base/error.hpp"
#include "filter/engine/body_writer.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/store/store_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/insert_keys.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(InFolder, "the same entries and seed give the same bytes in any order, another seed gives others") {
  auto addresses = numbered_addresses(0, 20'000);
  build_filter(folder.file("a"), addresses);
  std::ranges::shuffle(addresses, std::mt19937(1));
  build_filter(folder.file("b"), addresses);
  build_filter(folder.file("c"), addresses, {.seed = 43});
  CHECK(read_file(folder.file("a")) == read_file(folder.file("b")));
  CHECK(read_file(folder.file("a")) != read_file(folder.file("c")));
}

TEST_CASE("members are always found and others at the rate of the theory") {
  struct Row {
    double bits_per_entry;
    std::uint32_t hashes;
  };
  const Row row = GENERATE(values<Row>({{2, 1}, {4, 3}, {8, 6}, {12, 8}}));
  CAPTURE(row.bits_per_entry, row.hashes);
  constexpr std::uint64_t kMembers = kIsSanitized ? 20'000 : 200'000;
  constexpr std::uint64_t kProbes = kIsSanitized ? 40'000 : 1'000'000;
  const TemporaryFolder folder;
  const std::string path = folder.file("filter");
  const FilterHeader header = build_filter(path, numbered_addresses(0, kMembers),
                                           {.bits_per_entry = row.bits_per_entry, .hashes = row.hashes, .seed = 5});
  const MappedFilter filter(path);
  std::uint64_t missing = 0;
  for (std::uint64_t i = 0; i < kMembers; ++i) {
    missing += filter.view().may_contain("user" + std::to_string(i) + "@example.org") ? 0U : 1U;
  }
  CHECK(missing == 0);
  // Numbers past the members': distinct from them and from each other.
  std::uint64_t found = 0;
  for (std::uint64_t i = kMembers; i < kMembers + kProbes; ++i) {
    found += filter.view().may_contain("user" + std::to_string(i) + "@example.org") ? 1U : 0U;
  }
  const double want = blocked_fpr(kMembers, header.shape.block_count, header.shape.block_bytes, row.hashes);
  const double sigma = std::sqrt(want * (1 - want) / kProbes);
  CHECK(std::abs(static_cast<double>(found) / kProbes - want) < 5 * sigma);
  CHECK(fpr_from_fill(header.bits_set, header.shape) == Approx(want).epsilon(0.02));
}

TEST_CASE(
    "in every layout the builder sets the bits that the layout's own insertion sets, with any threads and memory") {
  struct Row {
    unsigned threads;
    std::uint64_t memory_bytes;
    std::uint64_t expected;  // 0: not known
    double bits_per_entry = 8;
    std::uint64_t body_memory_bytes = std::uint64_t{1} << 30;
  };
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  const auto most_hashes = layout_rules(layout).most_hashes();
  const auto hashes = std::min(GENERATE(1U, 3U, 32U), most_hashes);
  if (kIsSanitized && hashes != std::min(3U, most_hashes)) return;
  const auto entries = GENERATE(values<std::uint64_t>({5, kIsSanitized ? 5'000 : 30'000}));
  // The last two: an array that is made in several parts.
  const Row row = GENERATE(values<Row>({{1, 64 << 20, 0},
                                        {3, 64 << 20, 100'000},
                                        {1, 1 << 20, 100'000},
                                        {1, 1, 200'000, 64, 0},
                                        {2, 1, 200'000, 64, 1 << 20}}));
  if (kIsSanitized && row.threads == 1) return;
  CAPTURE(layout_rules(layout).name(), hashes, entries, row.threads, row.memory_bytes, row.expected);
  BuildOptions options = {.layout = layout, .bits_per_entry = row.bits_per_entry, .hashes = hashes, .seed = 9};
  options.threads = row.threads;
  options.body_memory_bytes = row.body_memory_bytes;
  options.memory_bytes = row.memory_bytes;
  if (row.expected != 0) options.expected_entries = row.expected;

  const TemporaryFolder folder;
  options.scratch_folder = folder.path();
  const auto addresses = numbered_addresses(0, entries);
  build_filter(folder.file("filter"), addresses, options);
  CHECK(std::ranges::distance(std::filesystem::directory_iterator(folder.path())) == 1);
  const MappedFilter filter(folder.file("filter"));
  std::vector<std::byte> want(filter.view().body().size());
  insert_keys(filter.header().shape, want, entries, [&](std::uint64_t i) { return addresses[i]; });
  // At once: byte by byte, it would take longer than the build.
  CHECK(filter.view().body().size() == want.size());
  CHECK(std::memcmp(filter.view().body().data(), want.data(), want.size()) == 0);
}

TEST_CASE("each shard has room for a piece of work, however little memory is allowed") {
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  const auto hashes = std::min(GENERATE(1U, 6U, 32U), layout_rules(layout).most_hashes());
  const auto threads = GENERATE(1U, 64U);
  const auto expected_entries = GENERATE(values<std::uint64_t>({1, 1'000'000'000}));
  CAPTURE(layout_rules(layout).name(), hashes, threads, expected_entries);
  BuildOptions options = {.layout = layout, .hashes = hashes, .expected_entries = expected_entries};
  options.threads = threads;
  options.memory_bytes = 1;
  CHECK(FilterBuilder(options).has_room_for(kEntriesAtOnce));
}

TEST_CASE_METHOD(InFolder, "duplicates count as entries but not as distinct ones") {
  auto addresses = numbered_addresses(0, 50'000);
  for (const std::string& again : numbered_addresses(0, 25'000)) addresses.push_back(again);
  const FilterHeader header = build_filter(folder.file("filter"), addresses);
  CHECK(header.addresses == 75'000);
  CHECK(distinct_entries(header.bits_set, header.shape) == Approx(50'000).epsilon(0.01));
}

TEST_CASE_METHOD(InFolder, "the size follows the expected entries if they are given, and else the counted ones") {
  CHECK(build_filter(folder.file("a"), numbered_addresses(0, 10'000)).shape.block_count == 3);
  const FilterHeader header =
      build_filter(folder.file("b"), numbered_addresses(0, 10'000), {.expected_entries = 1'000'000, .seed = 1});
  CHECK(header.shape.block_count == 245);
  CHECK(header.expected_entries == 1'000'000);
  CHECK(header.addresses == 10'000);
}

TEST_CASE_METHOD(WithPath, "domain entries are kept beside the bits, each once, and do not size them") {
  const FilterHeader header =
      build_filter(path, {"joe@example.org", "@example.org", "@.example.org", "@Example.ORG", "@.example.net"});
  CHECK(header.addresses == 1);
  CHECK(header.domains == 3);
  CHECK(header.expected_entries == 1);
  CHECK(header.bits_set <= header.shape.hashes);
  const MappedFilter filter(path);
  filter.verify_body();
  CHECK(filter.sections().size() == 2);
  for (const char* key : {"@example.org", "@.example.org", "@.example.net"}) {
    CAPTURE(key);
    CHECK(filter.view().contains_domain(key));
    CHECK_FALSE(filter.view().may_contain(key));
  }
  CHECK_FALSE(filter.view().contains_domain("@example.net"));
  CHECK(build_filter(path, {"joe@example.org"}).domains == 0);
  CHECK(MappedFilter(path).sections().size() == 1);
}

TEST_CASE("the section of domain entries has the same bytes, whatever the order, threads and memory, and repetitions") {
  // Several MiB of them, and more than a lane has room for in the least memory.
  constexpr unsigned kDomains = kIsSanitized ? 120'000 : 700'000;
  struct Row {
    unsigned threads;
    std::uint64_t memory_bytes;
    bool size_is_known;
    bool is_shuffled;
    bool spills;
  };
  const Row rows[] = {{1, 64 << 20, false, true, false},
                      {3, 64 << 20, true, false, false},
                      {1, 1, false, false, true},
                      {1, 1, true, true, true}};
  std::vector<std::string> lines = {"joe@example.org"};
  for (unsigned i = 0; i < kDomains; ++i) lines.push_back((i % 3 == 0 ? "@." : "@") + std::to_string(i) + ".example");
  const TemporaryFolder folder;
  BuildOptions options = {.expected_entries = 1, .seed = 3, .memory_bytes = std::uint64_t{1} << 30};
  options.scratch_folder = folder.path();
  CHECK(build_filter(folder.file("want"), lines, options).domains == kDomains);
  const std::string want = read_file(folder.file("want"));

  const std::vector<std::string> again(lines.begin() + 1, lines.begin() + 100'000);
  lines.insert(lines.end(), again.begin(), again.end());
  std::vector<std::string> shuffled = lines;
  std::ranges::shuffle(shuffled, std::mt19937(1));
  for (const Row& row : rows) {
    if (kIsSanitized && row.threads == 1) continue;
    CAPTURE(row.threads, row.memory_bytes, row.size_is_known);
    options.threads = row.threads;
    options.memory_bytes = row.memory_bytes;
    options.expected_entries.reset();
    if (row.size_is_known) options.expected_entries = 1;
    FilterBuilder builder(options);
    for (const std::string& line : row.is_shuffled ? shuffled : lines) builder.add(canonicalize_line(line));
    CHECK(builder.domains() == kDomains + 99'999);
    builder.write(folder.file("got"), kNeverStop);
    CHECK((builder.spilled_bytes() != 0) == row.spills);
    CHECK(builder.spilled_bytes() <= lines.size() * sizeof(KeyHash));
    CHECK(read_file(folder.file("got")) == want);
    CHECK_NOTHROW(MappedFilter(folder.file("got")).verify_body());
  }
}

TEST_CASE("more entries than fit into memory give the same file, also if they go to the disk") {
  constexpr std::uint64_t kEntries = 3 * kEntriesAtOnce;  // the disk is written to twice
  struct Row {
    const char* name;
    bool size_is_known;
    std::uint64_t body_memory_bytes;
    bool spills;
  };
  const Row rows[] = {{"their bits are set, again and again", true, std::uint64_t{1} << 30, false},
                      {"they are kept on disk", false, std::uint64_t{1} << 30, true},
                      {"they are kept on disk, for an array in parts", true, 0, true}};
  const Layout layout = GENERATE(Layout::page, Layout::partitioned);
  if (kIsSanitized && layout != Layout::page) return;
  CAPTURE(layout_rules(layout).name());
  const TemporaryFolder folder;
  auto lines = numbered_addresses(0, kEntries);
  for (unsigned i = 0; i < 1000; ++i) lines.push_back("@" + std::to_string(i) + ".example");
  BuildOptions options = {.layout = layout, .bits_per_entry = 40, .hashes = 2, .seed = 4};
  options.scratch_folder = folder.path();
  options.memory_bytes = std::uint64_t{1} << 30;
  build_filter(folder.file("want"), lines, options);
  const std::string want = read_file(folder.file("want"));

  options.memory_bytes = 1;
  for (const Row& row : rows) {
    if (kIsSanitized && row.body_memory_bytes != 0) continue;
    CAPTURE(row.name);
    options.body_memory_bytes = row.body_memory_bytes;
    options.expected_entries.reset();
    if (row.size_is_known) options.expected_entries = kEntries;
    FilterBuilder builder(options);
    for (const std::string& line : lines) builder.add(canonicalize_line(line));
    CHECK(builder.addresses() == kEntries);
    builder.write(folder.file("got"), kNeverStop);
    CHECK((builder.spilled_bytes() != 0) == row.spills);
    CHECK(read_file(folder.file("got")) == want);
  }
}

TEST_CASE("entries may come through all shards at once, and their number may be set after the builder is made") {
  const auto threads = GENERATE(2U, 4U);
  const TemporaryFolder folder;
  constexpr unsigned kEntries = kIsSanitized ? 10'000 : 100'000;
  auto lines = numbered_addresses(0, kEntries);
  for (unsigned i = 0; i < kEntries; ++i) lines.push_back("@" + std::to_string(i) + ".example");
  BuildOptions options = {.expected_entries = kEntries, .seed = 4};
  build_filter(folder.file("want"), lines, options);
  options.expected_entries.reset();
  options.threads = threads;
  FilterBuilder builder(options);
  builder.expect(kEntries);
  run_parallel(threads, [&](unsigned index) {
    for (std::size_t i = index; i < lines.size(); i += threads) builder.lane(index).add(canonicalize_line(lines[i]));
    builder.lane(index).settle();
  });
  CHECK(builder.addresses() == kEntries);
  CHECK(builder.domains() == kEntries);
  builder.write(folder.file("got"), kNeverStop);
  CHECK(read_file(folder.file("got")) == read_file(folder.file("want")));
}

// Which of the addresses from `first` on the filter takes for entries.
std::vector<bool> found_by(const std::string& path, std::uint64_t first, std::uint64_t count) {
  const MappedFilter filter(path);
  std::vector<bool> found;
  for (std::uint64_t i = first; i < first + count; ++i) {
    found.push_back(filter.view().may_contain("user" + std::to_string(i) + "@example.org"));
  }
  return found;
}

TEST_CASE("each filter of one store has all entries, and its own false positives at the rate of the theory") {
  const Layout layout = GENERATE(Layout::page, Layout::line, Layout::ribbon);
  if (kIsSanitized && layout != Layout::page) return;
  CAPTURE(layout);
  constexpr std::uint64_t kMembers = kIsSanitized ? 20'000 : 100'000;
  const std::uint64_t strangers = kIsSanitized ? 20'000 : 400'000;
  const TemporaryFolder folder;
  std::vector<bool> found[2];
  double theory = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}}) {
    const std::string path = folder.file(std::to_string(seed));
    const FilterHeader header = build_filter(path, numbered_addresses(0, kMembers),
                                             {.layout = layout,
                                              .hashes = layout == Layout::ribbon ? 1U : 6U,
                                              .seed = seed,
                                              .store_path = path + ".store",
                                              .store_seed = 42});
    theory = expected_fpr_of(header);
    const std::vector<bool> members = found_by(path, 0, kMembers);
    CHECK(std::ranges::count(members, false) == 0);
    found[seed] = found_by(path, kMembers, strangers);
    const auto rate = static_cast<double>(std::ranges::count(found[seed], true)) / static_cast<double>(strangers);
    CHECK(rate == Approx(theory).margin(5 * std::sqrt(theory / static_cast<double>(strangers))));
  }
  CHECK(read_file(folder.file("0.store")) == read_file(folder.file("1.store")));
  double both = 0;
  for (std::uint64_t i = 0; i < strangers; ++i) both += found[0][i] && found[1][i] ? 1 : 0;
  // As often as two that have nothing to do with each other.
  CHECK(both / static_cast<double>(strangers) < 2 * theory * theory);
}

TEST_CASE_METHOD(InFolder, "the hashes of a store give the filter of the entries, and their numbers are counted") {
  auto lines = numbered_addresses(0, 5000);
  lines.insert(lines.end(), {"@example.net", "joe@example.com > ann@ours.example", "@example.org > ann@ours.example"});
  BuildOptions options = {
      .expected_entries = 6000, .seed = 7, .store_path = folder.file("store"), .store_seed = 3, .sender_domains = true};
  FilterHeader want = build_filter(folder.file("want"), lines, options);
  CHECK(want.kinds == KindsHeld{.pairs_in_bits = 1, .domain_pairs = true});
  const StoreFile store(folder.file("store"));
  options.store_path.clear();
  options.threads = 2;
  FilterBuilder builder(options);
  FilterBuilder::Lane& lane = builder.lane(1);
  store.for_each_address([&](std::span<const KeyHash> hashes) { lane.add_stored(hashes); });
  store.for_each_domain([&](std::span<const KeyHash> hashes) { lane.add_stored_domains(hashes); });
  store.for_each_sender_domain([&](std::span<const KeyHash> hashes) { lane.add_stored_sender_domains(hashes); });
  lane.note_repeated(10);
  lane.note_stored_kinds(store.header().kinds);
  CHECK(builder.addresses() == 5011);
  CHECK(builder.domains() == 2);
  CHECK(builder.kinds() == want.kinds);
  want.addresses += 10;
  want.store_identity = 0;
  CHECK(builder.write(folder.file("got"), kNeverStop) == want);
  CHECK(std::ranges::equal(MappedFilter(folder.file("got")).view().body(),
                           MappedFilter(folder.file("want")).view().body()));
}

TEST_CASE_METHOD(InFolder, "a filter for no entries is sized for one, and lists no sender") {
  for (const std::optional<std::uint64_t> expected : {std::optional<std::uint64_t>(0), {}}) {
    const FilterHeader header = build_filter(folder.file("filter"), {}, {.expected_entries = expected});
    CHECK(header.expected_entries == 1);
    CHECK(header.addresses == 0);
    CHECK(header.bits_set == 0);
    CHECK_FALSE(MappedFilter(folder.file("filter")).view().may_contain("joe@example.org"));
  }
}

TEST_CASE("options out of range are refused") {
  const BuildOptions options = GENERATE(values<BuildOptions>({{.hashes = 0},
                                                              {.hashes = 33},
                                                              {.block_bytes = 4095},
                                                              {.layout = Layout::classic, .block_bytes = 4096},
                                                              {.bits_per_entry = 0.5},
                                                              {.bits_per_entry = 65},
                                                              {.bits_per_entry = -1},
                                                              {.layout = Layout::classic, .store_seed = 1},
                                                              {.layout = Layout::partitioned, .store_path = "x"}}));
  CHECK(error_code_of([&] { FilterBuilder builder(options); }) == ErrorCode::bad_argument);
}

TEST_CASE_METHOD(InFolder, "progress and number of ones cover the whole array, however many parts it is made in") {
  const auto body_memory_bytes = GENERATE(std::uint64_t{1}, std::uint64_t{1} << 30);
  FilterBuilder builder({.bits_per_entry = 64,
                         .expected_entries = 2'000'000,
                         .seed = 1,
                         .threads = 2,
                         .body_memory_bytes = body_memory_bytes});
  for (const std::string& address : numbered_addresses(0, 100)) builder.add(canonicalize_line(address));
  WriteProgress progress;
  const std::atomic<bool> stop{false};
  const FilterHeader header = builder.write(folder.file("filter"), stop, progress);
  CHECK(progress.total_bytes == body_bytes(header.shape));
  CHECK(progress.done_bytes == progress.total_bytes);
  CHECK(header.bits_set == MappedFilter(folder.file("filter")).view().count_ones());
}

TEST_CASE_METHOD(InFolder, "as many filters are kept as were asked for") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    build_filter(folder.file("filter"), {"joe@example.org"}, {.seed = seed, .threads = 3, .kept_generations = 1});
  }
  CHECK(MappedFilter(folder.file("filter.1")).header().shape.seed == 2);
  CHECK(std::ranges::distance(std::filesystem::directory_iterator(folder.path())) == 2);
}

TEST_CASE_METHOD(InFolder, "after a stop no part of the array is written") {
  const FilterShape shape = {.block_count = 1};
  const std::vector<std::byte> bits(body_bytes(shape));
  const std::atomic<bool> stop{true};
  FilterWriter filter(folder.file("filter"), {.shape = shape, .expected_entries = 1});
  WriteProgress progress;
  BodyWriter body(filter, shape, 1, stop, progress);
  body.write(0, bits);
  CHECK(error_code_of([&] { body.finish(); }) == ErrorCode::interrupted);
  CHECK(progress.done_bytes == 0);
}

TEST_CASE_METHOD(InFolder, "a stopped build leaves no files behind") {
  const std::atomic<bool> stop{true};
  FilterBuilder builder({.seed = 1});
  builder.add(canonicalize_line("joe@example.org"));
  WriteProgress progress;
  CHECK(error_code_of([&] { builder.write(folder.file("filter"), stop, progress); }) == ErrorCode::interrupted);
  CHECK(progress.total_bytes == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace bloomgate::test
