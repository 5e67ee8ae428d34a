// The decision where a signature that our own verifier finds would change it.

#include "milter/policy/header_field.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;
using test::summary;
using test::World;

Policy verifying(IdentityRule identity = IdentityRule::either) {
  Policy policy;
  policy.identity = identity;
  policy.verify_signatures = true;
  policy.trusted_forwarders = {"forwarder.example"};
  return policy;
}

Facts facts_of(std::string_view path, std::string_view from) {
  return {.envelope_sender = path, .header_from = test::header_from(from)};
}

// The domains of a need, with a plus between them.
std::string need_of(const Decision& decision) {
  std::string need = std::string(decision.need.domains[0].view()) + "+" + std::string(decision.need.domains[1].view());
  for (const Domain& signer : decision.need.signers()) {
    if (!signer.view().empty()) need.append("+").append(signer.view());
  }
  return need;
}

Facts with(Facts facts, std::vector<Signature> signatures) {
  facts.signatures = Signatures{.all = std::move(signatures)};
  return facts;
}

TEST_CASE("a signature is needed only if it would deliver the message, and only from that domain") {
  struct Case {
    std::string_view sentence, path, from;
    IdentityRule identity;
    std::string_view want;
  };
  const Case cases[] = {
      {"only the From mailbox is listed", "<x@other.example>", "joe@example.org", IdentityRule::either, "+example.org"},
      {"only the envelope sender is listed, and not From", "<joe@example.org>", "x@other.example", IdentityRule::either,
       "+"},
      {"only the envelope sender's domain is listed, with From", "<x@corp.example>", "y@corp.example",
       IdentityRule::envelope, "corp.example+"},
      {"both are, in one domain", "<joe@example.org>", "joe@example.org", IdentityRule::either, "example.org+"},
      {"both are, in two domains", "<joe@example.org>", "ann@bank.example", IdentityRule::either, "+bank.example"},
      {"both have to be", "<x@a.tree.example>", "y@b.tree.example", IdentityRule::both,
       "a.tree.example+b.tree.example"},
      {"both have to be, and one is not", "<joe@example.org>", "x@other.example", IdentityRule::both, "+"},
      {"nobody is listed", "<x@other.example>", "y@other.example", IdentityRule::either, "+"},
      {"the other one is listed", "<joe@example.org>", "x@other.example", IdentityRule::header_from, "+"},
      {"the null sender", "<>", "joe@example.org", IdentityRule::either, "+"},
      {"behind a trusted forwarder", "<SRS0=HHHH=TT=example.org=joe@forwarder.example>", "joe@example.org",
       IdentityRule::either, "example.org+"},
      {"of a domain below the other's", "<x@news.example.org>", "joe@example.org", IdentityRule::either,
       "+example.org"},
      {"two From fields", "<joe@example.org>", "!several-fields", IdentityRule::either, "+"},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    const World world(verifying(c.identity));
    const Decision decision = world.decide(facts_of(c.path, c.from));
    CHECK(decision.verdict == Verdict::check);
    CHECK(need_of(decision) == c.want);
  }
}

TEST_CASE("no signature is needed if the decision does not depend on it") {
  const Facts facts = facts_of("<joe@example.org>", "joe@example.org");
  Policy policy = verifying();
  policy.verify_signatures = false;
  CHECK(World(policy).decide(facts).need.is_empty());
  policy = verifying();
  policy.authentication = AuthenticationRule::preferred;
  CHECK(summary(World(policy).decide(facts)) == "deliver listed envelope @main");
  CHECK(World(policy).decide(facts).need.is_empty());
  policy = verifying();
  policy.exempt_logged_in = true;
  Facts logged_in = facts;
  logged_in.origin.logged_in = true;
  CHECK(World(policy).decide(logged_in).need.is_empty());
}

TEST_CASE("a revoked sender costs the signatures that it would need if it were not revoked") {
  const Facts facts = facts_of("<joe@example.org>", "joe@example.org");
  const Decision decision = World(verifying(), "joe@example.org\n").decide(facts);
  CHECK(summary(decision) == "check revoked envelope");
  CHECK(need_of(decision) == "example.org+");
  CHECK(
      World(verifying(), "x@other.example\n").decide(facts_of("<x@other.example>", "x@other.example")).need.is_empty());
}

