// Excluded senders: none of them passes, and no entry is lost because of them, whatever the layout, the memory and the
// way there.
#include "filter/engine/known_strangers.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>
#include <set>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// In how many ways the entries may go through a builder.
struct Way {
  const char* name;
  unsigned threads;
  std::uint64_t memory_bytes;
  bool size_is_known;
  std::uint64_t body_memory_bytes;
};

constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;

TEST_CASE("no excluded sender passes, no entry is missing, and threads and memory do not change the bytes") {
  const std::uint64_t entries = kIsSanitized ? 5'000 : 20'000;
  const Layout layout = GENERATE(filter([](Layout each) { return layout_rules(each).why_no_strangers().empty(); },
                                        from_range(std::begin(kLayouts), std::end(kLayouts))));
  const auto most_hashes = layout_rules(layout).most_hashes();
  const auto hashes = std::min(GENERATE(1U, 4U), most_hashes);
  if (kIsSanitized && hashes != std::min(4U, most_hashes)) return;
  CAPTURE(layout_rules(layout).name(), hashes);
  // Either strangers that hit, or an array that is larger than the memory for it: three MiB.
  const bool is_large = GENERATE(false, true);
  CAPTURE(is_large);
  BuildOptions options = {
      .layout = layout, .bits_per_entry = 4, .hashes = hashes, .expected_entries = entries, .seed = 6};
  if (is_large) options.expected_entries = 6'500'000;
  auto lines = numbered_addresses(0, entries);
  // One in four is an entry.
  auto addresses = numbered_addresses(entries * 9 / 10, entries * 4 / 10);
  const TemporaryFolder folder;
  options.scratch_folder = folder.path();
  const FilterHeader header = build_with_strangers(folder.file("want"), lines, addresses, options);

  const MappedFilter filter(folder.file("want"));
  CHECK_NOTHROW(filter.verify_body());
  CHECK(header.excluded == filter.view().excluded().size());
  CHECK(header.strangers.known == addresses.size());
  CHECK(header.strangers.entries == entries / 10);
  CHECK(header.strangers.by_domain == 0);
  std::uint64_t excluded = 0;
  for (std::uint64_t i = 0; i < lines.size(); ++i) {
    if (!filter.view().may_contain(lines[i])) FAIL("entry " << i << " is missing");
  }
  for (std::uint64_t i = entries / 10; i < addresses.size(); ++i) {
    if (filter.view().may_contain(addresses[i])) FAIL("stranger " << i << " passes");
    excluded += filter.view().is_excluded(addresses[i]) ? 1U : 0U;
  }
  CHECK(excluded == header.excluded);
  CHECK((excluded > 0) == (!is_large || (hashes == 1 && layout != Layout::ribbon)));

  const std::string want = read_file(folder.file("want"));
  const std::vector<std::string> named_twice(addresses.end() - 1000, addresses.end());
  addresses.insert(addresses.end(), named_twice.begin(), named_twice.end());
  std::ranges::shuffle(lines, std::mt19937(1));
  std::ranges::shuffle(addresses, std::mt19937(2));
  const Way ways[] = {{"all at once, on three threads", 3, kMuch, true, kMuch},
                      {"again and again", 1, 1, true, kMuch},
                      {"in parts", 2, 1, true, 0}};
  for (const Way& way : ways) {
    if (kIsSanitized && way.threads == 1) continue;
    CAPTURE(way.name);
    options.threads = way.threads;
    options.memory_bytes = way.memory_bytes;
    options.body_memory_bytes = way.body_memory_bytes;
    build_with_strangers(folder.file("got"), lines, addresses, options);
    CHECK(read_file(folder.file("got")) == want);
  }
}

