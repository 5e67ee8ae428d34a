// Filters with the domains of their senders: strangers at other domains are never found, members always, and the
// section has the same bytes whichever way it was made.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "changed_filters.hpp"
#include "filter/base/error.hpp"
#include "filter/domains/sender_domains_cursor.hpp"
#include "filter/engine/bulk_lookup.hpp"
#include "filter/engine/combine.hpp"
#include "filter/engine/counting_update.hpp"
#include "filter/engine/store_update.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/lookup_batch.hpp"
#include "filter/layout/rate_of_bits.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using Lines = std::vector<std::string>;

// "user<i>@d<i % domains>.example" for i in [first, first + count).
Lines addresses_at(std::uint64_t domains, std::uint64_t first, std::uint64_t count) {
  Lines lines;
  for (std::uint64_t i = first; i < first + count; ++i) {
    lines.push_back("user" + std::to_string(i) + "@d" + std::to_string(i % domains) + ".example");
  }
  return lines;
}

BuildOptions options_of(Layout layout) {
  return {
      .layout = layout, .hashes = layout_rules(layout).most_hashes() == 1 ? 1U : 6U, .seed = 7, .sender_domains = true};
}

std::vector<DomainNumber> domains_of(const MappedFilter& filter) {
  std::vector<DomainNumber> all;
  for (SenderDomainsCursor cursor(filter.view().sender_domains()); cursor.peek(); cursor.advance()) {
    all.push_back(*cursor.peek());
  }
  return all;
}

struct Found {
  std::uint64_t one_by_one = 0;
  std::uint64_t in_batches = 0;
  std::uint64_t in_bulk = 0;
};

// By all ways to look up an address.
Found look_up(const FilterView& view, const Lines& keys) {
  Found found;
  LookupBatch batch(view);
  const auto answer = [&] { batch.test([&](std::size_t, bool is_found) { found.in_batches += is_found ? 1U : 0U; }); };
  for (const std::string& key : keys) {
    found.one_by_one += view.find(canonicalize_line(key, view.shape().profile)).is_listed() ? 1U : 0U;
    batch.add(key);
    if (batch.full()) answer();
  }
  answer();
  if (!BulkLookup::suits(view)) {
    found.in_bulk = found.in_batches;
    return found;
  }
  BulkLookup bulk(view, 1, std::uint64_t{64} << 20);
  for (const std::string& key : keys) bulk.lane(0).add(key);
  bulk.lane(0).settle();
  bulk.look_up();
  CHECK(bulk.keys() == keys.size());
  found.in_bulk = bulk.found();
  return found;
}

void check_all(const Found& found, std::uint64_t want) {
  CHECK(found.one_by_one == want);
  CHECK(found.in_batches == want);
  CHECK(found.in_bulk == want);
}

TEST_CASE("no address at an attacker's own domains is listed by chance; members always are") {
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  CAPTURE(layout_rules(layout).name());
  const std::uint64_t members = kIsSanitized ? 4'000 : 50'000;
  const std::uint64_t tried = kIsSanitized ? 8'000 : 200'000;
  const TemporaryFolder folder;
  build_filter(folder.file("f"), addresses_at(20, 0, members), options_of(layout));
  const MappedFilter filter(folder.file("f"));
  CHECK(filter.header().sender_domains == 20);
  CHECK_NOTHROW(filter.verify_body());
  check_all(look_up(filter.view(), addresses_at(20, 0, members)), members);

  // A domain of his own with a great many names, one that is below a listed domain, and many domains with one name
  // each.
  Lines attack;
  for (std::uint64_t i = 0; i < tried / 2; ++i) attack.push_back("user" + std::to_string(i) + "@attacker.example");
  for (std::uint64_t i = 0; i < tried / 4; ++i) attack.push_back("user" + std::to_string(i) + "@mail.d1.example");
  for (std::uint64_t i = 0; i < tried / 4; ++i) attack.push_back("joe@a" + std::to_string(i) + ".example");
  check_all(look_up(filter.view(), attack), 0);

  // The neighbour at a listed domain is found at the rate of the bits.
  const Lines neighbours = addresses_at(20, members, tried);
  const Found found = look_up(filter.view(), neighbours);
  check_all(found, found.one_by_one);
  check_all(look_up(filter.view().without_sender_domains(), neighbours), found.one_by_one);
  const RateOfBits rate = rate_of_bits(filter.view());
  const auto expected = rate.rate * static_cast<double>(tried);
  CHECK(std::abs(static_cast<double>(found.one_by_one) - expected) <
        6 * std::sqrt(expected) + rate.uncertainty * static_cast<double>(tried));
  // And without the section the attack pays.
  CHECK(look_up(filter.view().without_sender_domains(), attack).one_by_one > tried / 1000);
}

