// Mailing lists and entries with a signer on their way into filters and stores: what the headers say of them, and that
// every way gives the same files.

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

const Lines kMixed = {"joe@example.net",
                      "list:announce.example.org",
                      "LIST:Announce.Example.org",
                      "list:*.lists.example.org",
                      "list:a.example.org > ann@ours.example",
                      "billing@bank.example signed-by esp.example",
                      "list:a.example.net signed-by esp.example"};

bool is_listed(const MappedFilter& filter, std::string_view line) {
  return filter.view().find(canonicalize_list_line(line)).is_listed();
}

TEST_CASE("the header says whether entries with a signer are kept, and mailing lists alone change nothing in it") {
  struct Row {
    Lines lines;
    KindsHeld want;
    std::uint64_t kept_exactly;
  };
  const Row row = GENERATE(values<Row>({
      {{"joe@example.org", "list:a.example.org", "list:*.example.org"}, {}, 2},
      {{"joe@example.org signed-by esp.example"}, {.signers = true}, 1},
      {{"list:a.example signed-by esp.example", "@example.org"}, {.signers = true}, 2},
      {{"list:a.example.org > ann@ours.example"}, {.domain_pairs = true}, 1},
      {kMixed, {.domain_pairs = true, .signers = true}, 5},
  }));
  const TemporaryFolder folder;
  const FilterHeader header = build_filter(folder.file("filter"), row.lines);
  CHECK(header.kinds == row.want);
  CHECK(header.domains == row.kept_exactly);
  const MappedFilter filter(folder.file("filter"));
  filter.verify_body();
  CHECK(filter.header() == header);
  CHECK(filter.view().holds_signers() == row.want.signers);
  CHECK(filter.view().holds_pairs() == row.want.domain_pairs);
}

TEST_CASE_METHOD(InFolder,
                 "in every layout mailing lists and signers are found, and the bytes do not depend on threads") {
  Lines lines = kMixed;
  for (int i = 0; i < 2000; ++i) {
    lines.push_back("list:l" + std::to_string(i) + ".example.com");
    lines.push_back("@d" + std::to_string(i) + ".example signed-by esp" + std::to_string(i % 7) + ".example");
  }
  for (const Layout layout : kLayouts) {
    CAPTURE(layout_rules(layout).name());
    const BuildOptions options = {
        .layout = layout, .hashes = std::min(6U, layout_rules(layout).most_hashes()), .seed = 3};
    build_filter(folder.file("filter"), lines, options);
    const MappedFilter filter(folder.file("filter"));
    CHECK(filter.header().addresses == 1);
    for (const std::string& line : lines) {
      const Entry entry = canonicalize_list_line(line);
      if (!entry.is_pair() && !filter.view().find(entry).is_listed()) FAIL(line);
    }
    CHECK_FALSE(is_listed(filter, "list:l2000.example.com"));
    CHECK_FALSE(is_listed(filter, "@d1.example signed-by esp2.example"));
    BuildOptions threaded = options;
    threaded.threads = 3;
    build_filter(folder.file("threaded"), lines, threaded);
    CHECK(read_file(folder.file("threaded")) == read_file(folder.file("filter")));
  }
}

TEST_CASE_METHOD(
    InFolder, "a union of filters with signers is a build from both lists, and an intersection says it of both only") {
  const BuildOptions options = {.expected_entries = 1000, .seed = 42};
  const Lines other = {"ann@example.com", "list:announce.example.org", "@example.com"};
  build_filter(folder.file("a"), kMixed, options);
  build_filter(folder.file("b"), other, options);
  Lines both = kMixed;
  both.insert(both.end(), other.begin(), other.end());
  build_filter(folder.file("both"), both, options);
  const MappedFilter a(folder.file("a"));
  const MappedFilter b(folder.file("b"));
  const auto combine = [&](const MappedFilter& one, const MappedFilter& two, Combination how, const char* name) {
    const MappedFilter* const filters[] = {&one, &two};
    return combine_filters(filters, how, folder.file(name), 2, kNeverStop);
  };
  CHECK(combine(a, b, Combination::unite, "united").kinds.signers);
  CHECK(combine(b, a, Combination::unite, "united").kinds.signers);
  CHECK(read_file(folder.file("united")) == read_file(folder.file("both")));
  const FilterHeader common = combine(a, b, Combination::intersect, "common");
  CHECK_FALSE(common.kinds.signers);
  CHECK(common.domains == 1);
  CHECK(is_listed(MappedFilter(folder.file("common")), "list:announce.example.org"));
  CHECK(combine(a, a, Combination::intersect, "same").kinds == a.header().kinds);
}

