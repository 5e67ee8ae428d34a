// What a list names together with the domain that has to sign it: mailing lists, and senders with a signer. Each row
// holds for signatures that our own verifier found good, and for those that a trusted milter did.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

using test::MemoryWhitelist;

constexpr std::string_view kFields = "from:subject:date:list-id";
constexpr std::string_view kWithoutList = "from:subject:date";

struct Signed {
  std::string_view domain;
  std::string_view names = kFields;
  bool is_good = true;
};

struct Message {
  std::string_view from;
  std::vector<std::string_view> list_ids;
  std::vector<Signed> signatures;
  std::string_view envelope = "bounce@elsewhere.example";
  std::string_view results = {};  // more of the trusted milter's
};

struct Case {
  std::string_view sentence;
  Message message;
  std::string_view want;
};

// "deliver listed-mailing-list list dkim @main by list:a.example, list-id lists.example".
std::string told(const Decision& decision) {
  std::string text = test::summary(decision);
  if (!told_proof(decision).empty()) text.append(", ").append(told_proof(decision));
  if (!decision.signer.view().empty()) text.append(" of ").append(decision.signer.view());
  return text;
}

// The default lists of this file, and what the operator adds to them.
struct Place {
  Policy policy = {};
  std::string_view extra = {};
  std::string_view revoked = {};
  std::vector<std::string_view> recipients = {"<ann@ours.example>"};
};

class Desk {
 public:
  explicit Desk(Place place)
      : place_(std::move(place)),
        extra_(read_exact_list(place_.extra).list),
        revoked_(read_exact_list(place_.revoked).list) {}

  Decision decide(const Message& message, bool by_own_verifier) const {
    const std::string path = "<" + std::string(message.envelope) + ">";
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    Grounds grounds;
    grounds.begin("client.example", path);
    grounds.add_field("From", message.from);
    grounds.add_field("Subject", "s");
    for (const std::string_view value : message.list_ids) grounds.add_field("List-Id", value);
    std::string results = "mx.example.net; x=none";
    std::vector<Signature> found;
    for (const Signed& each : message.signatures) {
      grounds.add_signature("v=1; s=s; t=" + std::to_string(now.time_since_epoch().count()) +
                            "; b=Zm9v; d=" + std::string(each.domain) + "; h=" + std::string(each.names));
      results.append(each.is_good ? "; dkim=pass header.d=" : "; dkim=fail header.d=").append(each.domain);
      found.push_back({.outcome = each.is_good ? SignatureOutcome::pass : SignatureOutcome::body_changed,
                       .domain = std::string(each.domain)});
    }
    if (!message.results.empty()) results.append("; ").append(message.results);
    grounds.end_header({}, now);
    Facts facts = {.envelope_sender = path, .header_from = test::header_from(message.from), .grounds = &grounds};
    facts.recipients = {Recipients::State::all, place_.recipients};
    Policy policy = place_.policy;
    policy.verify_signatures = by_own_verifier;
    if (by_own_verifier) {
      facts.signatures = Signatures{.all = std::move(found)};
    } else {
      const std::string_view values[] = {results};
      const std::string ids[] = {"mx.example.net"};
      facts.authentication = Authentication::summarize(values, ids, grounds, facts.header_from);
    }
    return bloomgate::decide(facts, {.whitelists = named_, .revoked = &revoked_, .extra = &extra_}, policy);
  }

  void expect(const std::vector<Case>& cases) const {
    for (const Case& each : cases) {
      for (const bool by_own_verifier : {false, true}) {
        if (by_own_verifier && !each.message.results.empty()) continue;
        INFO(each.sentence << (by_own_verifier ? ", by our own verifier" : ", by a trusted milter"));
        CHECK(told(decide(each.message, by_own_verifier)) == each.want);
      }
    }
  }

 private:
  Place place_;
  MemoryWhitelist main_{{"joe@example.org", "list:announce.lists.example.org", "list:*.mail.example.net",
                         "list:users.example.com", "list:users.example.com signed-by example.com",
                         "list:dev.lists.example.org > ann@ours.example", "billing@bank.example signed-by esp.example",
                         "@shop.example signed-by mg.shop.example", "@.tree.example signed-by esp.example",
                         "@ours.example signed-by hr.example", "list:bob.lists.example.org > @ours.example"}};
  NamedWhitelist named_[1] = {{"main", &main_}};
  ExactList extra_;
  ExactList revoked_;
};

