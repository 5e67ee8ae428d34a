// Filters of the layout counting: built, changed at random and exported, against a multiset of their entries.
#include "filter/engine/counting_update.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "filter/base/error.hpp"
#include "filter/layout/counters.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

using Lines = std::vector<std::string>;

CountingCounts change(const std::string& path, CountingChange kind, const Lines& lines,
                      CountingUpdate::Options options = {}, const std::string& output = {}) {
  const MappedFilter old(path);
  CountingUpdate update(old, kind, options);
  for (const std::string& line : lines) {
    const Entry entry = canonicalize_line(line, old.header().shape.profile);
    if (!update.entries().has_room_for(1)) {
      update.entries().lane(0).settle();
      update.entries().flush();
    }
    update.entries().lane(0).add(entry);
  }
  update.entries().lane(0).settle();
  WriteProgress unseen;
  update.write(output.empty() ? path : output, kNeverStop, unseen, [](const CountingCounts&) {});
  return update.counts();
}

FilterHeader export_to(const std::string& path, const std::string& output, unsigned threads = 1) {
  WriteProgress progress;
  const FilterHeader header = export_filter(MappedFilter(path), output, threads, 0, kNeverStop, progress);
  CHECK(progress.total_bytes == body_bytes(header.shape));
  CHECK(progress.done_bytes == progress.total_bytes);
  return header;
}

