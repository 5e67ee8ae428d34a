// What goes before the whitelists: revoked and extra entries, own domains, rewritten senders, mail that is not
// incoming; and lists that are not as they should be.
#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

using test::Row;
using test::World;

constexpr Policy taken_at_its_word() {
  return {.authentication = AuthenticationRule::off};
}

TEST_CASE("decide: a revoked sender is never delivered, in whichever field it appears") {
  constexpr std::string_view revoked_text =
      "bad@example.org\n@gone.example\n@.trash.example\ntagged+x@example.org\nsrs@origin.example\n";
  const Row rows[] = {
      {"The envelope sender is revoked.", "bad@example.org", "x@other.example", "", "check revoked envelope"},
      {"The From mailbox is revoked.", "x@other.example", "bad@example.org", "", "check revoked header-from"},
      {"The From mailbox is revoked, and the envelope sender is listed.", "joe@example.org", "bad@example.org", "",
       "check revoked header-from"},
      {"The envelope sender is revoked, and the From mailbox is listed.", "bad@example.org", "joe@example.org", "",
       "check revoked envelope"},
      {"It is revoked in capitals too.", "BAD@EXAMPLE.ORG", "x@other.example", "", "check revoked envelope"},
      {"It is revoked in quotes too.", "\"bad\"@example.org", "x@other.example", "", "check revoked envelope"},
      {"It is revoked with a tag too.", "bad+1@example.org", "x@other.example", "", "check revoked envelope"},
      {"An entry with a tag revokes that tag.", "tagged+x@example.org", "x@other.example", "",
       "check revoked envelope"},
      {"An entry with a tag revokes no other.", "tagged+y@example.org", "x@other.example", "",
       "check not-listed envelope"},
      {"It is revoked behind BATV.", "prvs=4f2a1b3c5d=bad@example.org", "x@other.example", "",
       "check revoked envelope"},
      {"Its domain is revoked.", "x@gone.example", "x@other.example", "", "check revoked envelope by @gone.example"},
      {"A domain below a revoked one is not.", "x@sub.gone.example", "x@other.example", "",
       "check not-listed envelope"},
      {"The tree of its domain is revoked, and it is listed itself.", "joe@sub.trash.example", "x@other.example", "",
       "check revoked envelope by @.trash.example"},
      {"Another address of its domain is not revoked.", "joe@example.org", "x@other.example", "",
       "deliver listed envelope @main"},
      {"No authentication helps.", "bad@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "check revoked envelope"},
      {"It goes before DMARC's fail.", "bad@example.org", "x@other.example", "dmarc=fail header.from=other.example",
       "check revoked envelope"},
      {"It is revoked behind a trusted forwarder's SRS.", "SRS0=HHHH=TT=origin.example=srs@forwarder.example",
       "x@other.example", "", "check revoked envelope"},
  };
  for (const auto rule : {IdentityRule::envelope, IdentityRule::either}) {
    World({.identity = rule, .authentication = AuthenticationRule::off, .trusted_forwarders = {"forwarder.example"}},
          revoked_text)
        .expect(rows);
  }
  World({.identity = IdentityRule::both, .authentication = AuthenticationRule::off}, revoked_text).expect({rows, 8});
  World({.identity = IdentityRule::header_from, .undo_batv = false}, revoked_text).expect({rows, 8});
  const Row batv[] = {{"Behind BATV that is not undone for the whitelists.", "prvs=4f2a1b3c5d=bad@example.org",
                       "x@other.example", "", "check revoked envelope"}};
  World({.authentication = AuthenticationRule::off, .undo_batv = false}, revoked_text).expect(batv);
  const Row both_lists[] = {
      {"It is in `extra` as well.", "bad@example.org", "x@other.example", "", "check revoked envelope"}};
  World(taken_at_its_word(), revoked_text, "bad@example.org\n").expect(both_lists);
}

TEST_CASE("decide: a tag that any whitelist removes does not hide a revoked sender") {
  const Row rows[] = {{"Tagged in the other whitelist's way.", "pat+x@partner.example", "x@other.example", "",
                       "check revoked envelope"}};
  World(taken_at_its_word(), "pat@partner.example\n").expect(rows);
}

TEST_CASE("decide: a tag after a plus does not hide a revoked sender, even if no whitelist removes it") {
  const test::MemoryWhitelist whitelist({"@example.org"});
  const NamedWhitelist named = {"main", &whitelist};
  const ExactList revoked = read_exact_list("bad@example.org\n").list;
  const Lists lists = {.whitelists = {&named, 1}, .revoked = &revoked};
  const Policy policy = {.identity = IdentityRule::header_from, .authentication = AuthenticationRule::off};
  CHECK(test::summary(decide({"<x@other.example>", test::header_from("bad+1@example.org")}, lists, policy)) ==
        "check revoked header-from");
  CHECK(test::summary(decide({"<x@other.example>", test::header_from("good+1@example.org")}, lists, policy)) ==
        "deliver listed-domain header-from @main by @example.org");
}

TEST_CASE("decide: `revoked` removes the tags of any whitelist, and `extra` only those of all whitelists") {
  const test::MemoryWhitelist with_plus({"@example.org"}, {.tag_separators = *TagSeparators::parse("+")});
  const test::MemoryWhitelist with_minus({"@example.org"}, {.tag_separators = *TagSeparators::parse("-")});
  const test::MemoryWhitelist with_both({"@example.org"}, {.tag_separators = *TagSeparators::parse("=-")});
  const ExactList listed = read_exact_list("bad@example.org\n").list;
  const auto reason_of = [&](const Lists& lists, std::string_view envelope) {
    const Policy policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};
    return std::string(reason_name(decide({envelope, test::header_from("x@other.example")}, lists, policy).reason));
  };
  std::vector<NamedWhitelist> named = {{"plus", &with_plus}, {"lost", nullptr}, {"minus", &with_minus}};
  for (int order = 0; order < 2; ++order) {
    CAPTURE(order);
    const Lists revoking = {.whitelists = named, .revoked = &listed};
    CHECK(reason_of(revoking, "<bad+x@example.org>") == "revoked");
    CHECK(reason_of(revoking, "<bad-x@example.org>") == "revoked");
    CHECK(reason_of(revoking, "<bad=x@example.org>") == "listed-domain");
    const Lists extending = {.whitelists = named, .extra = &listed};
    CHECK(reason_of(extending, "<bad+x@example.org>") == "listed-domain");
    CHECK(reason_of(extending, "<bad-x@example.org>") == "listed-domain");
    std::ranges::reverse(named);
  }
  named = {{"minus", &with_minus}, {"lost", nullptr}, {"both", &with_both}};
  const Lists sharing = {.whitelists = named, .extra = &listed};
  CHECK(reason_of(sharing, "<bad-x@example.org>") == "listed-extra");
  CHECK(reason_of(sharing, "<bad=x@example.org>") == "listed-domain");
  CHECK(reason_of({.extra = &listed}, "<bad-x@example.org>") == "not-listed");
}