constexpr std::string_view kAnnounce = "News <announce.lists.example.org>";

TEST_CASE("decide: a listed mailing list is delivered if its own host has signed its List-Id") {
  Desk({}).expect({
      {"its host",
       {"m@member.example", {kAnnounce}, {{"lists.example.org"}}},
       "deliver listed-mailing-list list dkim @main by list:announce.lists.example.org, list-id of lists.example.org"},
      {"the list itself, as a domain",
       {"m@member.example", {kAnnounce}, {{"announce.lists.example.org"}}},
       "deliver listed-mailing-list list dkim @main by list:announce.lists.example.org, list-id of "
       "announce.lists.example.org"},
      {"its host, and the member's own domain, whose signature the list broke",
       {"m@member.example", {kAnnounce}, {{"member.example", kWithoutList, false}, {"lists.example.org"}}},
       "deliver listed-mailing-list list dkim @main by list:announce.lists.example.org, list-id of lists.example.org"},
      {"a list below a listed host",
       {"m@member.example", {"<a.b.mail.example.net>"}, {{"b.mail.example.net"}}},
       "deliver listed-mailing-list list dkim @main by list:*.mail.example.net, list-id of b.mail.example.net"},
      {"DMARC failed for the member's domain, as it does behind a list",
       {"m@member.example",
        {kAnnounce},
        {{"lists.example.org"}},
        "bounce@lists.example.org",
        "dmarc=fail header.from=member.example"},
       "deliver listed-mailing-list list dkim @main by list:announce.lists.example.org, list-id of lists.example.org"},
      {"a listed member's own signature, which covers List-Id, proves him and not the list",
       {"joe@example.org", {kAnnounce}, {{"example.org"}}},
       "deliver listed header-from dkim @main"},
  });
}

TEST_CASE("decide: a message with a forged List-Id does not count as from that mailing list") {
  const std::string_view unproven = "check not-authenticated list @main by list:announce.lists.example.org";
  const std::string by_host = std::string(unproven) + " of lists.example.org";
  const std::string_view stranger = "check not-listed envelope";
  Desk({}).expect({
      {"no signature", {"m@member.example", {kAnnounce}, {}}, unproven},
      {"a stranger's signature", {"m@member.example", {kAnnounce}, {{"evil.example"}}}, unproven},
      {"a user of the domain above the host", {"m@example.org", {kAnnounce}, {{"example.org"}}}, unproven},
      {"a name below the host", {"m@member.example", {kAnnounce}, {{"x.lists.example.org"}}}, unproven},
      {"the host's signature does not cover List-Id",
       {"m@member.example", {kAnnounce}, {{"lists.example.org", kWithoutList}}},
       by_host},
      {"one of the host's signatures does not cover it",
       {"m@member.example", {kAnnounce}, {{"lists.example.org"}, {"lists.example.org", kWithoutList}}},
       by_host},
      {"the host's signature is not good",
       {"m@member.example", {kAnnounce}, {{"lists.example.org", kFields, false}}},
       by_host},
      {"two List-Id fields", {"m@member.example", {kAnnounce, kAnnounce}, {{"lists.example.org"}}}, stranger},
      {"another one on top", {"m@member.example", {kAnnounce, "<x.evil.example>"}, {{"lists.example.org"}}}, stranger},
      {"in a comment",
       {"m@member.example", {"(<announce.lists.example.org>) <x.evil.example>"}, {{"evil.example"}}},
       stranger},
      {"a bounce", {"m@member.example", {kAnnounce}, {{"lists.example.org"}}, ""}, "check null-sender envelope"},
      {"From is not signed",
       {"m@member.example", {kAnnounce}, {{"lists.example.org", "subject:list-id", false}}},
       by_host},
      {"two From mailboxes",
       {"!several-mailboxes", {kAnnounce}, {{"lists.example.org"}}},
       "check several-from-mailboxes header-from"},
      {"a host where people have mailboxes, without an entry that lets it sign",
       {"m@example.com", {"<all.example.com>"}, {{"example.com"}}},
       stranger},
  });
}