TEST_CASE("the domain of a sender counts as it is, whichever way it is written") {
  const TemporaryFolder folder;
  build_filter(folder.file("f"),
               {"joe@Example.ORG.", "info@m\xC3\xBCller.example", "a@[192.0.2.1]", "\"a@b\"@quoted.example",
                "ann@pair.example > bob@ours.example", "@entry.example", "list:news.lists.example",
                "joe@signed.example signed-by esp.example", "@wide.example > bob@ours.example"},
               options_of(Layout::page));
  const MappedFilter filter(folder.file("f"));
  const FilterView& view = filter.view();
  CHECK(filter.header().sender_domains == 8);
  for (const char* const key : {"@example.org", "@pair.example", "list:*.lists.example", "@wide.example\n",
                                "@signed.example signed-by esp.example"}) {
    CAPTURE(key);
    CHECK(view.has_neighbours(key));
  }
  for (const char* const key : {"@entry.example", "@wide.example", "@signed.example", "list:*.example",
                                "list:news.lists.example", "@signed.example signed-by other.example"}) {
    CAPTURE(key);
    CHECK(!view.has_neighbours(key));
  }
  for (const char* const key : {"x@example.org", "x@xn--mller-kva.example", "x@[192.0.2.1]", "x@quoted.example",
                                "x@pair.example", "x@pair.example\nbob@ours.example"}) {
    CAPTURE(key);
    CHECK(view.may_hold_domain_of(key));
  }
  for (const char* const key : {"x@org", "x@mail.example.org", "x@m\xC3\xBCller.example", "x@[192.0.2.2]", "x@b",
                                "x@ours.example", "x@entry.example", "x@news.lists.example", "x@signed.example",
                                "x@wide.example", "x@ours.example\nann@pair.example"}) {
    CAPTURE(key);
    CHECK(!view.may_hold_domain_of(key));
  }
  const auto is_listed = [&](std::string_view text) { return view.find(canonicalize_line(text, {})).is_listed(); };
  CHECK(is_listed("JOE@example.org"));
  CHECK(is_listed("info@m\xC3\xBCller.example"));
  CHECK(is_listed("\"a@b\"@quoted.example"));
  CHECK(is_listed("x@entry.example"));  // by a domain entry, which another section has
  CHECK(view.find_pair("ann@pair.example", "bob@ours.example").is_listed());
  CHECK(view.find_pair("eve@wide.example", "bob@ours.example").is_listed());
  CHECK(!view.find_with_signer("joe@signed.example", "esp.example").view().empty());
}

TEST_CASE("a filter without addresses has a section without domains") {
  const TemporaryFolder folder;
  build_filter(folder.file("f"), {"@entry.example"}, options_of(Layout::page));
  const MappedFilter filter(folder.file("f"));
  CHECK(filter.header().sender_domains == 0);
  CHECK_NOTHROW(filter.verify_body());
  CHECK(!filter.view().may_contain("joe@entry.example"));
  CHECK(filter.view().find(canonicalize_line("joe@entry.example", {})).is_listed());
}

TEST_CASE("an excluded sender at a domain without an entry is not listed and needs no exclusion") {
  const TemporaryFolder folder;
  BuildOptions options = options_of(Layout::page);
  options.bits_per_entry = 2;
  const Lines members = addresses_at(3, 0, 5000);
  Lines strangers = addresses_at(3, 5000, 5000);
  for (int i = 0; i < 5000; ++i) strangers.push_back("user" + std::to_string(i) + "@elsewhere.example");
  build_with_strangers(folder.file("f"), members, strangers, options);
  const MappedFilter filter(folder.file("f"));
  CHECK(filter.header().excluded > 100);
  check_all(look_up(filter.view(), members), members.size());
  check_all(look_up(filter.view(), strangers), 0);
  CHECK(!filter.view().is_excluded("user1@elsewhere.example"));
}