TEST_CASE("decide: if SPF or DKIM failed for either domain of a sender behind SRS, preferred does not deliver it") {
  constexpr std::string_view kForwarded = "SRS0=HHHH=TT=example.org=joe@forwarder.example";
  const Row rows[] = {
      {"Nothing is known.", kForwarded, "x@other.example", "", "deliver listed envelope @main"},
      {"SPF failed for the forwarder.", kForwarded, "x@other.example", "spf=fail smtp.mailfrom=forwarder.example",
       "check authentication-failed envelope @main"},
      {"SPF failed for a domain below the forwarder's.", kForwarded, "x@other.example",
       "spf=softfail smtp.mailfrom=mail.forwarder.example", "check authentication-failed envelope @main"},
      {"SPF failed for the domain behind it.", kForwarded, "x@other.example", "spf=fail smtp.mailfrom=example.org",
       "check authentication-failed envelope @main"},
      {"A signature of the domain behind it is broken.", kForwarded, "x@other.example",
       "dkim=fail header.d=example.org", "check authentication-failed envelope @main"},
      {"SPF failed for a third domain.", kForwarded, "x@other.example", "spf=fail smtp.mailfrom=third.example",
       "deliver listed envelope @main"},
      {"SPF failed for the domain behind it, and passed for the forwarder.", kForwarded, "x@other.example",
       "spf=fail smtp.mailfrom=example.org; spf=pass smtp.mailfrom=forwarder.example",
       "deliver listed envelope spf @main"},
      {"BATV keeps the one domain, for which SPF failed.", "prvs=4f2a1b3c5d=joe@example.org", "x@other.example",
       "spf=fail smtp.mailfrom=example.org", "check authentication-failed envelope @main"},
      {"SPF failed for an envelope sender that nothing has rewritten.", "joe@example.org", "x@other.example",
       "spf=fail smtp.mailfrom=example.org", "check authentication-failed envelope @main"},
  };
  World({.authentication = AuthenticationRule::preferred, .trusted_forwarders = {"forwarder.example"}}).expect(rows);
}