TEST_CASE("a message that trusted results authenticate, or that failed DMARC, needs no signature") {
  const World world(verifying());
  for (const std::string_view results : {"dkim=pass header.d=example.org", "dmarc=fail header.from=example.org"}) {
    Facts facts = facts_of("<joe@example.org>", "joe@example.org");
    facts.authentication = test::results(results, "<joe@example.org>", facts.header_from);
    CHECK(world.decide(facts).need.is_empty());
  }
}

TEST_CASE("a signature that passed authenticates the senders that it is aligned with, and no others") {
  const World world(verifying());
  const Facts below = facts_of("<x@other.example>", "y@news.tree.example");
  const Decision delivered = world.decide(with(below, {{.outcome = Outcome::pass, .domain = "tree.example"}}));
  CHECK(summary(delivered) == "deliver listed-domain-tree header-from dkim @main by @.tree.example");
  CHECK_FALSE(delivered.signature);
  CHECK(delivered.need.is_empty());
  const Facts facts = facts_of("<x@other.example>", "joe@example.org");
  const Decision by_child = world.decide(with(facts, {{.outcome = Outcome::pass, .domain = "news.example.org"}}));
  CHECK(summary(by_child) == "check not-authenticated header-from @main");
  const Decision other = world.decide(with(facts, {{.outcome = Outcome::pass, .domain = "other.example"}}));
  CHECK(summary(other) == "check not-authenticated header-from @main");
  CHECK(other.signature == Outcome::no_signature);
  CHECK(other.need.is_empty());
}

TEST_CASE("if both identities have to be authenticated, each needs a signature") {
  const World world(verifying(IdentityRule::both));
  const Facts facts = facts_of("<x@a.tree.example>", "y@b.tree.example");
  const Signature one = {.outcome = Outcome::pass, .domain = "a.tree.example"};
  const Signature other = {.outcome = Outcome::pass, .domain = "b.tree.example"};
  CHECK(world.decide(with(facts, {one})).verdict == Verdict::check);
  CHECK(world.decide(with(facts, {other})).verdict == Verdict::check);
  CHECK(world.decide(with(facts, {one, other})).verdict == Verdict::deliver);
}

TEST_CASE("a valid signature is enough beside an invalid one") {
  const World world(verifying());
  const Facts facts = facts_of("<x@other.example>", "joe@example.org");
  const Signature bad = {.outcome = Outcome::body_changed, .domain = "example.org"};
  const Signature good = {.outcome = Outcome::pass, .domain = "example.org"};
  CHECK(world.decide(with(facts, {bad, good})).verdict == Verdict::deliver);
  CHECK(world.decide(with(facts, {good, bad})).verdict == Verdict::deliver);
  const Decision decision = world.decide(with(facts, {bad}));
  CHECK(decision.signature == Outcome::body_changed);
  CHECK(header_value(decision, "mx", CheckMark::tells_why)
            .ends_with("; authentication=none; whitelist=main; dkim=body-changed"));
}

TEST_CASE("only a pass authenticates") {
  const World world(verifying());
  for (int outcome = 1; outcome <= static_cast<int>(Outcome::verifier_timeout); ++outcome) {
    const auto each = static_cast<Outcome>(outcome);
    INFO(signature_outcome_name(each));
    Facts facts = facts_of("<x@other.example>", "joe@example.org");
    CHECK(world.decide(with(facts, {{.outcome = each, .domain = "example.org"}})).verdict == Verdict::check);
    facts.signatures = Signatures{.fault = each};
    const Decision decision = world.decide(facts);
    CHECK(decision.verdict == Verdict::check);
    CHECK(decision.signature == each);
  }
}

TEST_CASE("a signature authenticates mail of the own domains") {
  Policy policy = verifying();
  policy.own_domains = read_exact_list("@ours.example\n").list;
  const World world(policy);
  const Facts facts = facts_of("<bob@ours.example>", "bob@ours.example");
  const Decision decision = world.decide(facts);
  CHECK(summary(decision) == "check own-domain envelope");
  CHECK(need_of(decision) == "ours.example+");
  CHECK(world.decide(with(facts, {{.outcome = Outcome::pass, .domain = "ours.example"}})).verdict == Verdict::deliver);
  CHECK(world.decide(with(facts, {})).signature == Outcome::no_signature);
}

