// Who a message is from, by each identity rule.
#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

using test::Row;
using test::World;

Policy with(IdentityRule identity, AuthenticationRule authentication = AuthenticationRule::required) {
  return {.identity = identity, .authentication = authentication};
}

constexpr std::string_view kSpf = "spf=pass smtp.mailfrom=example.org";
constexpr std::string_view kDkim = "dkim=pass header.d=example.org";
constexpr std::string_view kDmarc = "dmarc=pass header.from=example.org; dkim=pass header.d=example.org";

TEST_CASE("decide: either the envelope sender or the From mailbox has to be listed and authenticated") {
  const Row rows[] = {
      {"A listed envelope sender whom SPF passes is delivered.", "joe@example.org", "x@other.example", kSpf,
       "deliver listed envelope spf @main"},
      {"A listed envelope sender who is the From mailbox, and whose domain signed, is delivered.", "joe@example.org",
       "joe@example.org", kDkim, "deliver listed envelope dkim @main"},
      {"A listed envelope sender is borrowed where another of the domain wrote the message.", "joe@example.org",
       "neighbour@example.org", kDkim, "check not-authenticated envelope @main"},
      {"A listed From mailbox whose domain signed is delivered, whatever the mailing service's envelope.",
       "b-1234@mail.service.example", "joe@example.org", kDkim, "deliver listed header-from dkim @main"},
      {"A listed From mailbox that DMARC passes is delivered.", "b-1234@mail.service.example", "joe@example.org",
       kDmarc, "deliver listed header-from dmarc @main"},
      {"Where both will do, the envelope sender is named.", "joe@example.org", "joe@example.org", kDmarc,
       "deliver listed envelope dmarc @main"},
      {"A bounce is checked, even with a good signature.", "", "joe@example.org", kDkim, "check null-sender envelope"},
      {"An unlisted From mailbox does not help the null sender.", "", "x@other.example",
       "dkim=pass header.d=other.example", "check null-sender envelope"},
      {"A malformed envelope sender is checked, since a mail server may take it for the null sender.", "joe",
       "joe@example.org", kDkim, "check malformed-sender envelope"},
      {"So is a route to nobody.", "@relay.example:", "joe@example.org", kDkim, "check malformed-sender envelope"},
      {"So is an empty quoted string.", "\"\"", "joe@example.org", kDkim, "check malformed-sender envelope"},
      {"A listed domain lists every envelope sender in it.", "any@corp.example", "x@other.example",
       "spf=pass smtp.mailfrom=corp.example", "deliver listed-domain envelope spf @main by @corp.example"},
      {"A listed domain lists every From mailbox in it.", "x@other.example", "any@corp.example",
       "dkim=pass header.d=corp.example", "deliver listed-domain header-from dkim @main by @corp.example"},
      {"A listed tree lists what is below its domain.", "any@a.b.tree.example", "x@other.example",
       "spf=pass smtp.mailfrom=a.b.tree.example", "deliver listed-domain-tree envelope spf @main by @.tree.example"},
      {"A listed tree lists the domain itself.", "x@other.example", "any@tree.example",
       "dmarc=pass header.from=tree.example; dkim=pass header.d=tree.example",
       "deliver listed-domain-tree header-from dmarc @main by @.tree.example"},
      {"A listed domain does not list what is below it.", "any@sub.corp.example", "x@other.example",
       "spf=pass smtp.mailfrom=sub.corp.example", "check not-listed envelope spf"},
      {"No sender is listed: no message is delivered, however authenticated.", "x@other.example", "y@other.example",
       "dkim=pass header.d=other.example", "check not-listed envelope dkim"},
      {"A listed envelope sender whom nobody vouches for is checked.", "joe@example.org", "x@other.example", "",
       "check not-authenticated envelope @main"},
      {"A listed From mailbox whom nobody vouches for is checked, and told of before an unlisted envelope sender.",
       "x@other.example", "joe@example.org", "", "check not-authenticated header-from @main"},
      {"Where both are listed and neither is authenticated, the envelope sender is told of.", "joe@example.org",
       "ann@bank.example", "", "check not-authenticated envelope @main"},
      {"An unauthenticated listed envelope sender does not hinder an authenticated listed From mailbox.",
       "ann@bank.example", "joe@example.org", kDkim, "deliver listed header-from dkim @main"},
      {"An authenticated stranger does not help a forged listed From mailbox.", "x@other.example", "joe@example.org",
       "spf=pass smtp.mailfrom=other.example; dkim=pass header.d=other.example",
       "check not-authenticated header-from @main"},
      {"Case does not matter.", "JOE@Example.ORG", "x@other.example", kSpf, "deliver listed envelope spf @main"},
      {"An international domain is one in either form.", "joe@m\xc3\xbcller.example", "x@other.example",
       "spf=pass smtp.mailfrom=xn--mller-kva.example", "deliver listed envelope spf @main"},
      {"Quotes that are needed are kept.", "\"odd name\"@example.org", "x@other.example", kSpf,
       "deliver listed envelope spf @main"},
      {"Quotes that are not needed are taken off.", "x@other.example", "\"joe\"@example.org", kDkim,
       "deliver listed header-from dkim @main"},
      {"The second whitelist lists as well as the first.", "pat@partner.example", "x@other.example",
       "spf=pass smtp.mailfrom=partner.example", "deliver listed envelope spf @partners"},
      {"A tag is taken off where the whitelist's profile says so.", "pat+news@partner.example", "x@other.example",
       "spf=pass smtp.mailfrom=partner.example", "deliver listed envelope spf @partners"},
      {"A tag is kept where the whitelist's profile says so.", "joe+news@example.org", "x@other.example", kSpf,
       "check not-listed envelope spf"},
  };
  World().expect(rows);
}