TEST_CASE("decide: a domain with mailboxes signs for a mailing list only by an entry that says so") {
  Desk({}).expect({
      {"by the entry",
       {"m@member.example", {"<users.example.com>"}, {{"example.com"}}},
       "deliver listed-with-signer list dkim @main by list:users.example.com, signer of example.com"},
      {"without List-Id",
       {"m@member.example", {"<users.example.com>"}, {{"example.com", kWithoutList}}},
       "check not-authenticated list @main by list:users.example.com"},
  });
  Desk({.extra = "list:announce.lists.example.org signed-by example.org\n"})
      .expect({
          {"of the operator's own list",
           {"m@member.example", {kAnnounce}, {{"example.org"}}},
           "deliver listed-with-signer list dkim @extra by list:announce.lists.example.org, signer of example.org"},
      });
}

TEST_CASE("decide: a mailing list may be listed for one subscriber") {
  const Message message = {"m@member.example", {"<dev.lists.example.org>"}, {{"lists.example.org"}}};
  Desk({}).expect({{"for the one recipient", message,
                    "deliver listed-for-recipients list dkim @main, list-id of lists.example.org"},
                   {"for a domain of recipients",
                    {"m@member.example", {"<bob.lists.example.org>"}, {{"lists.example.org"}}},
                    "deliver listed-for-recipients list dkim @main, list-id of lists.example.org"}});
  Desk({.recipients = {"<ann@ours.example>", "<bob@ours.example>"}})
      .expect({{"one of two recipients has not subscribed", message, "check not-listed envelope"}});
  Desk({.extra = "list:dev.lists.example.org > bob@ours.example\n",
        .recipients = {"<ann@ours.example>", "<bob@ours.example>"}})
      .expect({{"each by another list", message,
                "deliver listed-for-recipients list dkim @extra, list-id of lists.example.org"}});
}

TEST_CASE("decide: a sender that is listed with a signer is delivered if exactly that signer has signed") {
  const std::string_view unproven = "check not-authenticated header-from @main of esp.example";
  const std::string_view stranger = "check not-listed envelope";
  Desk({}).expect({
      {"an address",
       {"billing@bank.example", {}, {{"esp.example", kWithoutList}}},
       "deliver listed-with-signer header-from dkim @main, signer of esp.example"},
      {"DMARC failed for its domain, which does not sign itself",
       {"billing@bank.example",
        {},
        {{"esp.example", kWithoutList}},
        "b@esp.example",
        "dmarc=fail header.from=bank.example"},
       "deliver listed-with-signer header-from dkim @main, signer of esp.example"},
      {"a domain, by a name below it",
       {"news@shop.example", {}, {{"mg.shop.example"}}},
       "deliver listed-with-signer header-from dkim @main by @shop.example, signer of mg.shop.example"},
      {"a tree",
       {"x@a.b.tree.example", {}, {{"esp.example"}}},
       "deliver listed-with-signer header-from dkim @main by @.tree.example, signer of esp.example"},
      {"beside a signature that is not good",
       {"billing@bank.example", {}, {{"bank.example", kWithoutList, false}, {"esp.example", kWithoutList}}},
       "deliver listed-with-signer header-from dkim @main, signer of esp.example"},
      {"another mailbox of the domain", {"ceo@bank.example", {}, {{"esp.example"}}}, stranger},
      {"another signer", {"billing@bank.example", {}, {{"evil.example"}}}, stranger},
      {"a name below the signer", {"billing@bank.example", {}, {{"customer.esp.example"}}}, stranger},
      {"a domain above the signer", {"news@shop.example", {}, {{"example"}}}, stranger},
      {"a signature that is not good", {"billing@bank.example", {}, {{"esp.example", kFields, false}}}, unproven},
      {"the same address as envelope sender alone",
       {"x@other.example", {}, {{"esp.example"}}, "billing@bank.example"},
       stranger},
      {"a bounce", {"billing@bank.example", {}, {{"esp.example"}}, ""}, "check null-sender envelope"},
      {"no signature", {"billing@bank.example", {}, {}}, stranger},
  });
}