TEST_CASE("a message that one sender delivers needs no signature for the other") {
  Facts facts = facts_of("<ann@bank.example>", "joe@example.org");
  facts.authentication = test::results("dkim=pass header.d=example.org", *facts.envelope_sender, facts.header_from);
  const Decision decision = World(verifying()).decide(facts);
  CHECK(summary(decision) == "deliver listed header-from dkim @main");
  CHECK(decision.need.is_empty());
}

TEST_CASE("with strict alignment a signature is needed, counts and is reported only for the same domain") {
  Policy policy = verifying();
  policy.alignment = Alignment::strict;
  const World world(policy);
  const Facts facts = facts_of("<x@news.example.org>", "joe@example.org");
  CHECK(need_of(world.decide(facts)) == "+example.org");
  const Decision below = world.decide(with(facts, {{.outcome = Outcome::pass, .domain = "news.example.org"}}));
  CHECK(summary(below) == "check not-authenticated header-from @main");
  CHECK(below.signature == Outcome::no_signature);
  CHECK(world.decide(with(facts, {{.outcome = Outcome::pass, .domain = "example.org"}})).verdict == Verdict::deliver);
}

TEST_CASE("with relaxed alignment the owner of each sender's domain decides whether another domain may sign") {
  Policy policy = verifying();
  policy.alignment = Alignment::relaxed;
  const auto decide = [&](IdentityRule identity, const Facts& unsigned_facts, std::vector<OwnerRule> rules) {
    policy.identity = identity;
    Facts facts = with(unsigned_facts, {{.outcome = Outcome::pass, .domain = "mg.tree.example"}});
    facts.signatures->owner_rules = std::move(rules);
    return World(policy).decide(facts);
  };
  const std::string signer = "mg.tree.example";
  const OwnerRule a_allows = {"a.tree.example", signer, Outcome::pass};
  const OwnerRule b_allows = {"b.tree.example", signer, Outcome::pass};
  const OwnerRule a_forbids = {"a.tree.example", signer, Outcome::other_domain_not_allowed};
  const OwnerRule a_unknown = {"a.tree.example", signer, Outcome::name_timeout};
  const OwnerRule a_allows_another = {"a.tree.example", "c.tree.example", Outcome::pass};

  const Facts from = facts_of("<x@other.example>", "y@a.tree.example");
  CHECK(summary(decide(IdentityRule::either, from, {a_allows})) ==
        "deliver listed-domain-tree header-from dkim @main by @.tree.example");
  CHECK(decide(IdentityRule::either, from, {}).verdict == Verdict::check);
  CHECK(decide(IdentityRule::either, from, {b_allows}).verdict == Verdict::check);
  CHECK(decide(IdentityRule::either, from, {a_allows_another}).verdict == Verdict::check);
  const Decision forbidden = decide(IdentityRule::either, from, {a_forbids});
  CHECK(summary(forbidden) == "check not-authenticated header-from @main by @.tree.example");
  CHECK(header_value(forbidden, "mx", CheckMark::tells_why).ends_with("; dkim=other-domain-not-allowed"));
  CHECK(decide(IdentityRule::either, from, {a_unknown}).signature == Outcome::name_timeout);

  const Facts two = facts_of("<x@a.tree.example>", "y@b.tree.example");
  CHECK(decide(IdentityRule::both, two, {a_allows, b_allows}).verdict == Verdict::deliver);
  CHECK(decide(IdentityRule::both, two, {a_allows}).verdict == Verdict::check);
  CHECK(decide(IdentityRule::both, two, {b_allows}).verdict == Verdict::check);
}

