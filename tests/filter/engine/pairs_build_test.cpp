// Pairs on their way into filters and stores: what the headers say of them, and that every way gives the same files.

#include "changed_filters.hpp"
#include "filter/engine/combine.hpp"
#include "filter/engine/counting_update.hpp"
#include "filter/engine/store_update.hpp"
#include "filter/file/mapped_filter.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using Lines = std::vector<std::string>;

Lines numbered_pairs(unsigned first, unsigned count) {
  Lines lines;
  for (unsigned i = first; i < first + count; ++i) {
    lines.push_back("user" + std::to_string(i) + "@example.org > ann" + std::to_string(i % 7) + "@ours.example");
  }
  return lines;
}

const Lines kMixed = {"joe@example.net", "@example.com", "joe@example.org > ann@ours.example",
                      "JOE@example.org > ann@ours.example", "@example.org > @.ours.example"};

TEST_CASE("the header counts pairs in the bits, duplicates each time, and says whether others are kept exactly") {
  struct Row {
    Lines lines;
    KindsHeld want;
  };
  const Row row = GENERATE(values<Row>({{{"joe@example.org", "@example.org"}, {}},
                                        {{"joe@example.org > ann@ours.example"}, {.pairs_in_bits = 1}},
                                        {{"@example.org > ann@ours.example"}, {.domain_pairs = true}},
                                        {kMixed, {.pairs_in_bits = 2, .domain_pairs = true}}}));
  const TemporaryFolder folder;
  const FilterHeader header = build_filter(folder.file("filter"), row.lines);
  CHECK(header.kinds == row.want);
  const MappedFilter filter(folder.file("filter"));
  filter.verify_body();
  CHECK(filter.header() == header);
  CHECK(filter.view().holds_pairs() == row.want.any_pairs());
}

TEST_CASE_METHOD(InFolder, "in every layout each pair is found, and the bytes do not depend on threads") {
  const Lines lines = numbered_pairs(0, 3000);
  for (const Layout layout : kLayouts) {
    CAPTURE(layout_rules(layout).name());
    const BuildOptions options = {
        .layout = layout, .hashes = std::min(6U, layout_rules(layout).most_hashes()), .seed = 3};
    build_filter(folder.file("filter"), lines, options);
    const MappedFilter filter(folder.file("filter"));
    for (const std::string& line : lines) {
      const Entry pair = canonicalize_list_line(line, {});
      const PairSides sides = sides_of_pair(pair.key());
      if (!filter.view().find_pair(sides.sender, sides.recipient).is_listed()) FAIL(line);
    }
    BuildOptions threaded = options;
    threaded.threads = 3;
    build_filter(folder.file("threaded"), lines, threaded);
    CHECK(read_file(folder.file("threaded")) == read_file(folder.file("filter")));
  }
}

TEST_CASE_METHOD(
    InFolder,
    "a union of filters with pairs is a build from both lists, and an intersection holds no more than either") {
  const BuildOptions options = {.expected_entries = 1000, .seed = 42};
  build_filter(folder.file("a"), kMixed, options);
  build_filter(folder.file("b"), numbered_pairs(0, 50), options);
  Lines both = kMixed;
  for (const std::string& line : numbered_pairs(0, 50)) both.push_back(line);
  build_filter(folder.file("both"), both, options);
  const MappedFilter a(folder.file("a"));
  const MappedFilter b(folder.file("b"));
  const MappedFilter* const filters[] = {&a, &b};
  combine_filters(filters, Combination::unite, folder.file("united"), 2, kNeverStop);
  CHECK(read_file(folder.file("united")) == read_file(folder.file("both")));
  const FilterHeader common = combine_filters(filters, Combination::intersect, folder.file("common"), 2, kNeverStop);
  CHECK(common.kinds.pairs_in_bits <= 2);
  CHECK_FALSE(common.kinds.domain_pairs);
  CHECK_NOTHROW(MappedFilter(folder.file("common")).verify_body());
}

