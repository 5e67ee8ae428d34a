// Of a message that proves nothing the same signatures are asked for, whether its sender is listed, revoked, or just a
// neighbour of somebody who is listed: name servers and time must not say which.
#include <chrono>
#include <string>
#include <vector>

#include "milter/policy/header_field.hpp"
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
    main_.keep_neighbours();
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
  for (const Domain& each : decision.need.senders()) need.append(each.view()).append("+");
  for (const Domain& each : decision.need.signers()) {
    if (!each.view().empty()) need.append(each.view()).append("+");
  }
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
      is_any_needed = is_any_needed || of_listed != "++";
      CHECK(need("neighbour", "<ann@ours.example>") == of_listed);
      CHECK(need("neighbour", "<else@ours.example>") == of_listed);
      CHECK(need("joe", "<else@ours.example>") == of_listed);
      CHECK(need("rev", "<ann@ours.example>") == of_listed);
    }
  }
  CHECK(is_any_needed);
}

TEST_CASE("a neighbour needs the signatures that would prove a listed address") {
  struct Case {
    std::string_view sentence, path, from;
    IdentityRule identity;
    std::string_view want;
  };
  const Case cases[] = {
      {"From", "<x@other.example>", "n@bits.example", IdentityRule::either, "+bits.example+"},
      {"both, in one domain", "<n@bits.example>", "n@bits.example", IdentityRule::either, "bits.example++"},
      {"the envelope sender alone, which no signature proves", "<n@bits.example>", "x@other.example",
       IdentityRule::either, "++"},
      {"another From mailbox of the domain", "<n@bits.example>", "m@bits.example", IdentityRule::envelope, "++"},
      {"both have to be listed", "<n@bits.example>", "n@bits.example", IdentityRule::both, "bits.example++"},
      {"both have to be, and one cannot be", "<n@bits.example>", "x@other.example", IdentityRule::both, "++"},
      {"a domain above it", "<x@other.example>", "n@news.bits.example", IdentityRule::either, "++"},
      {"a domain below it", "<x@other.example>", "n@example", IdentityRule::either, "++"},
      {"tags and case", "<N+tag@bits.example>", "n@bits.example", IdentityRule::envelope, "bits.example++"},
      {"a listed domain", "<n@corp.example>", "m@corp.example", IdentityRule::envelope, "corp.example++"},
      {"no sender is listed there", "<n@other.example>", "n@other.example", IdentityRule::either, "++"},
  };
  for (const Case& each : cases) {
    INFO(each.sentence);
    const World world(each.identity);
    CHECK(need_of(world.decide(Message{std::string(each.path), std::string(each.from)}.facts())) == each.want);
  }
}

