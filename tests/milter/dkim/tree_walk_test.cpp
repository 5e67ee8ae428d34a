// The walk up the DMARC records of the DNS: RFC 9989 sections 4.10 to 4.10.2, and its examples in appendix B.4.
#include "milter/dkim/tree_walk.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "milter/fields/alignment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/items_of.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;
using Names = std::vector<std::string_view>;

// The DNS of a test: "example.com, mail.example.com adkim=s" has a record for each of the two names. What stands behind
// a name is the end of its record, or all of it where it starts with "v="; "!" is a failure.
TreeWalk walk(std::string_view domain, const std::string& records, Names* asked = nullptr) {
  return walk_tree(domain, [&](std::string_view name) -> WalkAnswer {
    if (asked != nullptr) asked->push_back(name);
    for (const std::string_view each : test::items_of(records)) {
      const std::size_t end = std::min(each.find(' '), each.size());
      if (each.substr(0, end) != name) continue;
      const std::string text(each.substr(std::min(end + 1, each.size())));
      if (text == "!") return {.fault = Outcome::name_timeout};
      if (text.starts_with("v=")) return {.record = read_dmarc_record(text)};
      return {.record = read_dmarc_record("v=DMARC1; p=none" + (text.empty() ? "" : "; " + text))};
    }
    return {};
  });
}

std::string_view organization(std::string_view domain, const std::string& records) {
  const TreeWalk found = walk(domain, records);
  CHECK(found.fault == Outcome::pass);
  return found.organization;
}

TEST_CASE("a walk queries the domain and all above it, and with more than eight labels skips to seven") {
  CHECK(walk_names("example.org") == Names{"example.org", "org"});
  CHECK(walk_names("org") == Names{"org"});
  CHECK(walk_names("").empty());
  CHECK(walk_names("a.mail.example.com") == Names{"a.mail.example.com", "mail.example.com", "example.com", "com"});
  CHECK(walk_names("f.g.h.i.j.k.example.com") == Names{"f.g.h.i.j.k.example.com", "g.h.i.j.k.example.com",
                                                       "h.i.j.k.example.com", "i.j.k.example.com", "j.k.example.com",
                                                       "k.example.com", "example.com", "com"});
  CHECK(walk_names("a.b.c.d.e.f.g.h.i.j.mail.example.com") ==
        Names{"a.b.c.d.e.f.g.h.i.j.mail.example.com", "g.h.i.j.mail.example.com", "h.i.j.mail.example.com",
              "i.j.mail.example.com", "j.mail.example.com", "mail.example.com", "example.com", "com"});
  std::string longest = "example.org";
  while (longest.size() + 2 <= kMaxDomainBytes) {
    longest.insert(0, "a.");
    CHECK(walk_names(longest).size() <= kMaxWalkNames);
  }
}

TEST_CASE("the organisational domain is the highest one with a record, unless a record says otherwise") {
  struct Case {
    std::string_view sentence, domain;
    std::string records;
    std::string_view want;
  };
  const Case cases[] = {
      {"the domain's own record alone", "mail.example.com", "mail.example.com", "mail.example.com"},
      {"a record between", "a.mail.example.com", "mail.example.com", "mail.example.com"},
      {"two records", "a.mail.example.com", "mail.example.com, example.com adkim=s", "example.com"},
      {"psd=u", "a.mail.example.com", "mail.example.com, example.com v=DMARC1; psd=u", "example.com"},
      {"psd=n of a part", "a.mail.example.com", "mail.example.com psd=n, example.com", "mail.example.com"},
      {"psd=n of the domain", "mail.example.com", "mail.example.com psd=n, example.com", "mail.example.com"},
      {"psd=y above", "a.mail.example.com", "example.com psd=y", "mail.example.com"},
      {"psd=y directly above", "mail.example.com", "mail.example.com, example.com psd=y", "mail.example.com"},
      {"psd=y of the domain", "mail.example.com", "mail.example.com psd=y, example.com", "mail.example.com"},
      {"psd=n below psd=y", "a.mail.example.com", "a.mail.example.com psd=n, example.com psd=y", "a.mail.example.com"},
      {"a record below psd=y", "a.mail.example.com", "a.mail.example.com, example.com psd=y", "mail.example.com"},
      {"another text", "a.mail.example.com", "a.mail.example.com v=spf1 -all, mail.example.com", "mail.example.com"},
      {"no record", "a.mail.example.com", "", "example.com"},
      {"only other texts", "a.mail.example.com", "mail.example.com v=spf1 -all", "example.com"},
      // Section 4.10.2
      {"psd=y at the top", "a.mail.example.com", "com psd=y", "example.com"},
      // Appendix B.4
      {"simple", "signing.example.com", "example.com, signing.example.com", "example.com"},
      {"deep", "a.b.c.d.e.f.g.h.i.j.k.example.com", "example.com", "example.com"},
      {"a bank", "giant.bank.example", "giant.bank.example, bank.example psd=y", "giant.bank.example"},
      {"its mail", "mail.giant.bank.example", "giant.bank.example, bank.example psd=y", "giant.bank.example"},
      {"another one's", "mail.mega.bank.example", "giant.bank.example, bank.example psd=y", "mega.bank.example"},
      // The name one label below psd=y has been skipped.
      {"psd=y at seven labels", "a.b.c.d.e.f.g.example.com", "c.d.e.f.g.example.com psd=y", "b.c.d.e.f.g.example.com"},
      {"a record that is skipped", "a.b.c.d.e.f.g.example.com", "b.c.d.e.f.g.example.com", "example.com"},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    CHECK(organization(c.domain, c.records) == c.want);
  }
}

