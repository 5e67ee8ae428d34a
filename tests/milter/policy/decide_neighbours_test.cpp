// Of a message that proves nothing the same signatures are asked for, whether its sender is listed, revoked, or just a
// neighbour of somebody who is listed: name servers and time must not say which.
#include <string>

#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::MemoryWhitelist;
using test::summary;

class LearnedDomain : public LearnedSenders {
 public:
  bool is_learned(std::string_view user, std::string_view sender) const noexcept override {
    return user == "ann@ours.example" && sender == "joe@learned.example";
  }
  bool has_sender_domain(std::string_view domain) const noexcept override { return domain == "learned.example"; }
};

// Of each of these domains joe is listed, one way or another, and rev is revoked.
constexpr std::string_view kDomains[] = {"bits.example", "pairs.example", "extra.example", "pairs.extra.example",
                                         "learned.example"};
constexpr IdentityRule kIdentityRules[] = {IdentityRule::envelope, IdentityRule::header_from, IdentityRule::either,
                                           IdentityRule::both};

class World {
 public:
  explicit World(IdentityRule identity = IdentityRule::either, AuthenticationRule rule = AuthenticationRule::required) {
    main_.keep_domains();
    policy_.identity = identity;
    policy_.authentication = rule;
    policy_.verify_signatures = true;
  }

  Decision decide(const Facts& facts) const noexcept {
    return bloomgate::decide(
        facts, {.whitelists = named_, .revoked = &revoked_, .extra = &extra_, .learned = &learned_}, policy_);
  }
  MemoryWhitelist& whitelist() { return main_; }
  Policy& policy() { return policy_; }

 private:
  MemoryWhitelist main_{{"joe@bits.example", "joe@pairs.example > ann@ours.example", "@corp.example"}};
  NamedWhitelist named_[1] = {{"main", &main_}};
  ExactList revoked_ = read_exact_list(
                           "rev@bits.example\nrev@pairs.example\nrev@extra.example\nrev@pairs.extra.example\n"
                           "rev@learned.example\n")
                           .list;
  ExactList extra_ = read_exact_list("joe@extra.example\njoe@pairs.extra.example > @ours.example\n").list;
  LearnedDomain learned_;
  Policy policy_;
};

// `%` stands for the user at the domain.
std::string filled(std::string_view form, std::string_view user, std::string_view domain) {
  std::string text(form);
  if (const std::size_t at = text.find('%'); at != std::string::npos) {
    text.replace(at, 1, std::string(user) + "@" + std::string(domain));
  }
  return text;
}

struct Message {
  std::string path, from;
  std::string_view recipient = "<ann@ours.example>";

  Facts facts() const {
    Facts facts = {.envelope_sender = path, .header_from = test::header_from(from)};
    facts.recipients = {Recipients::State::all, {&recipient, 1}};
    return facts;
  }
};

std::string need_of(const Decision& decision) {
  std::string need;
  for (const Domain& each : decision.need.domains) need.append(each.view()).append("+");
  return need;
}

TEST_CASE("a listed sender, a revoked one and a neighbour need the same signatures") {
  const std::pair<std::string_view, std::string_view> forms[] = {
      {"<%>", "%"},
      {"<x@other.example>", "%"},
      {"<%>", "x@other.example"},
      {"<%>", "!absent"},
      {"<%>", "x@corp.example"},
      {"<x@corp.example>", "%"},
      {"<x@news.bits.example>", "%"},
      {"<>", "%"},
  };
  const IdentityRule identity = GENERATE(from_range(std::begin(kIdentityRules), std::end(kIdentityRules)));
  const World world(identity);
  bool is_any_needed = false;
  for (const std::string_view domain : kDomains) {
    for (const auto& [path, from] : forms) {
      const auto need = [&, &path = path, &from = from](std::string_view user, std::string_view recipient) {
        const Message message = {filled(path, user, domain), filled(from, user, domain), recipient};
        const Decision decision = world.decide(message.facts());
        CHECK(decision.verdict == Verdict::check);
        CHECK_FALSE(decision.question);
        return need_of(decision);
      };
      INFO(path << " " << from << " " << domain);
      const std::string of_listed = need("joe", "<ann@ours.example>");
      is_any_needed = is_any_needed || of_listed != "+++";
      CHECK(need("neighbour", "<ann@ours.example>") == of_listed);
      CHECK(need("neighbour", "<else@ours.example>") == of_listed);
      CHECK(need("joe", "<else@ours.example>") == of_listed);
      CHECK(need("rev", "<ann@ours.example>") == of_listed);
    }
  }
  CHECK(is_any_needed);
}