TEST_CASE("decide: an entry that names its signer counts under every rule for identities and authentication") {
  const Case service = {"a service",
                        {"billing@bank.example", {}, {{"esp.example"}}},
                        "deliver listed-with-signer header-from dkim @main, signer of esp.example"};
  const Case forged = {"a forged one",
                       {"billing@bank.example", {}, {{"esp.example", kFields, false}}},
                       "check not-authenticated header-from @main of esp.example"};
  for (const auto identity :
       {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either, IdentityRule::both}) {
    for (const auto rule : {AuthenticationRule::required, AuthenticationRule::preferred, AuthenticationRule::off}) {
      for (const auto alignment : {Alignment::parent, Alignment::strict, Alignment::relaxed}) {
        Desk({.policy = {.identity = identity, .authentication = rule, .alignment = alignment}})
            .expect({service, forged});
      }
    }
  }
}

TEST_CASE("decide: a service may send for an own domain if an entry says so, and no other service may") {
  Policy policy;
  policy.own_domains = read_exact_list("@.ours.example\n").list;
  Desk({.policy = policy})
      .expect({
          {"the service",
           {"staff@ours.example", {}, {{"hr.example"}}},
           "deliver listed-with-signer header-from dkim @main by @ours.example, signer of hr.example"},
          {"another one", {"staff@ours.example", {}, {{"esp.example"}}}, "check own-domain header-from"},
          {"a mailing list that one of ours has written to",
           {"staff@ours.example", {kAnnounce}, {{"lists.example.org"}}},
           "check own-domain header-from"},
          {"a borrowed envelope sender of ours",
           {"staff@ours.example", {}, {{"hr.example"}}, "boss@ours.example"},
           "check own-domain envelope"},
      });
}

TEST_CASE("decide: an entry that names its signer does not deliver a revoked sender") {
  const Message of_list = {"m@member.example", {kAnnounce}, {{"lists.example.org"}}};
  const Message of_service = {"billing@bank.example", {}, {{"esp.example"}}};
  Desk({.revoked = "list:announce.lists.example.org\n"})
      .expect({{"the list", of_list, "check revoked list by list:announce.lists.example.org"}});
  Desk({.revoked = "list:*.example.org\n"})
      .expect({{"all lists below a host", of_list, "check revoked list by list:*.example.org"}});
  Desk({.revoked = "list:announce.lists.example.org > ann@ours.example\n"})
      .expect({{"the list for its recipient", of_list, "check revoked list"}});
  Desk({.revoked = "list:announce.lists.example.org signed-by lists.example.org\n"})
      .expect({{"the list with its signer", of_list,
                "check revoked list by list:announce.lists.example.org of lists.example.org"}});
  Desk({.revoked = "m@member.example\n"}).expect({{"the member", of_list, "check revoked header-from"}});
  Desk({.revoked = "billing@bank.example\n"}).expect({{"the sender", of_service, "check revoked header-from"}});
  Desk({.revoked = "@bank.example signed-by esp.example\n"})
      .expect(
          {{"the sender with the service", of_service, "check revoked header-from by @bank.example of esp.example"}});
  Desk({.revoked = "@bank.example signed-by other.example\n"})
      .expect({{"the sender with another service", of_service,
                "deliver listed-with-signer header-from dkim @main, signer of esp.example"}});
}

TEST_CASE("decide: no field that is added hides a revoked mailing list or signer") {
  const Message of_joe = {"joe@example.org", {kAnnounce, "<bad.lists.example.org>"}, {{"example.org"}}};
  Desk({.revoked = "list:bad.lists.example.org\n"})
      .expect({{"a second List-Id", of_joe, "check revoked list by list:bad.lists.example.org"}});
  for (const std::string_view worthless : {"x(y).example", "j(1.example", "other.example"}) {
    CAPTURE(worthless);
    Message signed_by_service = {"joe@example.org", {}, {{"example.org"}}};
    for (std::size_t i = 0; i < Grounds::kMostSigners; ++i)
      signed_by_service.signatures.push_back({worthless, "from", false});
    signed_by_service.signatures.push_back({"esp.example"});
    CHECK_THAT(told(Desk({.revoked = "joe@example.org signed-by esp.example\n"}).decide(signed_by_service, true)),
               Catch::StartsWith("check revoked"));
  }
  Message with_many = {"joe@example.org", {}, {{"example.org"}}};
  for (std::size_t i = 0; i < Grounds::kMaxSignatures; ++i)
    with_many.signatures.push_back({"s.example", "from", false});
  CHECK_THAT(told(Desk({.revoked = "eve@example.org\n"}).decide(with_many, true)),
             Catch::StartsWith("check distrusted-results"));
  CHECK_THAT(told(Desk({}).decide(with_many, true)), Catch::StartsWith("deliver listed"));
}