TEST_CASE("an export is, byte for byte, the filter of the layout page that a build makes of the same entries") {
  struct Row {
    std::string_view name;
    BuildOptions options;
    std::uint64_t entries;
  };
  const Row row = GENERATE(values<Row>({{"none", {.seed = 1}, 0},
                                        {"one", {.seed = 1}, 1},
                                        {"some pages", {.seed = 2}, 30'000},
                                        {"16 bits", {.bits_per_entry = 16, .hashes = 11, .seed = 3}, 10'000},
                                        {"large blocks", {.block_bytes = 1 << 20, .seed = 4}, 10'000},
                                        {"one hash", {.hashes = 1, .seed = 5}, 10'000},
                                        {"another family", {.hash_family = HashFamily::murmur3, .seed = 6}, 10'000},
                                        {"several MiB", {.expected_entries = 3'000'000, .seed = 7}, 10'000}}));
  CAPTURE(row.name);
  const TemporaryFolder folder;
  Lines lines = numbered_addresses(0, row.entries);
  lines.insert(lines.end(), {"@example.net", "@.example.com"});
  BuildOptions options = row.options;
  build_filter(folder.file("page"), lines, options);
  options.layout = Layout::counting;
  options.threads = GENERATE(1U, 3U);
  build_filter(folder.file("counting"), lines, options);
  CHECK_NOTHROW(MappedFilter(folder.file("counting")).verify_body());
  export_to(folder.file("counting"), folder.file("export"), options.threads);
  CHECK((read_file(folder.file("export")) == read_file(folder.file("page"))));
}

// What was added and how often, by runs in which each counts once.
class Model {
 public:
  void add(const Lines& lines) {
    for (const std::string& line : std::set<std::string>(lines.begin(), lines.end())) {
      int& count = counts_[line];
      count = line.starts_with('@') ? 1 : count + 1;
    }
  }
  void remove(const Lines& lines) {
    for (const std::string& line : std::set<std::string>(lines.begin(), lines.end())) {
      if (--counts_.at(line) == 0) counts_.erase(line);
    }
  }
  // Each as often as it was added.
  Lines all() const {
    Lines lines;
    for (const auto& [line, count] : counts_) lines.insert(lines.end(), static_cast<std::size_t>(count), line);
    return lines;
  }
  bool has(const std::string& line) const { return counts_.contains(line); }

 private:
  std::map<std::string, int> counts_;
};

std::string line_of(unsigned number) {
  if (number % 100 == 0) return "@domain" + std::to_string(number) + ".example";
  return "user" + std::to_string(number) + "@example.org";
}

void require_all(const std::string& path, const Lines& lines) {
  const MappedFilter filter(path);
  for (const std::string& line : lines) {
    if (!filter.view().find(canonicalize_line(line)).is_listed()) FAIL(path << " does not list " << line);
  }
}

TEST_CASE("no entry is lost as long as only added entries are removed") {
  // With 32 hashes in one block, counters come to 15.
  const std::uint32_t hashes = GENERATE(6U, 32U);
  const unsigned universe = hashes == 32 ? 12'000 : 3000;
  CAPTURE(hashes);
  const TemporaryFolder folder;
  const std::string path = folder.file("counting");
  BuildOptions options = {.hashes = hashes, .expected_entries = hashes == 32 ? 100 : 9000, .seed = 5};
  options.layout = Layout::counting;
  std::mt19937 random(1);
  Model model;
  const auto some = [&](bool only_there) {
    Lines lines;
    const auto one_in = 2 + random() % 20;
    for (unsigned i = 0; i < universe; ++i) {
      if (random() % one_in != 0 || (only_there && !model.has(line_of(i)))) continue;
      lines.push_back(line_of(i));
      if (random() % 10 == 0) lines.push_back(line_of(i));  // each counts once
    }
    std::ranges::shuffle(lines, random);
    return lines;
  };
  const Lines first = some(false);
  build_filter(path, first, options);
  model.add(first);
  std::uint64_t most_saturated = 0;
  for (int step = 0; step < (kIsSanitized ? 6 : 16); ++step) {
    const bool adds = random() % 2 == 0;
    const Lines lines = some(!adds);
    const CountingCounts counts = change(path, adds ? CountingChange::add : CountingChange::remove, lines,
                                         {.threads = static_cast<unsigned>(1 + random() % 3)});
    adds ? model.add(lines) : model.remove(lines);
    CHECK(counts.addresses_not_there == 0);
    CHECK(counts.domains_not_there == 0);
    const Lines all = model.all();
    require_all(path, all);
    const FilterHeader header = MappedFilter(path).header();
    CHECK(header.saturated == count_counters(MappedFilter(path).view().body()).saturated);
    CHECK(entries_of(header) == all.size());
    most_saturated = std::max(most_saturated, header.saturated);
    export_to(path, folder.file("export"));
    require_all(folder.file("export"), all);
    if (most_saturated != 0) continue;
    build_filter(folder.file("page"), all, {.hashes = hashes, .expected_entries = options.expected_entries, .seed = 5});
    if (read_file(folder.file("export")) != read_file(folder.file("page"))) FAIL("another filter in step " << step);
  }
  // A sanitized run has too few steps for some seeds.
  if (hashes == 6 || !kIsSanitized) CHECK((most_saturated != 0) == (hashes == 32));
}

TEST_CASE_METHOD(
    InFolder,
    "the same changes give the same bytes, whatever the threads and the memory, in an array of several parts") {
  const std::uint64_t entries = kIsSanitized ? 20'000 : 300'000;
  // 68 MB of counters: two windows. One, where a sanitizer takes its time.
  build_filter(folder.file("old"), numbered_addresses(0, entries),
               {.layout = Layout::counting, .expected_entries = kIsSanitized ? 1'000'000 : 17'000'000, .seed = 1});
  Lines lines = numbered_addresses(entries / 2, entries);
  const CountingCounts want = change(folder.file("old"), CountingChange::add, lines, {}, folder.file("want"));
  CHECK(want.addresses == entries);
  CHECK(want.looked_present >= entries / 2);
  CHECK(want.looked_present < entries * 51 / 100);
  std::ranges::shuffle(lines, std::mt19937(1));
  CHECK(change(folder.file("old"), CountingChange::add, lines,
               {.threads = 3, .memory_bytes = 1, .scratch_folder = folder.path()}, folder.file("got")) == want);
  CHECK((read_file(folder.file("got")) == read_file(folder.file("want"))));
  {
    const MappedFilter got(folder.file("got"));
    CHECK(got.header().bits_set == count_counters(got.view().body()).ones);
  }
  if (kIsSanitized) return;
  // And back again.
  CHECK(change(folder.file("got"), CountingChange::remove, lines, {.threads = 2}).addresses == entries);
  CHECK((read_file(folder.file("got")) == read_file(folder.file("old"))));
}

TEST_CASE_METHOD(
    WithPath,
    "an entry that is added twice must be removed twice, and a removed entry that is still found is counted") {
  const Lines lines = numbered_addresses(0, 100);
  build_filter(path, lines, {.layout = Layout::counting, .expected_entries = 10'000, .seed = 1});
  const std::string built = read_file(path);
  const CountingCounts again = change(path, CountingChange::add, numbered_addresses(90, 20));
  CHECK(again.addresses == 20);
  CHECK(again.looked_present == 10);
  const CountingCounts removed = change(path, CountingChange::remove, numbered_addresses(90, 20));
  CHECK(removed.addresses == 20);
  CHECK(removed.still_listed == 10);
  CHECK((read_file(path) == built));
}

TEST_CASE_METHOD(InFolder, "counters are changed in blocks that are larger than a chunk of the file") {
  BuildOptions options = {.layout = Layout::counting, .block_bytes = 1 << 20, .expected_entries = 3'000'000, .seed = 1};
  build_filter(folder.file("got"), numbered_addresses(0, 5000), options);
  change(folder.file("got"), CountingChange::add, numbered_addresses(5000, 5000), {.threads = 3});
  build_filter(folder.file("want"), numbered_addresses(0, 10'000), options);
  CHECK((read_file(folder.file("got")) == read_file(folder.file("want"))));
}

TEST_CASE_METHOD(WithPath, "entries that are removed more often than they were added count as long as they are found") {
  build_filter(path, {"joe@example.org"}, {.layout = Layout::counting, .hashes = 1, .expected_entries = 1, .seed = 1});
  for (int i = 0; i < 15; ++i) change(path, CountingChange::add, {"joe@example.org"});
  CHECK(MappedFilter(path).header().addresses == 16);
  // Those that share its counter, which is saturated.
  Lines found = {"joe@example.org"};
  {
    const MappedFilter filter(path);
    for (const std::string& line : numbered_addresses(0, 100'000)) {
      if (filter.view().may_contain(line)) found.push_back(line);
    }
  }
  REQUIRE(found.size() > 1);
  for (int i = 0; i < 17; ++i) CHECK(change(path, CountingChange::remove, found).addresses == found.size());
  CHECK(MappedFilter(path).header().saturated == 1);
  CHECK(MappedFilter(path).header().addresses == 1);
  CHECK(export_to(path, folder.file("export")).saturated == 0);
}

TEST_CASE_METHOD(WithPath, "a filter that is written to while it is changed or exported is refused, and so is a stop") {
  build_filter(path, numbered_addresses(0, 100), {.layout = Layout::counting, .seed = 1});
  make_old(path);
  const MappedFilter old(path);
  const std::atomic<bool> stop{true};
  WriteProgress progress;
  CHECK(error_code_of([&] { export_filter(old, folder.file("x"), 1, 0, stop, progress); }) == ErrorCode::interrupted);
  CHECK(progress.done_bytes == 0);
  write_file(path, read_file(path));
  CHECK(error_code_of([&] { export_filter(old, folder.file("x"), 1, 0, kNeverStop, progress); }) ==
        ErrorCode::changed_while_open);
  CountingUpdate update(old, CountingChange::add, {});
  const auto review = [](const CountingCounts&) { FAIL("the counts of a damaged file are shown"); };
  CHECK(error_code_of([&] { update.write(folder.file("x"), kNeverStop, progress, review); }) ==
        ErrorCode::changed_while_open);
  CHECK(std::ranges::distance(std::filesystem::directory_iterator(folder.path())) == 1);
}

TEST_CASE_METHOD(InFolder, "the replaced counters, and the replaced export, are kept if that was asked for") {
  build_filter(folder.file("counting"), {"joe@example.org"}, {.layout = Layout::counting, .seed = 1});
  const std::string before = read_file(folder.file("counting"));
  change(folder.file("counting"), CountingChange::add, {"ann@example.org"}, {.threads = 2, .kept_generations = 1});
  CHECK((read_file(folder.file("counting.1")) == before));
  WriteProgress unseen;
  const SecretKey key = signing_key();
  for (int i = 0; i < 2; ++i) {
    export_filter(MappedFilter(folder.file("counting")), folder.file("export"), 3, 1, kNeverStop, unseen, &key);
  }
  CHECK(std::filesystem::exists(folder.file("export.1")));
  CHECK(MappedFilter(folder.file("export")).signature().has_value());
}

TEST_CASE_METHOD(WithPath, "removing an entry that is not in the filter changes nothing") {
  Lines lines = numbered_addresses(0, 100);
  lines.push_back("@example.net");
  build_filter(path, lines, {.layout = Layout::counting, .expected_entries = 10'000, .seed = 1});
  const std::string built = read_file(path);
  const CountingCounts counts =
      change(path, CountingChange::remove, {"ann@example.org", "joe@example.org", "@.example.net", "@example.org"});
  CHECK(counts.addresses == 0);
  CHECK(counts.domains == 0);
  CHECK(counts.addresses_not_there == 2);
  CHECK(counts.domains_not_there == 2);
  CHECK((read_file(path) == built));
  // A domain entry that is there already is not added again: domain entries are exact.
  const CountingCounts added = change(path, CountingChange::add, {"@example.net", "@example.org"});
  CHECK(added.domains == 1);
  CHECK(added.domains_there == 1);
  CHECK(change(path, CountingChange::remove, {"@example.net", "@example.org"}).domains == 2);
  CHECK(MappedFilter(path).header().domains == 0);
}

TEST_CASE_METHOD(WithPath,
                 "a change that its caller refuses, or that is stopped, changes nothing and leaves nothing behind") {
  build_filter(path, numbered_addresses(0, 100), {.layout = Layout::counting, .seed = 1});
  const std::string built = read_file(path);
  const MappedFilter old(path);
  const std::atomic<bool> stopped{true};
  for (const bool stops : {false, true}) {
    CountingUpdate update(old, CountingChange::remove, {});
    update.entries().lane(0).add(canonicalize_line("user1@example.org"));
    update.entries().lane(0).settle();
    WriteProgress unseen;
    const auto refuse = [](const CountingCounts&) { throw BloomgateError(ErrorCode::bad_input, "no"); };
    CHECK(error_code_of([&] { update.write(path, stops ? stopped : kNeverStop, unseen, refuse); }) ==
          (stops ? ErrorCode::interrupted : ErrorCode::bad_input));
  }
  // While its caller looks at the counts.
  std::atomic<bool> stops_late{false};
  CountingUpdate update(old, CountingChange::remove, {});
  update.entries().lane(0).add(canonicalize_line("user1@example.org"));
  update.entries().lane(0).settle();
  WriteProgress unseen;
  const auto stop = [&](const CountingCounts&) { stops_late = true; };
  CHECK(error_code_of([&] { update.write(path, stops_late, unseen, stop); }) == ErrorCode::interrupted);
  CHECK((read_file(path) == built));
  CHECK(std::ranges::distance(std::filesystem::directory_iterator(folder.path())) == 1);
}

TEST_CASE_METHOD(InFolder, "a build of the layout counting counts each entry once, however often the lists name it") {
  const Lines once = numbered_addresses(0, 50'000);
  Lines twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  const BuildOptions options = {.layout = Layout::counting, .expected_entries = 50'000, .seed = 1};
  CHECK(build_filter(folder.file("once"), once, options).addresses == 50'000);
  CHECK(build_filter(folder.file("twice"), twice, options).addresses == 50'000);
  CHECK((read_file(folder.file("once")) == read_file(folder.file("twice"))));
}

TEST_CASE_METHOD(InFolder,
                 "a counting filter has no store and no excluded senders, and other filters cannot be changed") {
  BuildOptions options = {.layout = Layout::counting, .seed = 1};
  options.store_path = folder.file("store");
  CHECK(error_code_of([&] { FilterBuilder builder(options); }) == ErrorCode::bad_argument);
  options.store_path.clear();
  CHECK(error_code_of([&] { build_with_strangers(folder.file("x"), {}, {"ann@example.org"}, options); }) ==
        ErrorCode::bad_argument);
  build_filter(folder.file("page"), numbered_addresses(0, 10), {.seed = 1});
  CHECK(error_code_of([&] { change(folder.file("page"), CountingChange::add, {}); }) == ErrorCode::bad_argument);
  CHECK(error_code_of([&] { export_to(folder.file("page"), folder.file("x")); }) == ErrorCode::bad_argument);
  build_filter(folder.file("counting"), numbered_addresses(0, 10), options);
  CHECK(error_code_of([&] { MappedFilter(folder.file("counting")).require_no_counters(); }) ==
        ErrorCode::unsupported_layout);
  CHECK_NOTHROW(MappedFilter(folder.file("page")).require_no_counters());
}

}  // namespace
}  // namespace bloomgate::test