TEST_CASE("a neighbour needs no signature if none could prove a listed address") {
  const Message message = {"<n@bits.example>", "n@bits.example"};
  Facts facts = message.facts();
  facts.authentication = test::results("dkim=pass header.d=bits.example", message.path, facts.header_from);
  CHECK(need_of(World().decide(facts)) == "++");  // it is proven already
  CHECK(need_of(World(IdentityRule::either, AuthenticationRule::preferred).decide(message.facts())) == "++");
  World world;
  world.policy().dmarc_fail_vetoes = true;
  facts.authentication = test::results("dmarc=fail header.from=bits.example", message.path, facts.header_from);
  CHECK(need_of(world.decide(facts)) == "++");
  facts = message.facts();
  facts.is_bounce = true;
  CHECK(need_of(world.decide(facts)) == "++");
  world.policy().verify_signatures = false;
  CHECK(need_of(world.decide(message.facts())) == "++");
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

// A message that domains have signed, each with all that a reader sees.
class SignedMessage {
 public:
  SignedMessage(std::string_view from, std::string_view list_id, const std::vector<std::string_view>& signers,
                std::string_view recipient = "<ann@ours.example>")
      : from_(test::header_from(from)), recipient_(recipient) {
    grounds_.begin("client.example", kPath);
    grounds_.add_field("From", from);
    if (!list_id.empty()) grounds_.add_field("List-Id", "<" + std::string(list_id) + ">");
    for (const std::string_view signer : signers) {
      grounds_.add_signature("v=1; s=s; b=Zm9v; h=from:subject:date:list-id; d=" + std::string(signer));
    }
    grounds_.end_header({}, std::chrono::sys_seconds());
  }

  Facts facts() const {
    Facts facts = {.envelope_sender = kPath, .header_from = from_, .grounds = &grounds_};
    facts.recipients = {Recipients::State::all, {&recipient_, 1}};
    return facts;
  }

 private:
  static constexpr std::string_view kPath = "<x@elsewhere.example>";

  Grounds grounds_;
  HeaderFrom from_;
  std::string_view recipient_;
};

TEST_CASE("neighbours need the same signatures by entries with a signer, mailing lists and pairs with domains") {
  MemoryWhitelist main({"list:news.lists.one.example", "list:a.lists.two.example > ann@ours.example",
                        "list:b.service.example signed-by esp.example", "billing@bank.example signed-by esp.example",
                        "pay@bank.example signed-by other-esp.example", "@shop.example > ann@ours.example",
                        "@corp.example"});
  main.keep_neighbours();
  const NamedWhitelist named[] = {{"main", &main}};
  const ExactList revoked =
      read_exact_list(
          "list:rev.lists.one.example\nlist:rev.lists.two.example\nrev@bank.example\nrev@shop.example\n"
          "rev@corp.example\nlist:rev.service.example\n")
          .list;
  Policy policy;
  policy.verify_signatures = true;
  struct Case {
    std::string_view from, list_id;
    std::vector<std::string_view> signers;
    std::string_view want;
  };
  const std::string_view kMember = "m@member.example";
  // `%` stands for the name that tells neighbours apart.
  const Case cases[] = {
      {kMember, "%.lists.one.example", {"lists.one.example"}, "++lists.one.example+"},
      {kMember, "%.lists.one.example", {"evil.example"}, "++"},
      {kMember, "%.lists.two.example", {"evil.example", "lists.two.example"}, "++lists.two.example+"},
      {kMember, "%.service.example", {"esp.example"}, "++esp.example+"},
      {kMember, "%.other.example", {"other.example", "esp.example"}, "++"},
      {"%@bank.example", "", {"esp.example"}, "++esp.example+"},
      {"%@bank.example", "", {"esp.example", "evil.example", "other-esp.example"}, "++esp.example+other-esp.example+"},
      {"%@bank.example", "", {"evil.example"}, "++"},
      {"%@shop.example", "", {"shop.example"}, "+shop.example+"},
      {"%@corp.example", "", {"corp.example"}, "+corp.example+"},
      {"%@other.example", "", {"esp.example", "other.example"}, "++"},
  };
  const auto filled_name = [](std::string_view form, std::string_view name) {
    std::string text(form);
    if (const std::size_t at = text.find('%'); at != std::string::npos) text.replace(at, 1, name);
    return text;
  };
  for (const Case& each : cases) {
    for (const std::string_view name : {"news", "a", "b", "billing", "pay", "rev", "neighbour"}) {
      for (const std::string_view recipient : {"<ann@ours.example>", "<else@ours.example>"}) {
        INFO(each.from << " " << each.list_id << " " << name << " " << recipient);
        const SignedMessage message(filled_name(each.from, name), filled_name(each.list_id, name), each.signers,
                                    recipient);
        const Decision decision = decide(message.facts(), {.whitelists = named, .revoked = &revoked}, policy);
        CHECK(decision.verdict == Verdict::check);
        CHECK(need_of(decision) == each.want);
      }
    }
  }
}

TEST_CASE("results that prove one sender do not reveal whether the other one is listed") {
  const auto need = [](std::string_view envelope, std::string_view from) {
    World world;
    world.policy().spf_proves = SpfProves::address;
    const Message message = {filled("<%>", envelope, "bits.example"), filled("%", from, "extra.example")};
    Facts facts = message.facts();
    facts.authentication = test::results("spf=pass smtp.mailfrom=bits.example", message.path, facts.header_from);
    return need_of(world.decide(facts));
  };
  CHECK(need("neighbour", "joe") == "+extra.example+");
  CHECK(need("neighbour", "neighbour") == "+extra.example+");
  CHECK(need("neighbour", "rev") == "+extra.example+");
}

// What the plain mark tells.
std::string mark_of(const Decision& decision) {
  return header_value(decision, "mx", CheckMark::plain);
}

TEST_CASE("the mark of a checked message is the same for a listed sender, a revoked one and a neighbour") {
  struct Case {
    std::string_view sentence, path, from, results, want;
    bool is_bounce = false;
  };
  const Case cases[] = {
      {"nothing is proven", "<%>", "%", "", "check; reason=not-proven; host=mx"},
      {"the null sender", "<>", "%", "", "check; reason=null-sender; host=mx; identity=envelope"},
      {"a bounce", "<%>", "%", "", "check; reason=bounce; host=mx", true},
      {"several mailboxes", "<%>", "!several-mailboxes", "",
       "check; reason=several-from-mailboxes; host=mx; identity=header-from"},
      {"DMARC failed", "<%>", "%", "dmarc=fail header.from=bits.example",
       "check; reason=dmarc-fail; host=mx; identity=header-from"},
  };
  for (const Case& each : cases) {
    INFO(each.sentence);
    for (const std::string_view user : {"joe", "rev", "neighbour"}) {
      World world(IdentityRule::header_from);
      world.policy().dmarc_fail_vetoes = true;
      const Message message = {filled(each.path, user, "bits.example"), filled(each.from, user, "bits.example")};
      Facts facts = message.facts();
      facts.is_bounce = each.is_bounce;
      facts.authentication = test::results(each.results, message.path, facts.header_from);
      CHECK(mark_of(world.decide(facts)) == each.want);
    }
  }
}

TEST_CASE("if DMARC failed the mark says so, whether or not an entry with a signer lists the sender") {
  const MemoryWhitelist main({"billing@bank.example signed-by esp.example", "list:news.lists.one.example"});
  const NamedWhitelist named[] = {{"main", &main}};
  Policy policy;
  policy.dmarc_fail_vetoes = true;
  for (const std::string_view from : {"billing@bank.example", "x@bank.example"}) {
    for (const std::string_view list : {"", "news.lists.one.example", "other.lists.one.example"}) {
      const SignedMessage message(from, list, {"esp.example", "lists.one.example"});
      Facts facts = message.facts();
      facts.authentication =
          test::results("dmarc=fail header.from=bank.example", facts.envelope_sender.value(), facts.header_from);
      const Decision decision = decide(facts, {.whitelists = named}, policy);
      CHECK(mark_of(decision) == "check; reason=dmarc-fail; host=mx; identity=header-from");
    }
  }
}

TEST_CASE("a store is asked about a hit only after the signatures, if the whitelist keeps the domains of its senders") {
  World world;
  world.whitelist().set_store(77);
  const Message message = {"<joe@bits.example>", "joe@bits.example"};
  Facts facts = message.facts();
  const Decision first = world.decide(facts);
  CHECK_FALSE(first.question);
  CHECK(need_of(first) == "bits.example++");
  facts.signatures = Signatures{.all = {{.outcome = SignatureOutcome::body_changed, .domain = "bits.example"}}};
  CHECK_FALSE(world.decide(facts).question);
  facts.signatures->all.front().outcome = SignatureOutcome::pass;
  CHECK(world.decide(facts).question);
}

}  // namespace
}  // namespace bloomgate
