// Look-ups of mailing lists, and of entries with a signer, in a filter: both are found exactly, and never in the bits.
#include <string>
#include <vector>

#include "filter/layout/filter_view.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate::test {
namespace {

FilterShape roomy() {
  return {.hashes = 20, .block_count = 4, .seed = 7};
}

MemoryFilter filter_of(const std::vector<std::string>& lines) {
  MemoryFilter filter(roomy());
  for (const std::string& line : lines) filter.insert(line);
  return filter;
}

TEST_CASE("a mailing list is listed by itself or by a host above it, and a host is no list of itself") {
  const MemoryFilter filter =
      filter_of({"list:announce.lists.example.org", "list:*.lists.example.org", "list:*.deep.lists.example.org",
                 "list:news.example.net", "@.example.com", "joe@lists.example.com"});
  struct Row {
    std::string line;
    Match want;
    std::string_view entry = {};
  };
  const Row row = GENERATE(values<Row>({
      {"list:announce.lists.example.org", Match::mailing_list, "list:announce.lists.example.org"},
      {"LIST:Announce.Lists.Example.ORG.", Match::mailing_list, "list:announce.lists.example.org"},
      {"list:users.lists.example.org", Match::mailing_list_tree, "list:*.lists.example.org"},
      {"list:a.b.c.lists.example.org", Match::mailing_list_tree, "list:*.lists.example.org"},
      {"list:x.deep.lists.example.org", Match::mailing_list_tree, "list:*.deep.lists.example.org"},
      {"list:deep.lists.example.org", Match::mailing_list_tree, "list:*.lists.example.org"},
      {"list:lists.example.org", Match::none},
      {"list:example.org", Match::none},
      {"list:notlists.example.org", Match::none},
      {"list:news.example.net", Match::mailing_list, "list:news.example.net"},
      {"list:a.news.example.net", Match::none},
      {"list:lists.example.com", Match::none},  // only its domain is listed, for addresses
      {"list:*.lists.example.org", Match::mailing_list_tree, "list:*.lists.example.org"},
      {"list:*.announce.lists.example.org", Match::none},
      {"list:*.example.org", Match::none},
      {"joe@announce.lists.example.org", Match::none},
      {"@announce.lists.example.org", Match::none},
      {"@.lists.example.org", Match::none},
  }));
  CAPTURE(row.line);
  const Entry entry = canonicalize_list_line(row.line);
  REQUIRE(entry.is_key());
  const FoundEntry found = filter.view().find(entry);
  CHECK(found.match == row.want);
  CHECK(found.domain_entry().view() == row.entry);
}

TEST_CASE("if every bit is set, no mailing list and no entry with a signer is found") {
  const FilterShape shape = roomy();
  const std::vector<std::byte> full(body_bytes(shape), std::byte{0xff});
  const FilterView view(shape, full, {}, {}, {.pairs_in_bits = 9, .domain_pairs = true, .signers = true});
  REQUIRE(view.may_contain("joe@example.org"));
  for (const char* line : {"list:a.example", "list:*.example", "joe@example.org signed-by esp.example",
                           "@example.org signed-by esp.example", "list:a.example signed-by esp.example"}) {
    CAPTURE(line);
    CHECK_FALSE(view.find(canonicalize_list_line(line)).is_listed());
  }
  CHECK(view.find_with_signer("joe@example.org", "esp.example").view().empty());
  CHECK(view.find_with_signer("list:a.example", "esp.example").view().empty());
  CHECK_FALSE(view.find_pair("list:a.example", "ann@ours.example").is_listed());
  CHECK(view.find_pair("joe@example.org", "ann@ours.example").is_listed());
}

TEST_CASE("with a signer the most specific entry is found, and only with that signer") {
  const MemoryFilter filter =
      filter_of({"billing@bank.example signed-by esp.example", "@bank.example signed-by other.example",
                 "@.shop.example signed-by esp.example", "list:a.example signed-by esp.example",
                 "list:*.lists.example signed-by esp.example", "ann@bank.example"});
  const FilterView view = filter.view();
  const auto found = [&](std::string_view key, std::string_view signer) {
    return std::string(view.find_with_signer(key, signer).view());
  };
  CHECK(view.holds_signers());
  CHECK(found("billing@bank.example", "esp.example") == "billing@bank.example signed-by esp.example");
  CHECK(found("billing@bank.example", "other.example") == "@bank.example signed-by other.example");
  CHECK(found("joe@bank.example", "other.example") == "@bank.example signed-by other.example");
  CHECK(found("joe@a.shop.example", "esp.example") == "@.shop.example signed-by esp.example");
  CHECK(found("list:a.example", "esp.example") == "list:a.example signed-by esp.example");
  CHECK(found("list:b.lists.example", "esp.example") == "list:*.lists.example signed-by esp.example");
  for (const auto& [key, signer] : std::vector<std::pair<std::string, std::string>>{
           {"joe@bank.example", "esp.example"},           // another address
           {"billing@bank.example", "mail.esp.example"},  // a host below the signer
           {"billing@bank.example", "example"},           // one above it
           {"billing@bank.example", "bank.example"},      // the domain's own
           {"billing@mail.bank.example", "esp.example"},
           {"ann@bank.example", "bank.example"},  // listed by itself: without a signer
           {"list:b.example", "esp.example"},
           {"a@example", "esp.example"}}) {
    CAPTURE(key, signer);
    CHECK(found(key, signer).empty());
  }
}

TEST_CASE(
    "an entry with a signer lists no sender without the signer, and an entry without one lists no sender with it") {
  const MemoryFilter filter = filter_of({"joe@example.org signed-by esp.example", "@example.net signed-by esp.example",
                                         "list:a.example signed-by esp.example", "ann@example.com", "list:b.example"});
  const FilterView view = filter.view();
  const auto match = [&](std::string_view line) { return view.find(canonicalize_list_line(line)).match; };
  CHECK(match("joe@example.org") == Match::none);
  CHECK(match("joe@example.net") == Match::none);
  CHECK(match("@example.net") == Match::none);
  CHECK(match("list:a.example") == Match::none);
  CHECK(match("ann@example.com signed-by esp.example") == Match::none);
  CHECK(match("list:b.example signed-by esp.example") == Match::none);
  CHECK(match("JOE@example.org signed-by ESP.example") == Match::with_signer);
  CHECK(match("list:a.example signed-by esp.example") == Match::with_signer);
}

TEST_CASE("an address is listed with a signer by its domain's entry with that signer") {
  const MemoryFilter filter =
      filter_of({"@.bank.example signed-by esp.example", "list:*.lists.example signed-by esp.example"});
  const auto match = [&](std::string_view line) { return filter.view().find(canonicalize_list_line(line)).match; };
  CHECK(match("joe@mail.bank.example signed-by esp.example") == Match::with_signer);
  CHECK(match("@mail.bank.example signed-by esp.example") == Match::with_signer);
  CHECK(match("list:a.lists.example signed-by esp.example") == Match::with_signer);
  CHECK(match("joe@bank.example.net signed-by esp.example") == Match::none);
  CHECK(match("joe@bank.example signed-by mail.esp.example") == Match::none);
}

TEST_CASE("no signer is asked for in a filter that does not say that it has entries with one") {
  const FilterShape shape = roomy();
  const std::vector<std::byte> body(body_bytes(shape));
  const auto hashes = bytes_of_hashes({hash_of_domain(shape, "joe@example.org signed-by esp.example")});
  const FilterView without(shape, body, SortedHashes(hashes));
  CHECK_FALSE(without.holds_signers());
  CHECK(without.find_with_signer("joe@example.org", "esp.example").view().empty());
  const FilterView with(shape, body, SortedHashes(hashes), {}, {.signers = true});
  CHECK(with.holds_signers());
  CHECK_FALSE(with.find_with_signer("joe@example.org", "esp.example").view().empty());
}

TEST_CASE("a mailing list is listed for a recipient by the most specific pair, and for others not") {
  const MemoryFilter filter = filter_of({"list:a.lists.example > ann@ours.example",
                                         "list:*.lists.example > @ours.example", "joe@example.org > ann@ours.example"});
  const FilterView view = filter.view();
  const auto found = [&](std::string_view list, std::string_view recipient) {
    return entry_text(view.find_pair(list, recipient).key.view());
  };
  CHECK(view.holds_pairs());
  CHECK_FALSE(view.holds_signers());
  CHECK(found("list:a.lists.example", "ann@ours.example") == "list:a.lists.example > ann@ours.example");
  CHECK(found("list:a.lists.example", "bob@ours.example") == "list:*.lists.example > @ours.example");
  CHECK(found("list:b.lists.example", "ann@ours.example") == "list:*.lists.example > @ours.example");
  CHECK(found("list:lists.example", "ann@ours.example").empty());
  CHECK(found("list:a.lists.example", "ann@mail.ours.example").empty());
  CHECK(found("list:example.org", "ann@ours.example").empty());
  CHECK_FALSE(view.find(canonicalize_list_line("list:a.lists.example")).is_listed());
}

TEST_CASE("each kind of match of mailing lists and signers has its name") {
  CHECK(match_name(Match::mailing_list) == "mailing-list");
  CHECK(match_name(Match::mailing_list_tree) == "mailing-list-tree");
  CHECK(match_name(Match::with_signer) == "with-signer");
}

}  // namespace
}  // namespace bloomgate::test
