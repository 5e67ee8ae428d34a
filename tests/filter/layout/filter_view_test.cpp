#include "filter/layout/filter_view.hpp"

#include <string>
#include <vector>

#include "filter/layout/layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate {
namespace {

// A filter in memory with room to spare: false positives are one in 10^20 here, so that tests can rely on "not listed".
class SmallFilter {
 public:
  explicit SmallFilter(const std::vector<std::string>& lines, const std::vector<std::string>& excluded = {}) {
    for (const std::string& line : lines) filter_.insert(line);
    for (const std::string& key : excluded) filter_.exclude(key);
  }

  FilterView view() const { return filter_.view(); }

 private:
  test::MemoryFilter filter_{{.hashes = 20, .block_count = 4, .seed = 7}};
};

TEST_CASE("a key is found if and only if it was added") {
  const SmallFilter filter({"joe@example.org", "ann@example.net"});
  CHECK(filter.view().may_contain("joe@example.org"));
  CHECK(filter.view().may_contain("ann@example.net"));
  CHECK_FALSE(filter.view().may_contain("joe@example.net"));
  CHECK_FALSE(filter.view().may_contain("Joe@example.org"));
  CHECK_FALSE(filter.view().may_contain(""));
}

TEST_CASE("an address is listed by the most specific entry that covers it") {
  const SmallFilter filter(
      {"joe@example.org", "@example.org", "@.example.net", "@.deep.example.net", "@[192.0.2.1]", "@.com"});
  struct Row {
    const char* name;
    std::string path;
    Match want;
    std::string_view entry = {};
  };
  const Row row = GENERATE(values<Row>({
      {"itself before its domain", "<joe@example.org>", Match::address},
      {"its domain", "<ann@example.org>", Match::domain, "@example.org"},
      {"@domain does not cover what is below", "<ann@mail.example.org>", Match::none},
      {"@.domain covers the domain", "<ann@example.net>", Match::domain_tree, "@.example.net"},
      {"@.domain covers one label below", "<ann@mail.example.net>", Match::domain_tree, "@.example.net"},
      {"@.domain covers many labels below", "<ann@a.b.c.d.example.net>", Match::domain_tree, "@.example.net"},
      {"the nearest of several trees", "<ann@x.deep.example.net>", Match::domain_tree, "@.deep.example.net"},
      {"@.domain does not cover a longer name with the same end", "<ann@notexample.net>", Match::none},
      {"a top-level domain", "<ann@anything.com>", Match::domain_tree, "@.com"},
      {"an address literal", "<ann@[192.0.2.1]>", Match::domain, "@[192.0.2.1]"},
      {"another address literal", "<ann@[192.0.2.2]>", Match::none},
      {"another domain", "<ann@example.de>", Match::none},
      {"the null sender", "<>", Match::none},
      {"not an address", "<nonsense>", Match::none},
  }));
  CAPTURE(row.name);
  const Entry sender = canonicalize_path(row.path);
  const FoundEntry found = filter.view().find(sender);
  CHECK(found.match == row.want);
  CHECK(found.is_listed() == (row.want != Match::none));
  CHECK(found.domain_entry().view() == row.entry);
}

TEST_CASE("domain entries are not in the bits, and addresses are not in the domain entries") {
  const SmallFilter filter({"joe@example.org", "@example.net", "@.example.com"});
  CHECK_FALSE(filter.view().may_contain("@example.net"));
  CHECK_FALSE(filter.view().may_contain("@.example.com"));
  CHECK(filter.view().contains_domain("@example.net"));
  CHECK(filter.view().contains_domain("@.example.com"));
  CHECK_FALSE(filter.view().contains_domain("joe@example.org"));
  CHECK_FALSE(filter.view().contains_domain("@.example.net"));
}

TEST_CASE("a domain entry's hash is of the filter's own hash family and seed") {
  for (const HashFamily family : kHashFamilies) {
    const FilterShape shape = {.hash_family = family, .block_count = 1, .seed = 7};
    CHECK(hash_of_domain(shape, "@example.org") == hash_key("@example.org", 7, family));
  }
}

TEST_CASE("domain entries are found by their own spelling") {
  const SmallFilter filter({"@example.org", "@.example.net"});
  CHECK(filter.view().find(canonicalize_line("@Example.ORG")).match == Match::domain);
  CHECK(filter.view().find(canonicalize_line("@Example.ORG")).domain_entry().view() == "@example.org");
  CHECK(filter.view().find(canonicalize_line("@.example.net.")).match == Match::domain_tree);
  CHECK(filter.view().find(canonicalize_line("@.example.net.")).domain_entry().view() == "@.example.net");
  for (const char* const line : {"@.example.org", "@example.net", "@.mail.example.net", "@mail.example.net",
                                 "@mail.example.org", "# a comment", "nonsense", ""}) {
    INFO(line);
    CHECK(filter.view().find(canonicalize_line(line)).match == Match::none);
  }
}

TEST_CASE("the longest possible domain is looked up at every level") {
  std::string domain;
  while (domain.size() < 250) domain += "a.";
  domain += "org";
  const SmallFilter filter({"@.org"});
  const Entry entry = canonicalize_line("@." + domain);
  REQUIRE(entry.is_key());
  const Entry address = canonicalize_path("<j@" + domain.substr(4) + ">");
  REQUIRE(address.is_key());
  CHECK(filter.view().find(address).match == Match::domain_tree);
}

TEST_CASE("an excluded sender is not listed though its bits are set, unless a domain entry lists it") {
  // Put in and excluded: what a false positive looks like.
  const SmallFilter filter({"joe@example.org", "eve@example.org", "eve@example.net", "@.example.net"},
                           {"eve@example.org", "eve@example.net", "bob@example.org"});
  CHECK(filter.view().may_contain("joe@example.org"));
  CHECK_FALSE(filter.view().is_excluded("joe@example.org"));
  CHECK_FALSE(filter.view().may_contain("eve@example.org"));
  CHECK(filter.view().is_excluded("eve@example.org"));
  CHECK_FALSE(filter.view().may_contain("bob@example.org"));
  CHECK_FALSE(filter.view().is_excluded("bob@example.org"));

  const FoundEntry joe = filter.view().find(canonicalize_path("<joe@example.org>"));
  CHECK(joe.match == Match::address);
  CHECK_FALSE(joe.is_excluded);
  const FoundEntry eve = filter.view().find(canonicalize_path("<Eve@example.org>"));
  CHECK(eve.match == Match::none);
  CHECK(eve.is_excluded);
  const Entry by_domain = canonicalize_path("<eve@example.net>");
  CHECK(filter.view().find(by_domain).match == Match::domain_tree);
  CHECK(filter.view().find(by_domain).domain_entry().view() == "@.example.net");
  CHECK(filter.view().find(by_domain).is_excluded);
  CHECK_FALSE(filter.view().find(canonicalize_path("<bob@example.org>")).is_excluded);
}

TEST_CASE("in every layout and hash family an excluded sender is not found, and an entry is") {
  const Layout layout = GENERATE(Layout::page, Layout::line, Layout::classic, Layout::partitioned);
  const HashFamily family = GENERATE(from_range(std::begin(kHashFamilies), std::end(kHashFamilies)));
  CAPTURE(layout_rules(layout).name(), hash_family_name(family));
  FilterShape shape = {.layout = layout, .hash_family = family, .hashes = 20, .seed = 3};
  shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
  shape.block_count = 4096;
  test::MemoryFilter filter(shape);
  filter.insert("joe@example.org");
  filter.insert("eve@example.org");
  filter.exclude("eve@example.org");
  CHECK(filter.view().may_contain("joe@example.org"));
  CHECK_FALSE(filter.view().may_contain("eve@example.org"));
}

TEST_CASE("the ones of a body are counted") {
  std::vector<std::byte> body(4096);
  CHECK(FilterView({.block_count = 1}, body).count_ones() == 0);
  body[0] = std::byte{0xff};
  body[4095] = std::byte{0x81};
  CHECK(FilterView({.block_count = 1}, body).count_ones() == 10);
  CHECK(FilterView({.block_count = 1}, std::vector<std::byte>(4096, std::byte{0xff})).count_ones() == 8 * 4096);
}

TEST_CASE("each kind of match has its name, and is that of the entries of its kind") {
  const std::string_view names[] = {"not-listed",   "address",           "domain",      "domain-tree",
                                    "mailing-list", "mailing-list-tree", "with-signer", "not-listed"};
  for (std::size_t i = 0; i < std::size(names); ++i) CHECK(match_name(static_cast<Match>(i)) == names[i]);
  CHECK(match_of(EntryKind::domain) == Match::domain);
  CHECK(match_of(EntryKind::domain_tree) == Match::domain_tree);
  CHECK(match_of(EntryKind::mailing_list) == Match::mailing_list);
  CHECK(match_of(EntryKind::mailing_list_tree) == Match::mailing_list_tree);
  CHECK(match_of(EntryKind::with_signer) == Match::with_signer);
}

}  // namespace
}  // namespace bloomgate