TEST_CASE("threads, memory and the order of the entries make no difference to a filter with sender domains") {
  const std::uint64_t count = 1'080'000;
  const Lines lines = addresses_at(count / 3 * 2, 0, count);  // more domains than fit into the least memory
  const TemporaryFolder folder;
  BuildOptions options = options_of(Layout::page);
  options.scratch_folder = folder.path();
  options.memory_bytes = std::uint64_t{256} << 20;
  const FilterHeader header = build_filter(folder.file("want"), lines, options);
  CHECK(header.sender_domains == count / 3 * 2);
  options.memory_bytes = 1;
  options.threads = 2;
  FilterBuilder builder(options);
  for (unsigned lane = 0; lane < 2; ++lane) {
    for (std::size_t i = lines.size(); i-- > 0;) {
      if (i % 2 != lane) continue;
      if (!builder.has_room_for(1)) {
        builder.lane(lane).settle();
        builder.flush();
      }
      builder.lane(lane).add(canonicalize_line(lines[i], {}));
    }
    builder.lane(lane).settle();
  }
  CHECK(builder.write(folder.file("got"), kNeverStop) == header);
  CHECK(builder.spilled_bytes() > 0);
  CHECK(builder.spilled_bytes() < 3 * count * sizeof(KeyHash));
  CHECK((read_file(folder.file("got")) == read_file(folder.file("want"))));
  CHECK_NOTHROW(MappedFilter(folder.file("got")).verify_body(2));
}

FilterHeader combine(const TemporaryFolder& folder, Combination combination, const Lines& names) {
  std::vector<std::unique_ptr<MappedFilter>> filters;
  std::vector<const MappedFilter*> views;
  for (const std::string& name : names) {
    filters.push_back(std::make_unique<MappedFilter>(folder.file(name)));
    views.push_back(filters.back().get());
  }
  return combine_filters(views, combination, folder.file("out"), 2, kNeverStop);
}