TEST_CASE("excluded senders are compared with all entries, also with entries on the disk") {
  constexpr std::uint64_t kEntries = (kIsSanitized ? 1 : 2) * kEntriesAtOnce + 100'000;
  constexpr std::uint64_t kStep = 50'000;
  const bool size_is_known = GENERATE(true, false);
  const Layout layout = GENERATE(Layout::page, Layout::partitioned, Layout::ribbon);
  // Ribbon makes its blocks at the end, whether or not it knows their number before.
  if (kIsSanitized && (layout != Layout::ribbon || size_is_known)) return;
  CAPTURE(layout_rules(layout).name(), size_is_known);
  BuildOptions options = {
      .layout = layout, .bits_per_entry = 9, .hashes = layout == Layout::ribbon ? 1U : 2U, .seed = 4};
  const TemporaryFolder folder;
  options.scratch_folder = folder.path();
  options.memory_bytes = 1;
  if (size_is_known) options.expected_entries = kEntries;
  const auto lines = numbered_addresses(0, kEntries);
  std::vector<std::string> addresses;
  for (std::uint64_t i = 0; i < kEntries; i += kStep) addresses.push_back(lines[i]);
  for (const std::string& other : numbered_addresses(kEntries, 1000)) addresses.push_back(other);
  const FilterHeader header = build_with_strangers(folder.file("filter"), lines, addresses, options);
  CHECK(header.strangers.entries == kEntries / kStep);
  const MappedFilter filter(folder.file("filter"));
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    CHECK(filter.view().may_contain(addresses[i]) == (i < kEntries / kStep));
  }
}

TEST_CASE_METHOD(InFolder, "an excluded address that a domain entry lists is counted, and stays listed by its domain") {
  const BuildOptions options = {.seed = 3};
  const std::vector<std::string> addresses = {"joe@example.org", "eve@corp.example", "eve@a.tree.example",
                                              "eve@example.org", "Joe@Example.ORG",  "eve@other.example"};
  const FilterHeader header = build_with_strangers(
      folder.file("filter"), {"joe@example.org", "@corp.example", "@.tree.example", "@.tree.example"}, addresses,
      options);
  CHECK(header.domains == 2);
  CHECK(header.strangers == KnownStrangerCounts{.known = 5, .entries = 1, .by_domain = 2});
  const MappedFilter filter(folder.file("filter"));
  CHECK(filter.view().find(canonicalize_path("<joe@example.org>")).match == Match::address);
  CHECK(filter.view().find(canonicalize_path("<eve@corp.example>")).match == Match::domain);
  CHECK(filter.view().find(canonicalize_path("<eve@a.tree.example>")).match == Match::domain_tree);
  CHECK(filter.view().find(canonicalize_path("<eve@other.example>")).match == Match::none);
}

TEST_CASE("an excluded sender is recognised as an entry by its address, by its domain, and as a domain entry") {
  const BuildOptions options = {.seed = 3};
  const auto strangers = strangers_of(options, {"joe@example.org", "eve@corp.example"});
  const KeyHash joe = hash_key("joe@example.org", 3);
  strangers->note_entries({&joe, 1});
  strangers->end_notes();
  CHECK(strangers->entry_of(EntryKind::address, "joe@example.org") == Match::address);
  CHECK(strangers->entry_of(EntryKind::address, "eve@corp.example") == Match::none);
  CHECK(strangers->entry_of(EntryKind::domain, "@corp.example") == Match::none);
  std::vector<KeyHash> domains = {hash_key("@corp.example", 3), hash_key("@.corp.example", 3)};
  std::ranges::sort(domains);
  strangers->note_domains(domains);
  CHECK(strangers->entry_of(EntryKind::address, "joe@example.org") == Match::address);
  CHECK(strangers->entry_of(EntryKind::address, "eve@corp.example") == Match::domain);
  CHECK(strangers->entry_of(EntryKind::domain, "@corp.example") == Match::domain);
  CHECK(strangers->entry_of(EntryKind::domain_tree, "@.corp.example") == Match::domain_tree);
  CHECK(strangers->entry_of(EntryKind::domain, "@other.example") == Match::none);
  CHECK(strangers->counts() == KnownStrangerCounts{.known = 2, .entries = 1, .by_domain = 1});
  // A stranger that nobody named is none.
  CHECK(strangers->entry_of(EntryKind::address, "ann@corp.example") == Match::none);
  strangers->start_again();
  CHECK(strangers->counts() == KnownStrangerCounts{.known = 2});
  strangers->end_notes();
  CHECK(strangers->entry_of(EntryKind::address, "joe@example.org") == Match::none);
  CHECK(strangers->entry_of(EntryKind::domain, "@corp.example") == Match::none);
}

