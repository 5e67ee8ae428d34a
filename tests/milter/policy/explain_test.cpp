#include "milter/policy/explain.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "milter/policy/header_field.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::MemoryWhitelist;

// One of each step: rewritten, revoked for another, of no own domain, listed by the second list, authenticated by DKIM.
struct Explained {
  Explained() {
    facts.envelope_sender = "<prvs=4f2a1b3c5d=Joe@Example.org>";
    facts.header_from = {HeaderFromKind::one_mailbox, "Joe@Example.org"};
    const std::string_view results[] = {"mx.example.net; dkim=pass header.d=example.org", "elsewhere.example; none"};
    const std::string trusted[] = {"mx.example.net"};
    facts.authentication = Authentication::summarize(results, trusted);
    policy.own_domains = read_exact_list("@.ours.example\n").list;
    decision = decide(facts, lists, policy, &trace);
  }

  MemoryWhitelist partners{{"else@example.net"}};
  MemoryWhitelist customers{{"joe@example.org"}};
  NamedWhitelist named[2] = {{"partners", &partners}, {"customers", &customers}};
  ExactList revoked = read_exact_list("gone@example.org\n").list;
  Lists lists = {.whitelists = named, .revoked = &revoked};
  Policy policy;
  Facts facts;
  Trace trace;
  Decision decision;
};

TEST_CASE("an explanation has a line for each step, with the key that was looked up, and ends with the decision") {
  const Explained e;
  CHECK(explanation_text(e.trace, e.decision, "mx.example.net", CheckMark::tells_why) ==
        "exemption          no\n"
        "envelope-sender    address  subject=<prvs=4f2a1b3c5d=Joe@Example.org> key=prvs=4f2a1b3c5d=joe@example.org\n"
        "rewritten-sender   undone  subject=Joe@Example.org key=joe@example.org\n"
        "header-from        address  subject=Joe@Example.org key=joe@example.org\n"
        "results            1  subject=trusted\n"
        "results            0  subject=unreadable\n"
        "results            1  subject=not-trusted\n"
        "revoked            no  key=prvs=4f2a1b3c5d=joe@example.org\n"
        "revoked            no  key=joe@example.org\n"
        "revoked            no  key=joe@example.org\n"
        "own-domain         no  key=example.org\n"
        "own-domain         no  key=example.org\n"
        "own-domain         no  key=example.org\n"
        "dmarc              none  key=example.org\n"
        "whitelist          not-listed  subject=partners key=joe@example.org\n"
        "whitelist          address  subject=customers key=joe@example.org\n"
        "authentication     dkim  subject=envelope key=example.org proof=same-from\n"
        "mark               deliver; reason=listed; host=mx.example.net; identity=envelope; authentication=dkim; "
        "proof=same-from; whitelist=customers\n"
        "decision: deliver reason=listed\n");
}

TEST_CASE("the same explanation in JSON says the same") {
  const Explained e;
  const auto json =
      nlohmann::json::parse(explanation_json(e.trace, e.decision, "mx.example.net", CheckMark::tells_why));
  CHECK(json.at("decision") == "deliver");
  CHECK(json.at("reason") == "listed");
  CHECK(json.at("identity") == "envelope");
  CHECK(json.at("authentication") == "dkim");
  CHECK(json.at("proof") == "same-from");
  CHECK(json.at("whitelist") == "customers");
  CHECK(json.at("fault").get<std::string>().empty());
  CHECK(json.at("mark") == header_value(e.decision, "mx.example.net", CheckMark::tells_why));
  CHECK(json.at("complete") == true);
  REQUIRE(json.at("steps").size() == e.trace.steps().size());
  CHECK(json.at("steps")[2] == nlohmann::json{{"step", "rewritten-sender"},
                                              {"subject", "Joe@Example.org"},
                                              {"key", "joe@example.org"},
                                              {"outcome", "undone"},
                                              {"entry", ""},
                                              {"proof", ""}});
}

TEST_CASE("the explanation says what a listed sender who is not authenticated would have needed") {
  const auto hint = [](const Decision& decision) {
    return nlohmann::json::parse(explanation_json({}, decision, "mx", CheckMark::tells_why))
        .at("hint")
        .get<std::string>();
  };
  Decision decision;
  decision.reason = Reason::not_authenticated;
  decision.identity = IdentityKind::envelope;
  CHECK(hint(decision).empty());
  decision.is_envelope_alone = true;
  CHECK_THAT(hint(decision),
             Catch::StartsWith("the envelope sender is listed as an address, and From is another mailbox."));
  decision.entry.append("@.partner.example");
  CHECK_THAT(hint(decision), Catch::StartsWith("the envelope sender is listed by its domain, and the entry "
                                               "'@.partner.example' does not have the From mailbox."));
  decision.signature = SignatureOutcome::field_added_reply_to;
  for (const auto identity : {IdentityKind::envelope, IdentityKind::header_from, IdentityKind::mailing_list}) {
    decision.identity = identity;
    CHECK(hint(decision) ==
          "a signature does not count, since it does not cover the field Reply-To that is there: anybody may have "
          "added or changed it. Its owner can sign that field.");
  }
  decision.reason = Reason::not_listed;
  CHECK(hint(decision).empty());
}