TEST_CASE("an organisation is never above the organisational domain by the Public Suffix List") {
  struct Case {
    std::string_view sentence, domain;
    std::string records;
    std::string_view want;
  };
  const Case cases[] = {
      {"a top-level domain with a record", "a.bank.com", "com", "bank.com"},
      {"... and one of the domain", "a.bank.com", "a.bank.com, com", "bank.com"},
      {"... with psd=n", "a.bank.com", "com psd=n", "bank.com"},
      {"a suffix of two labels", "bank.co.uk", "co.uk", "bank.co.uk"},
      {"... below one that knows itself", "mail.bank.co.uk", "uk psd=y", "bank.co.uk"},
      {"a host of the list's private part", "www.joe.github.io", "github.io", "joe.github.io"},
      {"... with psd=n", "www.joe.github.io", "github.io psd=n", "joe.github.io"},
      {"... and a top-level domain with psd=y", "www.joe.github.io", "io psd=y", "joe.github.io"},
      {"... that is asked for itself", "github.io", "io", "github.io"},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    CHECK(organization(c.domain, c.records) == c.want);
  }
}

TEST_CASE("the domain's own record says who may sign, or that of its organisational domain, or the next one above") {
  struct Case {
    std::string_view sentence, domain;
    std::string records;
    Adkim want;
  };
  const Case cases[] = {
      {"none", "mail.example.com", "", Adkim::relaxed},
      {"its own", "mail.example.com", "mail.example.com adkim=s, example.com", Adkim::strict},
      {"its own allows", "mail.example.com", "mail.example.com, example.com adkim=s", Adkim::relaxed},
      {"the organisation's", "mail.example.com", "example.com adkim=s", Adkim::strict},
      {"not one between", "a.mail.example.com", "mail.example.com adkim=s, example.com", Adkim::relaxed},
      {"... also if it is strict", "a.mail.example.com", "mail.example.com, example.com adkim=s", Adkim::strict},
      {"a part's that is an organisation", "a.mail.example.com",
       "mail.example.com v=DMARC1; psd=n; adkim=s, example.com", Adkim::strict},
      {"a suffix's", "mail.example.com", "com v=DMARC1; psd=y; adkim=s", Adkim::strict},
      {"not a suffix's beside the organisation's", "mail.example.com", "example.com, com v=DMARC1; psd=y; adkim=s",
       Adkim::relaxed},
      {"not a part's below psd=y", "a.b.example.com", "b.example.com adkim=s, com psd=y", Adkim::relaxed},
      {"a suffix's that does not know itself", "mail.example.com", "com adkim=s", Adkim::strict},
      {"the organisation's below such a suffix", "mail.example.com", "example.com adkim=s, com", Adkim::strict},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    CHECK((walk(c.domain, c.records).adkim == c.want));
  }
}

TEST_CASE("a walk ends at psd=n and psd=y, and at a name whose record is unknown") {
  const auto asked = [](const std::string& records) {
    Names names;
    walk("a.mail.example.com", records, &names);
    return names.size();
  };
  CHECK(asked("") == 4);
  CHECK(asked("mail.example.com, example.com v=spf1 -all") == 4);
  CHECK(asked("mail.example.com psd=n") == 2);
  CHECK(asked("a.mail.example.com psd=y") == 1);
  CHECK(asked("example.com psd=y") == 3);
  CHECK(asked("mail.example.com !") == 2);
  CHECK(asked("mail.example.com v=DMARC1; psd=x") == 2);
}

TEST_CASE("if a relevant record is unknown, so is the organisation") {
  CHECK(walk("a.mail.example.com", "a.mail.example.com, com !").fault == Outcome::name_timeout);
  CHECK(walk("mail.example.com", "mail.example.com v=DMARC1; psd=x").fault == Outcome::other_domain_not_allowed);
  CHECK(walk("mail.example.com", "example.com v=DMARC1; p=none; p=none").fault == Outcome::other_domain_not_allowed);
  // Above psd=n nothing matters.
  CHECK(walk("mail.example.com", "mail.example.com psd=n, com !").fault == Outcome::pass);
  // What has a psd that can be read has said what it is.
  CHECK(walk("mail.example.com", "example.com v=DMARC1; adkim=x").fault == Outcome::pass);
  CHECK((walk("mail.example.com", "example.com v=DMARC1; adkim=x").adkim == Adkim::strict));
}

}  // namespace
}  // namespace bloomgate