TEST_CASE("an entry whose mark equals that of an excluded sender by chance stays listed") {
  // The hash of an entry, noted as if it were another key's.
  const BuildOptions options = {.seed = 3, .threads = 1};
  const auto strangers = strangers_of(options, {"eve@example.org"});
  FilterShape shape = shape_of(options);
  shape.block_count = 1;
  std::vector<std::byte> full(4096, std::byte{0xff});
  strangers->note_bits(shape, {full.data(), 0}, full.size());
  const KeyHash eve = hash_key("eve@example.org", 3);
  CHECK(strangers->excluded() == std::vector<KeyHash>{eve});
  strangers->note_entries({&eve, 1});
  CHECK(strangers->excluded().empty());
}

TEST_CASE_METHOD(InFolder,
                 "an exception or a stop in the review of excluded senders ends the build, and nothing is left") {
  const BuildOptions options = {.seed = 3};
  const auto strangers = strangers_of(options, {"eve@example.org"});
  FilterBuilder builder(options);
  builder.set_strangers(*strangers, [] { throw BloomgateError(ErrorCode::bad_input, "no"); });
  builder.add(canonicalize_line("joe@example.org"));
  CHECK(error_code_of([&] { builder.write(folder.file("filter"), kNeverStop); }) == ErrorCode::bad_input);
  std::atomic<bool> stop{false};
  FilterBuilder stopped(options);
  stopped.set_strangers(*strangers, [&] { stop = true; });
  CHECK(error_code_of([&] { stopped.write(folder.file("filter"), stop); }) == ErrorCode::interrupted);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE_METHOD(InFolder, "excluded senders serve a second build, without what was found in the first") {
  const BuildOptions options = {.seed = 3};
  const auto strangers = strangers_of(options, {"eve@example.org", "joe@example.org"});
  for (const char* const line : {"eve@example.org", "joe@example.org"}) {
    FilterBuilder builder(options);
    builder.set_strangers(*strangers);
    builder.add(canonicalize_line(line));
    CHECK(builder.write(folder.file("filter"), kNeverStop).strangers == KnownStrangerCounts{.known = 2, .entries = 1});
    CHECK(MappedFilter(folder.file("filter")).view().may_contain(line));
    for (const std::string_view each : {"eve@example.org", "joe@example.org"}) {
      CHECK(strangers->entry_of(EntryKind::address, each) == (each == line ? Match::address : Match::none));
    }
  }
}

TEST_CASE("excluded senders noted range by range are the same as noted all at once") {
  const BuildOptions options = {.hashes = 1, .seed = 3, .threads = 2};
  const std::vector<std::string> lines = numbered_addresses(0, 5000);
  FilterShape shape = shape_of(options);
  shape.block_count = 2;
  const std::uint64_t bytes = shape.block_count * shape.block_bytes;
  // Every third stranger is an entry, and others hit.
  std::vector<std::byte> bits(bytes);
  std::vector<KeyHash> entries;
  for (std::size_t i = 0; i < 3 * lines.size(); i += 3) {
    entries.push_back(hash_key(i < lines.size() ? lines[i] : "other" + std::to_string(i) + "@example.net", 3));
  }
  layout_rules(shape.layout).set_bits(shape, {bits.data(), 0}, entries);
  const auto all = strangers_of(options, lines);
  all->note_entries(entries);
  all->note_bits(shape, {bits.data(), 0}, bytes);
  all->end_notes();
  REQUIRE(all->excluded().size() > 100);

  // One of the strangers is the first of a range, and one the last of it.
  const std::span<const KeyHash> values = all->values_in({});
  REQUIRE(values.size() == lines.size());
  const KeyHash first_end = values[1000];
  const KeyHash second_begin = values[1001];
  const std::uint64_t middle = shape.block_count / 2 * shape.block_bytes;
  const auto gathered = strangers_of(options, lines);
  std::size_t known = 0;
  for (const HashRange range : {HashRange{0, first_end}, HashRange{second_begin, KeyHash{1} << 63},
                                HashRange{(KeyHash{1} << 63) + 1, std::numeric_limits<KeyHash>::max()}}) {
    const auto some = strangers_of(options, lines, range);
    some->note_entries(entries);
    some->note_bits(shape, {bits.data(), 0}, middle);
    some->note_bits(shape, {bits.data() + middle, middle}, bytes);
    CHECK(std::ranges::equal(some->values_in({}), gathered->values_in(range)));
    CHECK(std::ranges::all_of(some->values_in({}), [&](KeyHash hash) { return range.has(hash); }));
    known += some->counts().known;
    CHECK(some->notes_of({}).size() == some->counts().known);
    std::ranges::copy(some->notes_of({}), gathered->notes_of(range).begin());
  }
  CHECK(known == lines.size());
  gathered->end_notes();
  CHECK(gathered->excluded() == all->excluded());
  CHECK(gathered->counts() == all->counts());
  CHECK(all->values_in({values[7], values[7]}).size() == 1);
  CHECK(all->values_in({values[7] + 1, values[8] - 1}).empty());
  for (std::size_t i = 0; i < lines.size(); i += 3) {
    CHECK(gathered->entry_of(EntryKind::address, lines[i]) == Match::address);
  }
}

TEST_CASE("excluded senders have room for a piece of work, and keep to their memory") {
  const unsigned threads = GENERATE(1U, 4U);
  const KnownStrangers strangers(shape_of({}), threads, 1);
  CHECK(strangers.has_room_for(kEntriesAtOnce));
  CHECK_FALSE(strangers.has_room_for(4 * kEntriesAtOnce));
}

TEST_CASE("an index finds its hashes and no others, however they are spread") {
  std::mt19937_64 random(1);
  const unsigned empty_high_bits = GENERATE(0U, 3U, 40U, 63U);
  const std::size_t count = GENERATE(0U, 1U, 2U, 100U, 20'000U);
  CAPTURE(empty_high_bits, count);
  std::set<KeyHash> set;
  for (std::size_t i = 0; i < count; ++i) set.insert(random() >> empty_high_bits);
  const std::vector<KeyHash> hashes(set.begin(), set.end());
  const HashIndex index(hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    REQUIRE(index.find(hashes[i]) == i);
    if (!set.contains(hashes[i] + 1)) REQUIRE(index.find(hashes[i] + 1) == HashIndex::kAbsent);
    if (!set.contains(hashes[i] - 1)) REQUIRE(index.find(hashes[i] - 1) == HashIndex::kAbsent);
  }
  std::vector<KeyHash> asked = hashes;
  for (int i = 0; i < 1000; ++i) {
    const KeyHash other = random() >> (i % 2 == 0 ? 0 : empty_high_bits);
    REQUIRE((index.find(other) != HashIndex::kAbsent) == set.contains(other));
    if (!set.contains(other)) asked.push_back(other);
  }
  std::ranges::shuffle(asked, random);
  std::set<std::size_t> found;
  index.for_each_found(asked, [&](std::size_t place) { found.insert(place); });
  CHECK(found.size() == hashes.size());
  CHECK((found.empty() || *found.rbegin() < hashes.size()));
}

}  // namespace
}  // namespace bloomgate::test