TEST_CASE_METHOD(
    InFolder,
    "updating a store with pairs gives the bytes of a build from the changed list, also where pairs are removed") {
  BuildOptions options = {
      .seed = 7, .scratch_folder = folder.path(), .store_path = folder.file("old.store"), .store_seed = 3};
  build_filter(folder.file("old"), kMixed, options);
  const StoreFile old(folder.file("old.store"));
  CHECK(old.header().kinds == KindsHeld{.pairs_in_bits = 2, .domain_pairs = true});
  options.store_path = folder.file("new.store");
  StoreUpdate update(old, StoreUpdate::options_for(old, options));
  // One is there already, so that the number does not grow from update to update.
  add_to(update.added(), {"joe@example.org > ann@ours.example", "jim@example.org > ann@ours.example"});
  add_to(update.removed(), {"@example.org > @.ours.example"});
  WriteProgress progress;
  const UpdateCounts counts = update.count(kNeverStop);
  CHECK(counts.added == 1);
  CHECK(counts.removed == 1);
  const FilterHeader header = update.write(folder.file("new"), kNeverStop, progress);
  CHECK(header.kinds == KindsHeld{.pairs_in_bits = 3, .domain_pairs = true});
  const MappedFilter filter(folder.file("new"));
  const FilterView& view = filter.view();
  CHECK(view.find_pair("jim@example.org", "ann@ours.example").is_listed());
  CHECK(view.find_pair("joe@example.org", "ann@ours.example").is_listed());
  CHECK_FALSE(view.find_pair("jim@example.org", "bob@ours.example").is_listed());
}

TEST_CASE_METHOD(InFolder, "pairs are added to counters and removed from them") {
  build_filter(folder.file("counting"), kMixed, {.layout = Layout::counting, .expected_entries = 100, .seed = 5});
  const auto change = [&](CountingChange kind, const Lines& lines) {
    return change_counters(folder.file("counting"), kind, lines);
  };
  const Lines more = {"jim@example.org > ann@ours.example", "@example.net > bob@ours.example"};
  // A key counts once, however often the list has it.
  CHECK(MappedFilter(folder.file("counting")).header().kinds == KindsHeld{.pairs_in_bits = 2, .domain_pairs = true});
  CHECK(change(CountingChange::add, more).kinds == KindsHeld{.pairs_in_bits = 3, .domain_pairs = true});
  const auto is_listed = [&](std::string_view sender, std::string_view recipient) {
    return MappedFilter(folder.file("counting")).view().find_pair(sender, recipient).is_listed();
  };
  CHECK(is_listed("jim@example.org", "ann@ours.example"));
  CHECK(is_listed("jim@example.net", "bob@ours.example"));
  change(CountingChange::remove, more);
  CHECK(is_listed("joe@example.org", "ann@ours.example"));
  CHECK_FALSE(is_listed("jim@example.org", "eve@elsewhere.example"));
  CHECK_FALSE(is_listed("jim@example.net", "bob@ours.example"));
  const FilterHeader header = change(CountingChange::remove, {"@example.org > @.ours.example", "@example.com"});
  CHECK_FALSE(header.kinds.domain_pairs);
}

TEST_CASE_METHOD(InFolder, "a pair may be excluded: it is not found unless it is an entry or a wider pair lists it") {
  Lines lines = numbered_pairs(0, 400);
  lines.push_back("@example.net > ann1@ours.example");
  lines.push_back("@partner.example");
  Lines strangers;
  for (int i = 0; i < 200; ++i) {
    strangers.push_back("spam" + std::to_string(i) + "@evil.example > ann@ours.example");
  }
  strangers.insert(strangers.end(), {"user1@example.org > ann1@ours.example", "jim@example.net > ann1@ours.example",
                                     "jim@partner.example > bob@ours.example"});
  // One bit for each of few places, so that many strangers are hit.
  const FilterHeader header = build_with_strangers(
      folder.file("filter"), lines, strangers, {.layout = Layout::line, .bits_per_entry = 2, .hashes = 1, .seed = 42});
  CHECK(header.strangers == KnownStrangerCounts{.known = 203, .entries = 1, .by_domain = 2});
  CHECK(header.excluded > 20);
  const MappedFilter filter(folder.file("filter"));
  for (int i = 0; i < 200; ++i) {
    CHECK_FALSE(filter.view().find_pair("spam" + std::to_string(i) + "@evil.example", "ann@ours.example").is_listed());
  }
  CHECK(filter.view().find_pair("user1@example.org", "ann1@ours.example").is_listed());
  CHECK(filter.view().find_pair("jim@example.net", "ann1@ours.example").is_listed());
}

}  // namespace
}  // namespace bloomgate::test