TEST_CASE(
    "decide: a local sender behind a forwarder is authenticated by a pass for the own domain, or by the forwarder") {
  constexpr std::string_view kForwarded = "SRS0=HHHH=TT=ours.example=bob@forwarder.example";
  const Row rows[] = {
      {"Nothing is known.", kForwarded, "x@other.example", "", "check own-domain envelope"},
      {"The forwarder's SPF passed.", kForwarded, "x@other.example", "spf=pass smtp.mailfrom=forwarder.example",
       "deliver listed envelope spf @main"},
      {"Our own signature passed.", kForwarded, "bob@ours.example", "dkim=pass header.d=ours.example",
       "deliver listed envelope dkim @main"},
      {"The forwarder's signature passed.", kForwarded, "x@other.example", "dkim=pass header.d=forwarder.example",
       "check own-domain envelope"},
      {"SPF failed for the forwarder.", kForwarded, "x@other.example", "spf=fail smtp.mailfrom=forwarder.example",
       "check own-domain envelope"},
      {"SPF passed for a domain below the forwarder's.", "SRS0=HHHH=TT=ours.example=bob@mail.forwarder.example",
       "x@other.example", "spf=pass smtp.mailfrom=mail.forwarder.example", "check not-listed envelope spf"},
  };
  for (const auto rule : {AuthenticationRule::required, AuthenticationRule::preferred}) {
    Policy policy = {.authentication = rule, .trusted_forwarders = {"forwarder.example"}};
    policy.own_domains = read_exact_list("@ours.example\n").list;
    World(policy).expect(rows);
  }
  // A forwarder that is ours itself has to be authenticated for both.
  Policy both = {.authentication = AuthenticationRule::off, .trusted_forwarders = {"ours.example"}};
  both.own_domains = read_exact_list("@ours.example\n").list;
  const Row own_forwarder[] = {
      {"Ours forwards, and nothing is known.", "SRS0=HHHH=TT=example.org=joe@ours.example", "x@other.example", "",
       "check own-domain envelope"},
      {"Ours forwards, and its SPF passed.", "SRS0=HHHH=TT=example.org=joe@ours.example", "x@other.example",
       "spf=pass smtp.mailfrom=ours.example", "deliver listed envelope spf @main"},
  };
  World(both).expect(own_forwarder);
}