TEST_CASE("decide: the rule `envelope` needs only the envelope sender") {
  const Row rows[] = {
      {"A listed envelope sender whom SPF passes is delivered.", "joe@example.org", "x@other.example", kSpf,
       "deliver listed envelope spf @main"},
      {"A listed and authenticated From mailbox does not count.", "x@other.example", "joe@example.org", kDkim,
       "check not-listed envelope"},
      {"The null sender is checked, whatever the From mailbox.", "", "joe@example.org", kDkim,
       "check null-sender envelope"},
      {"A malformed envelope sender is checked, whatever the From mailbox.", "joe@@example.org", "joe@example.org",
       kDkim, "check malformed-sender envelope"},
      {"A listed envelope sender whom nobody vouches for is checked.", "joe@example.org", "joe@example.org", "",
       "check not-authenticated envelope @main"},
      {"DMARC of the From mailbox vouches for the same envelope sender.", "joe@example.org", "joe@example.org", kDmarc,
       "deliver listed envelope dmarc @main"},
      {"DMARC of the From domain does not vouch for another envelope sender of it.", "joe@example.org",
       "else@example.org", kDmarc, "check not-authenticated envelope @main"},
      {"DMARC of another From domain does not.", "joe@example.org", "x@other.example",
       "dmarc=pass header.from=other.example", "check not-authenticated envelope @main"},
  };
  World(with(IdentityRule::envelope)).expect(rows);
}