TEST_CASE_METHOD(InFolder, "an update of a store adds and removes mailing lists and signers, and keeps what it says") {
  BuildOptions options = {
      .seed = 7, .scratch_folder = folder.path(), .store_path = folder.file("old.store"), .store_seed = 3};
  build_filter(folder.file("old"), {"joe@example.net", "list:a.example"}, options);
  const auto update = [&](const std::string& from, const std::string& to, const Lines& added, const Lines& removed) {
    return update_pair(folder.file(from), folder.file(to), options, added, removed).kinds;
  };
  CHECK_FALSE(StoreFile(folder.file("old.store")).header().kinds.signers);
  CHECK(update("old", "more", {"@bank.example signed-by esp.example", "list:*.lists.example"}, {"list:a.example"}) ==
        KindsHeld{.signers = true});
  CHECK(StoreFile(folder.file("more.store")).header().kinds == KindsHeld{.signers = true});
  const MappedFilter more(folder.file("more"));
  CHECK(is_listed(more, "joe@bank.example signed-by esp.example"));
  CHECK(is_listed(more, "list:x.lists.example"));
  CHECK_FALSE(is_listed(more, "list:a.example"));
  // A store without addresses does not say which hash had a signer: the flag stays as long as anything is kept exactly.
  CHECK(update("more", "less", {}, {"@bank.example signed-by esp.example"}) == KindsHeld{.signers = true});
  CHECK_FALSE(is_listed(MappedFilter(folder.file("less")), "joe@bank.example signed-by esp.example"));
  CHECK(update("less", "none", {}, {"list:*.lists.example"}) == KindsHeld{});
}

TEST_CASE_METHOD(InFolder, "a filter that is built with a store has the header of one that is built without") {
  const FilterHeader alone = build_filter(folder.file("alone"), kMixed, {.seed = 7});
  const FilterHeader with =
      build_filter(folder.file("with"), kMixed, {.seed = 7, .store_path = folder.file("store"), .store_seed = 3});
  CHECK(with.kinds == alone.kinds);
  CHECK(StoreFile(folder.file("store")).header().kinds == alone.kinds);
  CHECK(with.domains == alone.domains);
}

TEST_CASE_METHOD(InFolder, "mailing lists and signers are added to counters and removed from them") {
  build_filter(folder.file("counting"), {"joe@example.net"},
               {.layout = Layout::counting, .expected_entries = 100, .seed = 5});
  const auto change = [&](CountingChange kind, const Lines& lines) {
    return change_counters(folder.file("counting"), kind, lines).kinds;
  };
  CHECK(change(CountingChange::add, {"list:a.example"}) == KindsHeld{});
  CHECK(change(CountingChange::add, {"@bank.example signed-by esp.example"}) == KindsHeld{.signers = true});
  CHECK(is_listed(MappedFilter(folder.file("counting")), "list:a.example"));
  CHECK(is_listed(MappedFilter(folder.file("counting")), "joe@bank.example signed-by esp.example"));
  CHECK(change(CountingChange::remove, {"list:a.example"}) == KindsHeld{.signers = true});
  CHECK_FALSE(is_listed(MappedFilter(folder.file("counting")), "list:a.example"));
  CHECK(change(CountingChange::remove, {"@bank.example signed-by esp.example"}) == KindsHeld{});
  CHECK_FALSE(is_listed(MappedFilter(folder.file("counting")), "joe@bank.example signed-by esp.example"));
}

TEST_CASE_METHOD(InFolder, "an excluded sender is excluded whatever mailing list or signer the filter has") {
  Lines strangers;
  for (int i = 0; i < 200; ++i) strangers.push_back("spam" + std::to_string(i) + "@bank.example");
  Lines lines = kMixed;
  for (int i = 0; i < 300; ++i) lines.push_back("user" + std::to_string(i) + "@example.org");
  lines.push_back("@bank.example signed-by esp.example");
  // Few bits, so that many of them are hit. What is no address is no stranger.
  strangers.push_back("list:announce.example.org");
  const FilterHeader header = build_with_strangers(
      folder.file("filter"), lines, strangers, {.layout = Layout::line, .bits_per_entry = 2, .hashes = 1, .seed = 42});
  CHECK(header.strangers == KnownStrangerCounts{.known = 200, .entries = 0, .by_domain = 0});
  CHECK(header.excluded > 20);
  const MappedFilter filter(folder.file("filter"));
  for (int i = 0; i < 200; ++i) CHECK_FALSE(is_listed(filter, strangers[static_cast<std::size_t>(i)]));
  CHECK(is_listed(filter, "spam1@bank.example signed-by esp.example"));
  CHECK(is_listed(filter, "list:announce.example.org"));
}

}  // namespace
}  // namespace bloomgate::test