TEST_CASE("short and long domains in any order are gathered, each once") {
  std::mt19937_64 random(20261124);
  const BuildOptions options = options_of(Layout::page);
  Lines lines;
  std::set<DomainNumber> want;
  for (int i = 0; i < 30'000; ++i) {
    const std::string domain = "@" + std::string(1 + random() % 59, 'd') + std::to_string(random() % 50) + ".x";
    lines.push_back("joe" + domain);
    want.insert(domain_number(hash_key(domain, options.seed, options.hash_family)));
  }
  const TemporaryFolder folder;
  build_filter(folder.file("f"), lines, options);
  const MappedFilter filter(folder.file("f"));
  CHECK(std::ranges::equal(domains_of(filter), want));
  check_all(look_up(filter.view(), lines), lines.size());
  // What a bulk look-up asks first passes each domain that is there, and one in sixteen others at most.
  const BulkLookup::DomainBits bits(filter.view().sender_domains());
  CHECK(std::ranges::all_of(want, [&](DomainNumber domain) { return bits.may_have(domain); }));
  int passed = 0;
  for (int i = 0; i < 16'000; ++i) passed += bits.may_have(domain_number(random())) ? 1 : 0;
  CHECK(passed < 1200);
}

TEST_CASE("a union has the bytes of one build, an intersection the domains that all have") {
  const Layout layout = GENERATE(Layout::page, Layout::line, Layout::classic, Layout::partitioned);
  CAPTURE(layout_rules(layout).name());
  const TemporaryFolder folder;
  BuildOptions options = options_of(layout);
  options.expected_entries = 6000;
  const Lines a = addresses_at(700, 0, 2000);
  const Lines b = addresses_at(1100, 2000, 2000);
  Lines both = a;
  both.insert(both.end(), b.begin(), b.end());
  build_filter(folder.file("a"), a, options);
  build_filter(folder.file("b"), b, options);
  build_filter(folder.file("none"), {}, options);
  build_filter(folder.file("both"), both, options);
  options.sender_domains = false;
  build_filter(folder.file("b without"), b, options);
  build_filter(folder.file("none without"), {}, options);
  build_filter(folder.file("both without"), both, options);

  CHECK(combine(folder, Combination::unite, {"a", "b", "none", "none without"}).sender_domains == 1100);
  CHECK((read_file(folder.file("out")) == read_file(folder.file("both"))));
  // Nobody knows the domains of the second one's addresses.
  CHECK(!combine(folder, Combination::unite, {"a", "b without"}).sender_domains);
  CHECK((read_file(folder.file("out")) == read_file(folder.file("both without"))));

  CHECK(combine(folder, Combination::intersect, {"both", "a"}).sender_domains == 700);
  check_all(look_up(MappedFilter(folder.file("out")).view(), a), a.size());
  CHECK(combine(folder, Combination::intersect, {"a", "both without"}).sender_domains == 700);
  check_all(look_up(MappedFilter(folder.file("out")).view(), a), a.size());
  // Two lists without a common domain: their bits meet by chance, and yet no address is found.
  Lines elsewhere;
  for (int i = 0; i < 2000; ++i)
    elsewhere.push_back("user" + std::to_string(i) + "@e" + std::to_string(i) + ".example");
  options.sender_domains = true;
  build_filter(folder.file("elsewhere"), elsewhere, options);
  CHECK(combine(folder, Combination::intersect, {"a", "elsewhere"}).sender_domains == 0);
  const MappedFilter none(folder.file("out"));
  CHECK_NOTHROW(none.verify_body());
  check_all(look_up(none.view(), both), 0);
}

// Addresses at `count` domains that share the first 7 bits of their hashes: a bucket of 65 to 128 domains.
Lines addresses_in_one_bucket(std::uint64_t seed, std::uint64_t first, std::size_t count) {
  Lines lines;
  for (std::uint64_t i = first; lines.size() < count; ++i) {
    const std::string domain = "@chosen" + std::to_string(i) + ".example";
    if (hash_key(domain, seed, HashFamily::xxh3) >> 57 == 99) lines.push_back("joe" + domain);
  }
  return lines;
}

TEST_CASE("a list whose domains were chosen for the seed is refused, the file there stays, and another seed helps") {
  const TemporaryFolder folder;
  BuildOptions options = options_of(Layout::page);
  const Lines chosen = addresses_in_one_bucket(options.seed, 0, 80);
  const auto build = [&](const std::string& name, std::span<const std::string> lines) {
    return build_filter(folder.file(name), {lines.begin(), lines.end()}, options);
  };
  options.expected_entries = 100;
  const std::span<const std::string> all(chosen);
  build("f", all.first(64));
  const std::string before = read_file(folder.file("f"));
  CHECK(error_code_of([&] { build("f", all); }) == ErrorCode::bad_input);
  CHECK((read_file(folder.file("f")) == before));

  // Two lists that are possible, and whose union is not.
  build("a", all.first(40));
  build("b", all.last(40));
  CHECK(error_code_of([&] { combine(folder, Combination::unite, {"a", "b"}); }) == ErrorCode::bad_input);
  CHECK(combine(folder, Combination::intersect, {"a", "b"}).sender_domains == 0);

  options.seed = 8;
  CHECK(build("f", all).sender_domains == 80);
  const MappedFilter other(folder.file("f"));
  CHECK_NOTHROW(other.verify_body());
  check_all(look_up(other.view(), chosen), chosen.size());
}

BuildOptions store_options(const TemporaryFolder& folder, const std::string& name) {
  BuildOptions options = options_of(GENERATE(Layout::page, Layout::ribbon));
  options.memory_bytes = std::uint64_t{32} << 20;
  options.scratch_folder = folder.path();
  options.store_path = folder.file(name + ".store");
  options.store_seed = 3;
  return options;
}

FilterHeader update_store(const TemporaryFolder& folder, const BuildOptions& options, const Lines& added,
                          const Lines& removed) {
  return update_pair(folder.file("old"), folder.file("new"), options, added, removed);
}

TEST_CASE("an update unites the domains of the store and of added entries; domains of removed entries stay") {
  const TemporaryFolder folder;
  BuildOptions options = store_options(folder, "old");
  const Lines old = addresses_at(500, 0, 3000);
  const Lines added = addresses_at(900, 3000, 3000);
  Lines both = old;
  both.insert(both.end(), added.begin(), added.end());
  build_filter(folder.file("old"), old, options);
  CHECK(StoreFile(folder.file("old.store")).header().sender_domains == 500);
  CHECK_NOTHROW(StoreFile(folder.file("old.store")).verify(2));

  CHECK(update_store(folder, options, added, {}).sender_domains == 900);
  options.store_path = folder.file("want.store");
  build_filter(folder.file("want"), both, options);
  CHECK((read_file(folder.file("new")) == read_file(folder.file("want"))));
  CHECK((read_file(folder.file("new.store")) == read_file(folder.file("want.store"))));

  CHECK(update_store(folder, options, {}, old).sender_domains == 500);
  CHECK(update_store(folder, options, added, added).sender_domains == 900);
  options.sender_domains = false;
  CHECK(!update_store(folder, options, added, {}).sender_domains);
  CHECK(!StoreFile(folder.file("new.store")).header().knows_sender_domains());
}

TEST_CASE("the sender domains of a filter are compared with those of its store") {
  const TemporaryFolder folder;
  const auto agree = [&](const std::string& filter, const std::string& store) {
    require_sender_domains_of(StoreFile(folder.file(store + ".store")), MappedFilter(folder.file(filter)));
  };
  const Layout layout = GENERATE(Layout::page, Layout::ribbon);
  const auto build = [&](const std::string& name, const Lines& lines, bool with_domains) {
    BuildOptions options = options_of(layout);
    options.memory_bytes = std::uint64_t{32} << 20;
    options.store_path = folder.file(name + ".store");
    options.store_seed = 3;
    options.sender_domains = with_domains;
    build_filter(folder.file(name), lines, options);
  };
  build("all", addresses_at(500, 0, 1000), true);
  build("first", addresses_at(499, 0, 1000), true);
  build("without", addresses_at(500, 0, 1000), false);
  build("none", {}, true);
  for (const char* const name : {"all", "first", "without", "none"}) CHECK_NOTHROW(agree(name, name));
  CHECK_NOTHROW(agree("without", "all"));
  CHECK(error_code_of([&] { agree("all", "first"); }) == ErrorCode::bad_section);
  CHECK(error_code_of([&] { agree("first", "all"); }) == ErrorCode::bad_section);
  CHECK(error_code_of([&] { agree("all", "without"); }) == ErrorCode::bad_section);
  CHECK(error_code_of([&] { agree("none", "all"); }) == ErrorCode::bad_section);
}

TEST_CASE(
    "an update by a list whose domains were chosen for the store's seed is refused and leaves the pair as it is") {
  const TemporaryFolder folder;
  BuildOptions options = store_options(folder, "old");
  const Lines chosen = addresses_in_one_bucket(*options.store_seed, 0, 80);
  build_filter(folder.file("old"), {chosen.begin(), chosen.begin() + 40}, options);
  update_store(folder, options, {chosen.begin() + 40, chosen.begin() + 64}, {});
  const std::string filter = read_file(folder.file("new"));
  const std::string store = read_file(folder.file("new.store"));
  CHECK(error_code_of([&] { update_store(folder, options, {chosen.begin() + 40, chosen.end()}, {}); }) ==
        ErrorCode::bad_input);
  CHECK((read_file(folder.file("new")) == filter));
  CHECK((read_file(folder.file("new.store")) == store));
}

TEST_CASE("no filter with sender domains is made from a store without them") {
  const TemporaryFolder folder;
  BuildOptions options = store_options(folder, "old");
  options.sender_domains = false;
  build_filter(folder.file("old"), addresses_at(5, 0, 10), options);
  options.sender_domains = true;
  CHECK(error_code_of([&] { update_store(folder, options, {}, {}); }) == ErrorCode::bad_argument);
}

TEST_CASE("a counting filter keeps the domains of its senders, and so does its export") {
  const TemporaryFolder folder;
  BuildOptions options = options_of(Layout::counting);
  options.expected_entries = 5000;
  const Lines first = addresses_at(300, 0, 1000);
  const Lines second = addresses_at(400, 1000, 1000);
  Lines both = first;
  both.insert(both.end(), second.begin(), second.end());
  build_filter(folder.file("counting"), first, options);
  const auto change = [&](CountingChange kind, const Lines& lines) {
    return change_counters(folder.file("counting"), kind, lines).sender_domains;
  };
  CHECK(change(CountingChange::add, second) == 400);
  WriteProgress unseen;
  export_filter(MappedFilter(folder.file("counting")), folder.file("export"), 2, 0, kNeverStop, unseen);
  options.layout = Layout::page;
  build_filter(folder.file("page"), both, options);
  CHECK((read_file(folder.file("export")) == read_file(folder.file("page"))));
  CHECK(change(CountingChange::remove, second) == 400);
  check_all(look_up(MappedFilter(folder.file("counting")).view(), first), first.size());
}

TEST_CASE("domains of senders that fill several chunks of a file are copied whole") {
  const TemporaryFolder folder;
  const Lines lines = addresses_at(250'000, 0, 250'000);
  build_filter(folder.file("page"), lines, options_of(Layout::page));
  build_filter(folder.file("counting"), lines, options_of(Layout::counting));
  WriteProgress unseen;
  export_filter(MappedFilter(folder.file("counting")), folder.file("export"), 2, 0, kNeverStop, unseen);
  CHECK((read_file(folder.file("export")) == read_file(folder.file("page"))));
}

}  // namespace
}  // namespace bloomgate::test