TEST_CASE("signatures are needed of a neighbour that would prove a listed address") {
  struct Case {
    std::string_view sentence, path, from;
    IdentityRule identity;
    std::string_view want;
  };
  const Case cases[] = {
      {"From", "<x@other.example>", "n@bits.example", IdentityRule::either, "+bits.example++"},
      {"both, in one domain", "<n@bits.example>", "n@bits.example", IdentityRule::either, "bits.example+++"},
      {"the envelope sender alone, which no signature proves", "<n@bits.example>", "x@other.example",
       IdentityRule::either, "+++"},
      {"another From mailbox of the domain", "<n@bits.example>", "m@bits.example", IdentityRule::envelope, "+++"},
      {"both have to be listed", "<n@bits.example>", "n@bits.example", IdentityRule::both, "bits.example+++"},
      {"both have to be, and one cannot be", "<n@bits.example>", "x@other.example", IdentityRule::both, "+++"},
      {"a domain above it", "<x@other.example>", "n@news.bits.example", IdentityRule::either, "+++"},
      {"a domain below it", "<x@other.example>", "n@example", IdentityRule::either, "+++"},
      {"tags and case", "<N+tag@bits.example>", "n@bits.example", IdentityRule::envelope, "bits.example+++"},
      {"a listed domain", "<n@corp.example>", "m@corp.example", IdentityRule::envelope, "corp.example+++"},
      {"no sender is listed there", "<n@other.example>", "n@other.example", IdentityRule::either, "+++"},
  };
  for (const Case& each : cases) {
    INFO(each.sentence);
    const World world(each.identity);
    CHECK(need_of(world.decide(Message{std::string(each.path), std::string(each.from)}.facts())) == each.want);
  }
}

TEST_CASE("no signature of a neighbour is needed where none could prove a listed address") {
  const Message message = {"<n@bits.example>", "n@bits.example"};
  Facts facts = message.facts();
  facts.authentication = test::results("dkim=pass header.d=bits.example", message.path, facts.header_from);
  CHECK(need_of(World().decide(facts)) == "+++");  // it is proven already
  CHECK(need_of(World(IdentityRule::either, AuthenticationRule::preferred).decide(message.facts())) == "+++");
  World world;
  world.policy().dmarc_fail_vetoes = true;
  facts.authentication = test::results("dmarc=fail header.from=bits.example", message.path, facts.header_from);
  CHECK(need_of(world.decide(facts)) == "+++");
  facts = message.facts();
  facts.is_bounce = true;
  CHECK(need_of(world.decide(facts)) == "+++");
  world.policy().verify_signatures = false;
  CHECK(need_of(world.decide(message.facts())) == "+++");
}

TEST_CASE("a signature that passes delivers the listed sender, and neither a neighbour nor a revoked sender") {
  const World world;
  const auto decided = [&](std::string_view user) {
    const Message message = {filled("<%>", user, "bits.example"), filled("%", user, "bits.example")};
    Facts facts = message.facts();
    facts.signatures = Signatures{.all = {{.outcome = SignatureOutcome::pass, .domain = "bits.example"}}};
    const Decision decision = world.decide(facts);
    CHECK(decision.need.is_empty());
    return summary(decision);
  };
  CHECK(decided("joe") == "deliver listed envelope dkim @main");
  CHECK(decided("neighbour") == "check not-listed envelope dkim");
  CHECK(decided("rev") == "check revoked envelope");
}

TEST_CASE("a store is asked about a hit only after the signatures, if the whitelist keeps the domains of its senders") {
  World world;
  world.whitelist().set_store(77);
  const Message message = {"<joe@bits.example>", "joe@bits.example"};
  Facts facts = message.facts();
  const Decision first = world.decide(facts);
  CHECK_FALSE(first.question);
  CHECK(need_of(first) == "bits.example+++");
  facts.signatures = Signatures{.all = {{.outcome = SignatureOutcome::body_changed, .domain = "bits.example"}}};
  CHECK_FALSE(world.decide(facts).question);
  facts.signatures->all.front().outcome = SignatureOutcome::pass;
  CHECK(world.decide(facts).question);
}

}  // namespace
}  // namespace bloomgate