TEST_CASE("for a sender of the own domains the signatures of that domain are reported") {
  Policy policy = verifying();
  policy.own_domains = read_exact_list("@ours.example\n").list;
  const World world(policy);
  const std::vector<Signature> bad = {{.outcome = Outcome::body_changed, .domain = "ours.example"}};
  const Facts from = facts_of("<x@other.example>", "bob@ours.example");
  CHECK(summary(world.decide(with(from, bad))) == "check own-domain header-from");
  CHECK(world.decide(with(from, bad)).signature == Outcome::body_changed);
  const Facts behind = facts_of("<SRS0=HHHH=TT=ours.example=bob@forwarder.example>", "x@other.example");
  CHECK(summary(world.decide(with(behind, bad))) == "check own-domain envelope");
  CHECK(world.decide(with(behind, bad)).signature == Outcome::body_changed);
}

// The steps about signatures: "signature s1 example.org body-changed".
std::vector<std::string> steps(const World& world, const Facts& facts) {
  Trace trace;
  decide(facts, world.lists(), world.policy(), &trace);
  std::vector<std::string> found;
  for (const TraceStep& step : trace.steps()) {
    const bool is_wanted = step.name == "signature" || step.name == "key-bits" || step.name == "needs-signature" ||
                           step.name == "owner-rule" || step.name == "child-signer" || step.name == "signed-by";
    if (is_wanted) found.push_back(std::string(step.name) + " " + step.subject + " " + step.key + " " + step.outcome);
  }
  return found;
}

TEST_CASE(
    "an explanation shows each signature, its key's length, the owner's rule, and the domains without a signature") {
  using Steps = std::vector<std::string>;
  const World world(verifying());
  const Facts facts = facts_of("<x@other.example>", "joe@example.org");
  CHECK(steps(world, facts) == Steps{"needs-signature example.org  yes"});
  const Signature bad = {.outcome = Outcome::body_changed, .domain = "example.org", .selector = "s1", .key_bits = 2048};
  const Signature other = {.outcome = Outcome::key_not_found, .domain = "other.example", .selector = "s2"};
  CHECK(steps(world, with(facts, {bad, other})) == Steps{"signature s1 example.org body-changed", "key-bits s1  2048",
                                                         "signature s2 other.example key-not-found"});
  CHECK(steps(world, with(facts, {})) == Steps{"signature   no-signature"});
  Facts by_child = with(facts, {{.outcome = Outcome::pass, .domain = "news.example.org", .selector = "s3"}});
  by_child.signatures->owner_rules = {{"example.org", "news.example.org", Outcome::other_domain_not_allowed}};
  CHECK(steps(world, by_child) == Steps{"signature s3 news.example.org pass",
                                        "owner-rule news.example.org example.org other-domain-not-allowed"});
}

// "mg.example.org of example.org, not verified"; empty where there is none.
std::string child_signer(const Decision& decision) {
  const ChildSigner& child = decision.child_signer;
  if (child.is_none()) return {};
  return std::string(child.domain.view()) + " of " + std::string(child.parent()) +
         (child.is_verified ? ", verified" : ", not verified");
}

Grounds grounds_of(std::string_view signers) {
  Grounds grounds;
  grounds.begin("mail.example.org", "<x@other.example>");
  for (const std::string_view signer : test::items_of(signers)) {
    grounds.add_signature("v=1; a=rsa-sha256; s=x; h=from; bh=AA==; b=AA==; d=" + std::string(signer));
  }
  return grounds;
}