TEST_CASE("decide: the rule `header-from` needs only the From mailbox") {
  const Row rows[] = {
      {"A listed From mailbox whose domain signed is delivered.", "x@other.example", "joe@example.org", kDkim,
       "deliver listed header-from dkim @main"},
      {"A listed and authenticated envelope sender does not count.", "joe@example.org", "x@other.example", kSpf,
       "check not-listed header-from"},
      {"The null sender is checked, whatever the From mailbox.", "", "joe@example.org", kDkim,
       "check null-sender envelope"},
      {"A malformed envelope sender is checked, whatever the From mailbox.", "joe", "joe@example.org", kDkim,
       "check malformed-sender envelope"},
      {"SPF vouches for the From mailbox where the envelope sender has its domain.", "else@example.org",
       "joe@example.org", kSpf, "deliver listed header-from spf @main"},
      {"A pass of SPF for a domain that the envelope sender has not is none.", "x@other.example", "joe@example.org",
       kSpf, "check not-authenticated header-from @main"},
      {"A forged From mailbox is checked.", "x@other.example", "joe@example.org", "",
       "check not-authenticated header-from @main"},
  };
  World(with(IdentityRule::header_from)).expect(rows);
}

TEST_CASE("decide: the rule `both` needs both senders listed and authenticated") {
  const Row rows[] = {
      {"Both listed and authenticated, it is delivered.", "joe@example.org", "ann@bank.example",
       "spf=pass smtp.mailfrom=example.org; dkim=pass header.d=bank.example", "deliver listed both dkim @main"},
      {"The same address in both places is both.", "joe@example.org", "joe@example.org", kDkim,
       "deliver listed both dkim @main"},
      {"The envelope sender is not listed.", "x@other.example", "joe@example.org", kDkim, "check not-listed envelope"},
      {"The From mailbox is not listed.", "joe@example.org", "x@other.example", kSpf, "check not-listed header-from"},
      {"The envelope sender is not authenticated.", "ann@bank.example", "joe@example.org", kDkim,
       "check not-authenticated envelope @main"},
      {"The From mailbox is not authenticated.", "joe@example.org", "ann@bank.example", kSpf,
       "check not-authenticated header-from @main"},
      {"The null sender is not one of two.", "", "joe@example.org", kDkim, "check null-sender envelope"},
      {"A malformed sender is not one of two.", "joe", "joe@example.org", kDkim, "check malformed-sender envelope"},
      {"They may be on different lists.", "joe@example.org", "pat@partner.example",
       "spf=pass smtp.mailfrom=example.org; dkim=pass header.d=partner.example", "deliver listed both dkim @partners"},
      {"They may be listed in different ways; the From mailbox's is told.", "joe@example.org", "any@corp.example",
       "spf=pass smtp.mailfrom=example.org; dkim=pass header.d=corp.example",
       "deliver listed-domain both dkim @main by @corp.example"},
  };
  World(with(IdentityRule::both)).expect(rows);
}

TEST_CASE("decide: a From field that is not one mailbox is checked with its own reason") {
  const Row rows[] = {
      {"No From field.", "joe@example.org", "!absent", kSpf, "check no-header-from header-from"},
      {"Several From fields.", "joe@example.org", "!several-fields", kSpf, "check several-from-fields header-from"},
      {"Several mailboxes.", "joe@example.org", "!several-mailboxes", kSpf, "check several-from-mailboxes header-from"},
      {"No mailbox.", "joe@example.org", "!no-mailbox", kSpf, "check no-from-mailbox header-from"},
      {"A malformed field.", "joe@example.org", "!malformed", kSpf, "check malformed-from header-from"},
      {"An address that its canonical form does not accept.", "joe@example.org", "joe@@example.org", kSpf,
       "check malformed-from header-from"},
  };
  for (const auto rule :
       {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either, IdentityRule::both}) {
    INFO("identity rule " << static_cast<int>(rule));
    World(with(rule)).expect(rows);
    World(with(rule, AuthenticationRule::preferred)).expect(rows);
  }
}