TEST_CASE("decide: an entry that names its signer needs that signature, and no other") {
  const MemoryWhitelist main({"billing@bank.example signed-by esp.example", "list:announce.lists.example.org"});
  const NamedWhitelist named[] = {{"main", &main}};
  const auto domain_needed = [&](std::string_view from, std::string_view list_id, std::string_view signer,
                                 std::string_view names) {
    Grounds grounds;
    grounds.begin("client.example", "<x@elsewhere.example>");
    grounds.add_field("From", from);
    if (!list_id.empty()) grounds.add_field("List-Id", list_id);
    grounds.add_signature("v=1; s=s; b=Zm9v; d=" + std::string(signer) + "; h=" + std::string(names));
    grounds.end_header({}, std::chrono::sys_seconds());
    const Facts facts = {
        .envelope_sender = "<x@elsewhere.example>", .header_from = test::header_from(from), .grounds = &grounds};
    Policy policy;
    policy.verify_signatures = true;
    const Decision decision = bloomgate::decide(facts, {.whitelists = named}, policy);
    CHECK(decision.verdict == Verdict::check);
    CHECK(decision.need.domains[0].view().empty());
    CHECK(decision.need.domains[1].view().empty());
    return std::string(decision.need.domains[2].view());
  };
  CHECK(domain_needed("billing@bank.example", "", "esp.example", kWithoutList) == "esp.example");
  CHECK(domain_needed("billing@bank.example", "", "evil.example", kWithoutList).empty());
  CHECK(domain_needed("m@member.example", kAnnounce, "lists.example.org", kFields) == "lists.example.org");
  CHECK(domain_needed("m@member.example", kAnnounce, "lists.example.org", kWithoutList).empty());
  CHECK(domain_needed("m@member.example", kAnnounce, "example.org", kFields).empty());
  CHECK(domain_needed("m@member.example", "<x.lists.example.org>", "lists.example.org", kFields).empty());
}

TEST_CASE("decide: a signature that proves the sender by two entries is needed once") {
  const MemoryWhitelist main({"joe@example.org", "joe@example.org signed-by example.org"});
  const NamedWhitelist named[] = {{"main", &main}};
  Grounds grounds;
  grounds.begin("client.example", "<x@elsewhere.example>");
  grounds.add_field("From", "joe@example.org");
  grounds.add_signature("v=1; s=s; b=Zm9v; d=example.org; h=from:subject:date");
  grounds.end_header({}, std::chrono::sys_seconds());
  Policy policy;
  policy.verify_signatures = true;
  const Decision decision = bloomgate::decide({.envelope_sender = "<x@elsewhere.example>",
                                               .header_from = test::header_from("joe@example.org"),
                                               .grounds = &grounds},
                                              {.whitelists = named}, policy);
  CHECK(decision.need.domains[1].view() == "example.org");
  CHECK(decision.need.domains[2].view().empty());
}

TEST_CASE("decide: an unsigned List-Id is reported only for a signature that may count") {
  const Desk desk({});
  const auto outcome_of = [&](const Signed& signature) {
    return desk.decide({"m@member.example", {kAnnounce}, {signature}}, true).signature;
  };
  CHECK(outcome_of({"lists.example.org", kWithoutList}) == SignatureOutcome::field_added_list_id);
  CHECK(outcome_of({"evil.example"}) == SignatureOutcome::no_signature);
}

}  // namespace
}  // namespace bloomgate