TEST_CASE("the domain entry that lists a sender is named in its step, in the mark and in the JSON") {
  const MemoryWhitelist whitelist({"@.partner.example"});
  const NamedWhitelist named = {"test", &whitelist};
  Trace trace;
  const Decision decision =
      decide({.envelope_sender = "<ann@a.b.Partner.example>"}, {.whitelists = {&named, 1}},
             {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off}, &trace);
  const std::string text = explanation_text(trace, decision, "mx", CheckMark::tells_why);
  CHECK_THAT(text, Catch::Contains("\nwhitelist          domain-tree  subject=test key=ann@a.b.partner.example "
                                   "entry=@.partner.example\n"));
  CHECK_THAT(text, Catch::Contains("; whitelist=test; entry=@.partner.example\n"));
  const auto json = nlohmann::json::parse(explanation_json(trace, decision, "mx", CheckMark::tells_why));
  CHECK(json.at("entry") == "@.partner.example");
  const auto& steps = json.at("steps");
  CHECK(std::ranges::count_if(steps, [](const auto& step) { return step.at("entry") == "@.partner.example"; }) == 1);
}

TEST_CASE(
    "the explanation says which entry and option let a signer below the sender's domain count, and the risk of that") {
  Decision decision;
  decision.reason = Reason::not_authenticated;
  decision.child_signer.domain.append("mg.shop.example");
  decision.child_signer.parent_bytes = std::string_view("shop.example").size();
  const std::string entry =
      " The entry '@shop.example signed-by mg.shop.example', or the same with one address, lets that name alone sign "
      "for it.";
  const std::string option = " alignment = relaxed lets it count ";
  const std::string end =
      " Then every name of the organisation may sign for shop.example, also a name that its owner has given to "
      "somebody else, unless a DMARC record forbids that (adkim=s) or ends the organisation between the two (psd=n, "
      "psd=y).";
  const std::string found =
      "the message has a signature of mg.shop.example, a name below shop.example, which does not count under this "
      "alignment.";
  const std::string own = found + entry + option + "if it is good." + end;
  CHECK_THAT(explanation_text({}, decision, "mx", CheckMark::tells_why),
             Catch::EndsWith("\nhint               " + own + "\ndecision: check reason=not-authenticated\n"));
  auto json = nlohmann::json::parse(explanation_json({}, decision, "mx", CheckMark::tells_why));
  CHECK(json.at("child_signer") == "mg.shop.example");
  CHECK(json.at("child_of") == "shop.example");
  CHECK(json.at("hint") == own);

  decision.is_envelope_alone = true;
  CHECK(nlohmann::json::parse(explanation_json({}, decision, "mx", CheckMark::tells_why)).at("hint") ==
        found + option + "if it is good." + end);
  decision.is_envelope_alone = false;

  decision.child_signer.is_verified = true;
  CHECK(nlohmann::json::parse(explanation_json({}, decision, "mx", CheckMark::tells_why)).at("hint") ==
        "a trusted milter found a good signature of mg.shop.example, a name below shop.example, which does not count "
        "under this alignment." +
            entry + option + "if a trusted milter also wrote dmarc=pass." + end);

  Decision of_list;
  of_list.reason = Reason::not_authenticated;
  of_list.identity = IdentityKind::mailing_list;
  of_list.entry.append("list:users.example.org");
  CHECK_THAT(
      nlohmann::json::parse(explanation_json({}, of_list, "mx", CheckMark::tells_why)).at("hint").get<std::string>(),
      Catch::EndsWith("the entry 'list:users.example.org signed-by DOMAIN' lets that domain speak for the list."));
  of_list.signer.append("lists.example.org");
  CHECK(nlohmann::json::parse(explanation_json({}, of_list, "mx", CheckMark::tells_why)).at("hint") == "");

  CHECK_THAT(explanation_text({}, {}, "mx", CheckMark::tells_why), !Catch::Contains("hint"));
  json = nlohmann::json::parse(explanation_json({}, {}, "mx", CheckMark::tells_why));
  for (const char* const name : {"child_signer", "child_of", "hint"}) CHECK(json.at(name) == "");
}