TEST_CASE(
    "decide: a From field that hides its mailbox does not stop a listed envelope sender if nothing is forbidden") {
  const Row rows[] = {
      {"No From field.", "joe@example.org", "!absent", "", "deliver listed envelope @main"},
      {"An unlisted envelope sender is told of.", "x@other.example", "!malformed", "", "check not-listed envelope"},
      {"The null sender is told of.", "", "!absent", "", "check null-sender envelope"},
  };
  const Row unreadable[] = {
      {"Several From fields.", "joe@example.org", "!several-fields", "", "deliver listed envelope @main"},
      {"A malformed field.", "joe@example.org", "!malformed", "", "deliver listed envelope @main"},
  };
  // A program that reads such a field otherwise may have written what the sender wants: no result counts.
  const Row may_forge[] = {
      {"Several From fields.", "joe@example.org", "!several-fields", "", "check authentication-failed envelope @main"},
      {"A malformed field.", "joe@example.org", "!malformed", "", "check authentication-failed envelope @main"},
  };
  for (const auto rule : {IdentityRule::envelope, IdentityRule::either}) {
    const World off(with(rule, AuthenticationRule::off));
    off.expect(rows);
    off.expect(unreadable);
    World no_veto({.identity = rule, .authentication = AuthenticationRule::preferred, .dmarc_fail_vetoes = false});
    no_veto.expect(rows);
    no_veto.expect(may_forge);
  }
}

TEST_CASE(
    "decide: a From field that hides its mailbox means check if own domains or revoked senders could hide there") {
  const Row rows[] = {
      {"Several From fields.", "joe@example.org", "!several-fields", "", "check several-from-fields header-from"},
      {"A malformed field.", "joe@example.org", "!malformed", "", "check malformed-from header-from"},
  };
  World(with(IdentityRule::envelope, AuthenticationRule::off), "gone@example.org").expect(rows);
  Policy policy = with(IdentityRule::envelope, AuthenticationRule::off);
  policy.own_domains = read_exact_list("@ours.example").list;
  World(policy).expect(rows);
}

TEST_CASE(
    "decide: with the rule `both` a From field that hides its mailbox means check, whatever the envelope sender") {
  const Row rows[] = {
      {"A listed envelope sender.", "joe@example.org", "!absent", "", "check no-header-from header-from"},
      {"Another one.", "x@other.example", "!absent", "", "check no-header-from header-from"},
  };
  World(with(IdentityRule::both, AuthenticationRule::off)).expect(rows);
}

TEST_CASE("decide: an address in a faulty From field is not looked up") {
  using enum HeaderFromKind;
  for (const auto kind : {absent, several_fields, several_mailboxes, no_mailbox, malformed}) {
    INFO(word_of(test::kKindsOfFrom, kind));
    const Facts facts = {"<x@other.example>", HeaderFrom{kind, "joe@example.org"}};
    CHECK(World(with(IdentityRule::header_from, AuthenticationRule::off)).decide(facts).verdict == Verdict::check);
  }
}

TEST_CASE("decide: a From field that hides its mailbox is not looked up") {
  const test::MemoryWhitelist good({"joe@example.org"});
  const NamedWhitelist named[] = {{"missing", nullptr}, {"good", &good}};
  const Facts facts = {"<>", test::header_from("!absent")};
  const Policy policy = with(IdentityRule::either, AuthenticationRule::off);
  CHECK(test::summary(decide(facts, {.whitelists = named}, policy)) == "check null-sender envelope");
}

TEST_CASE("decide: a bounce is checked, whatever its envelope sender, and so is an ambiguous header") {
  const std::string path = "<joe@example.org>";
  const HeaderFrom from = test::header_from("joe@example.org");
  for (const auto identity :
       {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either, IdentityRule::both}) {
    const World world(Policy{.identity = identity, .authentication = AuthenticationRule::off});
    Facts facts = {.envelope_sender = path, .header_from = from};
    REQUIRE(world.decide(facts).verdict == Verdict::deliver);
    facts.is_bounce = true;
    CHECK(test::summary(world.decide(facts)) == "check bounce");
    facts.is_bounce = false;
    facts.is_header_ambiguous = true;
    CHECK(test::summary(world.decide(facts)) == "check ambiguous-header");
  }
}

}  // namespace
}  // namespace bloomgate