TEST_CASE("decide: an entry of `extra` counts as listed, and is asked before the whitelists") {
  const Row rows[] = {
      {"The address.", "vip@new.example", "x@other.example", "spf=pass smtp.mailfrom=new.example",
       "deliver listed-extra envelope spf @extra"},
      {"The domain.", "any@extra.example", "x@other.example", "spf=pass smtp.mailfrom=extra.example",
       "deliver listed-extra envelope spf @extra by @extra.example"},
      {"The tree.", "x@other.example", "any@a.wide.example", "dkim=pass header.d=wide.example",
       "deliver listed-extra header-from dkim @extra by @.wide.example"},
      {"It is in a whitelist as well.", "joe@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "deliver listed-extra envelope spf @extra"},
      {"It has to be authenticated all the same.", "vip@new.example", "x@other.example", "",
       "check not-authenticated envelope @extra"},
      {"DMARC's fail vetoes all the same.", "vip@new.example", "x@other.example",
       "spf=pass smtp.mailfrom=new.example; dmarc=fail header.from=other.example", "check dmarc-fail header-from"},
      {"With a tag it is another address.", "vip+x@new.example", "x@other.example",
       "spf=pass smtp.mailfrom=new.example", "check not-listed envelope spf"},
      {"Who is not in it is looked up in the whitelists.", "pat@partner.example", "x@other.example",
       "spf=pass smtp.mailfrom=partner.example", "deliver listed envelope spf @partners"},
  };
  World({}, {}, "vip@new.example\n@extra.example\n@.wide.example\njoe@example.org\n").expect(rows);
}

TEST_CASE("decide: a sender of our own domains needs authentication, whatever the rule and the lists") {
  const Row rows[] = {
      {"The envelope sender claims one.", "bob@ours.example", "x@other.example", "", "check own-domain envelope"},
      {"The From mailbox claims one.", "x@other.example", "bob@ours.example", "", "check own-domain header-from"},
      {"The From mailbox claims one, and the envelope sender is listed and authenticated.", "joe@example.org",
       "bob@ours.example", "spf=pass smtp.mailfrom=example.org", "check own-domain header-from"},
      {"The envelope sender claims one, and the From mailbox is listed and authenticated.", "bob@ours.example",
       "joe@example.org", "dkim=pass header.d=example.org", "check own-domain envelope"},
      {"Unlisted senders are told the same.", "nobody@ours.example", "x@other.example", "",
       "check own-domain envelope"},
      {"A domain below one that is named alone is another.", "joe@example.org", "x@sub.ours.example",
       "spf=pass smtp.mailfrom=example.org", "deliver listed envelope spf @main"},
      {"A domain below one that is named with all below it is ours.", "joe@example.org", "x@a.b.wide.example",
       "spf=pass smtp.mailfrom=example.org", "check own-domain header-from"},
      {"Authenticated and listed it is delivered.", "bob@ours.example", "x@other.example",
       "spf=pass smtp.mailfrom=ours.example", "deliver listed envelope spf @main"},
      {"Authenticated and listed by the From mailbox it is delivered.", "x@other.example", "bob@ours.example",
       "dkim=pass header.d=ours.example", "deliver listed header-from dkim @main"},
      {"Authenticated and not listed it is checked.", "x@other.example", "nobody@ours.example",
       "dkim=pass header.d=ours.example", "check not-listed envelope"},
      {"Another's signature is not enough.", "x@other.example", "bob@ours.example", "dkim=pass header.d=other.example",
       "check own-domain header-from"},
      {"In somebody else's field it is not enough.", "x@other.example", "bob@ours.example",
       "=elsewhere.example; dkim=pass header.d=ours.example", "check own-domain header-from"},
      {"Behind BATV it is claimed, too.", "prvs=4f2a1b3c5d=bob@ours.example", "x@other.example", "",
       "check own-domain envelope"},
      {"Behind a trusted forwarder's SRS it is claimed, too.", "SRS0=HHHH=TT=ours.example=bob@forwarder.example",
       "x@other.example", "", "check own-domain envelope"},
  };
  for (const auto rule : {AuthenticationRule::required, AuthenticationRule::preferred, AuthenticationRule::off}) {
    Policy policy = {.authentication = rule, .trusted_forwarders = {"forwarder.example"}};
    policy.own_domains = read_exact_list("@ours.example\n@.wide.example\n").list;
    World(policy).expect(rows);
  }
}

TEST_CASE("decide: BATV is undone, and the domain, which it does not change, is authenticated") {
  const Row rows[] = {
      {"The tag first.", "prvs=4f2a1b3c5d=joe@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "deliver listed envelope spf @main"},
      {"The tag last.", "prvs=joe=4f2a1b3c5d@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "deliver listed envelope spf @main"},
      {"The other form.", "btv1==4f2a1b3c5d==joe@example.org", "joe@example.org", "dkim=pass header.d=example.org",
       "deliver listed envelope dkim @main"},
      {"Not authenticated it is checked.", "prvs=4f2a1b3c5d=joe@example.org", "x@other.example", "",
       "check not-authenticated envelope @main"},
      {"What is no tag is not undone.", "prvs=tag=joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org", "check not-listed envelope spf"},
      {"In a From mailbox it is not undone.", "x@other.example", "prvs=4f2a1b3c5d=joe@example.org",
       "dkim=pass header.d=example.org", "check not-listed envelope"},
  };
  World().expect(rows);
  const Row kept[] = {{"It is left where the policy says so.", "prvs=4f2a1b3c5d=joe@example.org", "x@other.example",
                       "spf=pass smtp.mailfrom=example.org", "check not-listed envelope spf"}};
  World({.undo_batv = false}).expect(kept);
  const Row inside[] = {{"Inside a trusted forwarder's SRS.",
                         "SRS0=HHHH=TT=example.org=prvs=4f2a1b3c5d=joe@forwarder.example", "x@other.example",
                         "spf=pass smtp.mailfrom=forwarder.example", "deliver listed envelope spf @main"}};
  const Row left_inside[] = {{"Left there, the SRS stays, too.", inside[0].envelope, inside[0].from, inside[0].results,
                              "check not-listed envelope spf"}};
  World({.trusted_forwarders = {"forwarder.example"}}).expect(inside);
  World({.undo_batv = false, .trusted_forwarders = {"forwarder.example"}}).expect(left_inside);
}

TEST_CASE("decide: SRS is undone only for trusted forwarders, which SPF has to authenticate") {
  constexpr std::string_view srs0 = "SRS0=HHHH=TT=example.org=joe@forwarder.example";
  const Row rows[] = {
      {"The forwarder's SPF vouches.", srs0, "x@other.example", "spf=pass smtp.mailfrom=forwarder.example",
       "deliver listed envelope spf @main"},
      {"The sender's own signature vouches for the same From mailbox.", srs0, "joe@example.org",
       "dkim=pass header.d=example.org", "deliver listed envelope dkim @main"},
      {"Nobody vouches.", srs0, "x@other.example", "", "check not-authenticated envelope @main"},
      {"A signature of the forwarder's, which can be replayed, does not.", srs0, "x@other.example",
       "dkim=pass header.d=forwarder.example", "check not-authenticated envelope @main"},
      {"DMARC of a From mailbox at the forwarder does not.", srs0, "x@forwarder.example",
       "dmarc=pass header.from=forwarder.example", "check not-authenticated envelope @main"},
      {"SPF of another domain does not.", srs0, "x@other.example", "spf=pass smtp.mailfrom=other.example",
       "check not-authenticated envelope @main"},
      {"A stranger's SRS is what it is: a stranger's address.", "SRS0=HHHH=TT=example.org=joe@evil.example",
       "x@other.example", "spf=pass smtp.mailfrom=evil.example", "check not-listed envelope spf"},
      {"A domain below the trusted forwarder's is a stranger's.", "SRS0=HHHH=TT=example.org=joe@sub.forwarder.example",
       "x@other.example", "spf=pass smtp.mailfrom=sub.forwarder.example", "check not-listed envelope spf"},
      {"An unlisted sender stays so behind it.", "SRS0=HHHH=TT=other.example=x@forwarder.example", "x@other.example",
       "spf=pass smtp.mailfrom=forwarder.example", "check not-listed envelope spf"},
      {"A second forwarder's is undone where both are trusted.",
       "SRS1=GGGG=forwarder.example==HHHH=TT=example.org=joe@second.example", "x@other.example",
       "spf=pass smtp.mailfrom=second.example", "deliver listed envelope spf @main"},
      {"A second forwarder's is not where the first is a stranger.",
       "SRS1=GGGG=evil.example==HHHH=TT=example.org=joe@second.example", "x@other.example",
       "spf=pass smtp.mailfrom=second.example", "check not-listed envelope spf"},
  };
  World({.trusted_forwarders = {"forwarder.example", "second.example"}}).expect(rows);
  const Row nobody_trusted[] = {{"Nobody is trusted unless told so.", srs0, "x@other.example",
                                 "spf=pass smtp.mailfrom=forwarder.example", "check not-listed envelope spf"}};
  World().expect(nobody_trusted);
}

TEST_CASE("decide: mail that is not incoming is exempt or delivered, by its exemption") {
  Policy policy;
  policy.exempt_networks = {*parse_ip_network("192.0.2.0/24"), *parse_ip_network("2001:db8::/32")};
  policy.exempt_daemons = {"ORIGINATING"};
  policy.exempt_logged_in = true;
  const struct {
    std::string_view sentence;
    Origin origin;
    std::string_view want;
  } rows[] = {
      {"A client of an exempt network.", {.client = parse_ip_address("192.0.2.7")}, "exempt-network"},
      {"The same through an IPv6 socket.", {.client = parse_ip_address("::ffff:192.0.2.7")}, "exempt-network"},
      {"A client of an exempt IPv6 network.", {.client = parse_ip_address("2001:db8::1")}, "exempt-network"},
      {"A client of another network.", {.client = parse_ip_address("198.51.100.7")}, ""},
      {"A client without an address.", {}, ""},
      {"A client who has logged in.", {.logged_in = true}, "exempt-authenticated"},
      {"A login goes before the network.",
       {.client = parse_ip_address("192.0.2.7"), .logged_in = true},
       "exempt-authenticated"},
      {"An exempt listener.", {.daemon_name = "ORIGINATING"}, "exempt-daemon"},
      {"Another listener.", {.daemon_name = "smtpd"}, ""},
      {"A listener of the same name in another case.", {.daemon_name = "originating"}, ""},
  };
  for (const auto action : {ExemptAction::none, ExemptAction::deliver}) {
    policy.exempt_action = action;
    const World world(policy, "joe@example.org\n");
    for (const auto& row : rows) {
      INFO(row.sentence);
      const Decision decision =
          world.decide({"<joe@example.org>", test::header_from("x@other.example"), {}, row.origin});
      if (row.want.empty()) {
        CHECK(test::summary(decision) == "check revoked envelope");
      } else {
        const bool is_delivered = action == ExemptAction::deliver;
        CHECK(test::summary(decision) ==
              (is_delivered ? "deliver " + std::string(row.want) : "check " + std::string(row.want) + " unmarked"));
      }
    }
  }
}

TEST_CASE("decide: a listener without a name is not exempt, though the policy may name an empty one") {
  const Facts facts = {"<joe@example.org>", test::header_from("x@other.example")};
  CHECK(test::summary(World({.exempt_daemons = {""}}).decide(facts)) == "check not-authenticated envelope @main");
}

TEST_CASE("decide: nothing is exempt unless the policy says so") {
  const Facts facts = {"<joe@example.org>",
                       test::header_from("x@other.example"),
                       {},
                       {.client = parse_ip_address("127.0.0.1"), .daemon_name = "ORIGINATING", .logged_in = true}};
  CHECK(test::summary(World().decide(facts)) == "check not-authenticated envelope @main");
}

TEST_CASE("decide: with missing or damaged lists no message is delivered that an intact list might stop") {
  const test::MemoryWhitelist good({"joe@example.org"});
  test::MemoryWhitelist bad({"joe@example.org", "ann@example.org"});
  bad.damage_after(0);
  const ExactList extra = read_exact_list("vip@example.org\n").list;
  const ExactList empty;
  const ExactList* const none = nullptr;
  const struct {
    std::string_view sentence, whitelists;
    const ExactList* extra;
    bool revoked_is_missing;
    std::string_view sender, want;
  } rows[] = {
      {"No whitelist is configured.", "", none, false, "<joe@example.org>", "check no-whitelist"},
      {"The only one is missing.", "missing", none, false, "<joe@example.org>", "check no-whitelist"},
      {"The only one is damaged.", "bad", none, false, "<joe@example.org>", "check whitelist-damaged @bad"},
      {"One is missing, one damaged.", "missing, bad", none, false, "<>", "check whitelist-damaged @bad"},
      {"Two are damaged.", "bad, worse", none, false, "<>", "check whitelist-damaged @bad"},
      {"A good one behind a missing one lists.", "missing, good", none, false, "<joe@example.org>",
       "deliver listed envelope @good"},
      {"A good one behind a damaged one lists.", "bad, good", none, false, "<joe@example.org>",
       "deliver listed envelope @good"},
      {"A damaged one behind a good one lists no sender.", "good, bad", none, false, "<ann@example.org>",
       "check whitelist-damaged envelope @bad"},
      {"Who is on no list that could be asked is told which could not.", "missing, good", none, false,
       "<ann@example.org>", "check no-whitelist envelope @missing"},
      {"The null sender is told as ever where one is good.", "good, bad", none, false, "<>",
       "check null-sender envelope"},
      {"`extra` lists without any whitelist.", "missing", &extra, false, "<vip@example.org>",
       "deliver listed-extra envelope @extra"},
      {"An empty `extra` lists no sender.", "missing", &empty, false, "<vip@example.org>", "check no-whitelist"},
      {"Without the configured `revoked` no message is delivered.", "good", &extra, true, "<joe@example.org>",
       "check no-revoked-list"},
  };
  const Policy policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};
  for (const auto& row : rows) {
    INFO(row.sentence);
    std::vector<NamedWhitelist> named;
    for (const std::string_view name : test::items_of(row.whitelists)) {
      named.push_back({name, name == "missing" ? nullptr : name == "good" ? &good : &bad});
    }
    const Lists lists = {named, nullptr, row.extra, row.revoked_is_missing};
    CHECK(test::summary(decide({row.sender}, lists, policy)) == row.want);
  }
}

TEST_CASE("decide: exempt mail stays exempt while lists are missing, unless the list of opt-outs is") {
  const Facts facts = {.envelope_sender = "<joe@example.org>", .origin = {.logged_in = true}};
  Policy policy = {.exempt_logged_in = true, .exempt_action = ExemptAction::none};
  Lists lists = {.revoked_is_configured = true};
  CHECK(test::summary(decide(facts, lists, policy)) == "check exempt-authenticated unmarked");
  policy.exempt_action = ExemptAction::deliver;
  CHECK(test::summary(decide(facts, lists, policy)) == "deliver exempt-authenticated");
  lists.opt_out_is_configured = true;
  CHECK(test::summary(decide(facts, lists, policy)) == "check no-opt-out-list");
}

TEST_CASE("decide: a message without MAIL is checked") {
  const HeaderFrom joe = test::header_from("joe@example.org");
  CHECK(test::summary(World().decide({{}, joe, test::results("dkim=pass header.d=example.org", {}, joe)})) ==
        "check no-sender");
}

}  // namespace
}  // namespace bloomgate