TEST_CASE("the explanation of a message without a mark says so") {
  Decision decision;
  decision.is_marked = false;
  decision.reason = Reason::exempt_network;
  CHECK(explanation_text({}, decision, "mx", CheckMark::tells_why) ==
        "mark               none\ndecision: check reason=exempt-network\n");
  CHECK(explanation_text({}, decision, "mx", CheckMark::tells_why, "Exempt, because of this.") ==
        "Exempt, because of this.\n\nmark               none\ndecision: check reason=exempt-network\n");
  CHECK(nlohmann::json::parse(explanation_json({}, decision, "mx", CheckMark::tells_why)).at("mark").is_null());
}

TEST_CASE("the explanation names the fault of a malformed sender") {
  Facts facts;
  facts.envelope_sender = "<joe@>";
  const MemoryWhitelist whitelist({"joe@example.org"});
  const NamedWhitelist named = {"test", &whitelist};
  Trace trace;
  const Decision decision =
      decide(facts, {.whitelists = {&named, 1}},
             {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off}, &trace);
  const auto json = nlohmann::json::parse(explanation_json(trace, decision, "mx", CheckMark::tells_why));
  CHECK(json.at("fault") == "empty-domain");
  CHECK(json.at("steps")[1].at("outcome") == "empty-domain");
}

TEST_CASE("every byte of the sender is escaped, so that it adds no line, field or end of a string") {
  const std::string hostile = "<a\"b\\\n decision: deliver reason=listed\xff\x1b[2J\xc3\xb8 key=x@example.org>";
  Facts facts;
  facts.envelope_sender = hostile;
  facts.header_from = {HeaderFromKind::one_mailbox, "j\xc3\xb8rn@example.org"};
  const MemoryWhitelist whitelist({"joe@example.org"});
  const NamedWhitelist named = {"test", &whitelist};
  Trace trace;
  const Decision decision = decide(facts, {.whitelists = {&named, 1}}, {}, &trace);
  const std::string text = explanation_text(trace, decision, "mx", CheckMark::tells_why);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(lines == trace.steps().size() + 2);
  CHECK(text.find("\n decision") == std::string::npos);
  const std::string json = explanation_json(trace, decision, "mx", CheckMark::tells_why);
  CHECK(nlohmann::json::accept(json));
  for (const std::string& shown : {text, json}) {
    CHECK(std::all_of(shown.begin(), shown.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}

// Each look-up is a draw at the filter's false-positive rate.
TEST_CASE("a message takes at most two look-ups in each whitelist, whatever its senders hide") {
  const MemoryWhitelist whitelist({"nobody@example.org"});
  const NamedWhitelist named[] = {{"one", &whitelist}, {"two", &whitelist}, {"three", &whitelist}};
  for (const char* const envelope :
       {"<x@example.com>", "<prvs=4f2a1b3c5d=x@example.com>", "<SRS0=HHHH=TT=example.com=x@forwarder.example>",
        "<SRS1=HHHH=forwarder.example==HHHH=TT=example.com=x@forwarder.example>",
        "<prvs=4f2a1b3c5d=SRS0=HHHH=TT=example.com=prvs=4f2a1b3c5d=x@forwarder.example>"}) {
    for (const IdentityRule rule :
         {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either, IdentityRule::both}) {
      INFO(envelope << " " << static_cast<int>(rule));
      Facts facts;
      facts.envelope_sender = envelope;
      facts.header_from = {HeaderFromKind::one_mailbox, "y@example.net"};
      Policy policy;
      policy.identity = rule;
      policy.undo_batv = true;
      policy.trusted_forwarders = {"forwarder.example"};
      Trace trace;
      const Decision decision = decide(facts, {.whitelists = named}, policy, &trace);
      CHECK(decision.reason == Reason::not_listed);
      const auto look_ups = std::ranges::count(trace.steps(), std::string_view("whitelist"), &TraceStep::name);
      CHECK(look_ups == (rule == IdentityRule::either ? 6 : 3));
    }
  }
}

TEST_CASE("a trace changes nothing about the decision") {
  const Explained e;
  CHECK(decide(e.facts, e.lists, e.policy) == e.decision);
}

TEST_CASE("empty lists have no step in the explanation") {
  Explained e;
  const ExactList empty;
  e.lists.revoked = e.lists.extra = &empty;
  Trace trace;
  decide(e.facts, e.lists, Policy{}, &trace);
  for (const std::string_view name : {"revoked", "extra", "own-domain"}) {
    INFO(name);
    CHECK(std::ranges::count(trace.steps(), name, &TraceStep::name) == 0);
  }
}

TEST_CASE("an outcome is escaped like all other text") {
  Trace trace;
  trace.add("header-from", {}, {}, "a\nb");
  CHECK(explanation_text(trace, {}, "mx", CheckMark::tells_why).starts_with("header-from        a\\x0ab\n"));
}

}  // namespace
}  // namespace bloomgate