TEST_CASE("a signer below a listed sender's domain is named if its signature would deliver the message") {
  struct Case {
    std::string_view sentence, path, from, signers;
    IdentityRule identity;
    std::string_view want;
  };
  const Case cases[] = {
      {"of the listed From mailbox", "<x@other.example>", "joe@example.org", "mg.example.org", IdentityRule::either,
       "mg.example.org of example.org, not verified"},
      {"of the listed domain of the envelope sender and From", "<x@corp.example>", "y@corp.example", "mg.corp.example",
       IdentityRule::envelope, "mg.corp.example of corp.example, not verified"},
      {"of both senders, From decides", "<x@a.tree.example>", "ann@bank.example", "mg.a.tree.example, mg.bank.example",
       IdentityRule::header_from, "mg.bank.example of bank.example, not verified"},
      {"of From, while the envelope sender is listed, too", "<joe@example.org>", "ann@bank.example", "mg.bank.example",
       IdentityRule::either, "mg.bank.example of bank.example, not verified"},
      {"behind a trusted forwarder", "<SRS0=HHHH=TT=example.org=joe@forwarder.example>", "joe@example.org",
       "mg.example.org", IdentityRule::either, "mg.example.org of example.org, not verified"},
      {"of a borrowed envelope sender", "<joe@example.org>", "x@other.example", "mg.example.org", IdentityRule::either,
       ""},
      {"of one of two senders that have to be proven", "<x@a.tree.example>", "y@b.tree.example", "mg.a.tree.example",
       IdentityRule::both, ""},
      {"of a sender that is not listed", "<x@other.example>", "y@other.example", "mg.other.example",
       IdentityRule::either, ""},
      {"of no sender", "<x@other.example>", "joe@example.org", "mg.bank.example", IdentityRule::either, ""},
      {"of a bounce", "<>", "joe@example.org", "mg.example.org", IdentityRule::either, ""},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    Facts facts = with(facts_of(c.path, c.from), {});
    const Grounds grounds = grounds_of(c.signers);
    facts.grounds = &grounds;
    const Decision decision = World(verifying(c.identity)).decide(facts);
    CHECK(decision.verdict == Verdict::check);
    CHECK(child_signer(decision) == c.want);
  }
}

TEST_CASE(
    "a signer below the sender's domain is named only if it may not sign, and nothing else has proven the sender") {
  Facts facts = with(facts_of("<x@other.example>", "joe@example.org"), {});
  const Grounds grounds = grounds_of("mg.example.org");
  facts.grounds = &grounds;
  Policy policy = verifying();
  CHECK_FALSE(World(policy).decide(facts).child_signer.is_none());
  policy.alignment = Alignment::strict;
  CHECK_FALSE(World(policy).decide(facts).child_signer.is_none());
  policy.alignment = Alignment::relaxed;
  CHECK(World(policy).decide(facts).child_signer.is_none());
  policy.alignment = Alignment::parent;
  policy.verify_signatures = false;
  CHECK(World(policy).decide(facts).child_signer.is_none());
  policy.verify_signatures = true;
  facts.signatures->all = {{.outcome = Outcome::pass, .domain = "example.org"}};
  const Decision proven = World(policy).decide(facts);
  CHECK(proven.verdict == Verdict::deliver);
  CHECK(proven.child_signer.is_none());
}

TEST_CASE("a signer below the sender's domain that a trusted milter verified is named before one that it did not") {
  Facts facts = facts_of("<x@other.example>", "joe@example.org");
  facts.authentication = test::results("dkim=pass header.d=mg.example.org", *facts.envelope_sender, facts.header_from);
  Policy policy;
  CHECK(child_signer(World(policy).decide(facts)) == "mg.example.org of example.org, verified");
  policy.authentication = AuthenticationRule::preferred;
  CHECK(World(policy).decide(facts).verdict == Verdict::deliver);
  CHECK(World(policy).decide(facts).child_signer.is_none());
  facts = with(facts, {});
  const Grounds grounds = grounds_of("a.example.org");
  facts.grounds = &grounds;
  CHECK(child_signer(World(verifying()).decide(facts)) == "mg.example.org of example.org, verified");
}

TEST_CASE("an explanation has a step for the signer below the sender's domain") {
  Facts facts = with(facts_of("<x@other.example>", "joe@example.org"), {});
  const Grounds grounds = grounds_of("mg.example.org");
  facts.grounds = &grounds;
  CHECK(steps(World(verifying()), facts) ==
        std::vector<std::string>{"signature   no-signature", "child-signer example.org mg.example.org not-counted"});
}

TEST_CASE("an explanation names the other domains that have signed a listed sender's message") {
  Facts facts = with(facts_of("<x@other.example>", "joe@example.org"), {});
  Grounds grounds;
  grounds.begin("", "<x@other.example>");
  grounds.add_signature("v=1; a=rsa-sha256; d=esp.example; s=s1; h=from; bh=x; b=y");
  grounds.end_header({}, {});
  facts.grounds = &grounds;
  CHECK(steps(World(verifying()), facts) ==
        std::vector<std::string>{"signature   no-signature", "signed-by  esp.example not-aligned"});
}

}  // namespace
}  // namespace bloomgate
