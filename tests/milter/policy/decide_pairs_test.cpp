// The decision where whitelists hold entries for one recipient.
#include <map>
#include <random>
#include <set>
#include <span>

#include "milter/policy/explain.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::items_of;
using test::MemoryWhitelist;
using test::summary;
using Paths = std::vector<std::string_view>;

constexpr std::uint64_t kStore = 1001;

// Whoever sends, says the envelope, unless a From mailbox is given.
Facts facts_of(std::string_view path, const Paths& recipients, std::string_view from = "nobody@stranger.example") {
  Facts facts = {.envelope_sender = path, .header_from = test::header_from(from)};
  facts.recipients = {Recipients::State::all, recipients};
  return facts;
}

class PairWorld {
 public:
  explicit PairWorld(Policy policy = {.authentication = AuthenticationRule::off}) : policy_(std::move(policy)) {}

  Decision decide(const Facts& facts, Trace* trace = nullptr) const noexcept {
    return bloomgate::decide(facts, {.whitelists = named_, .revoked = &revoked_, .extra = &extra_}, policy_, trace);
  }
  std::string sum(std::string_view path, const Paths& recipients,
                  std::string_view from = "nobody@stranger.example") const {
    return summary(decide(facts_of(path, recipients, from)));
  }

  Policy& policy() { return policy_; }
  void revoke(std::string_view text) { revoked_ = read_exact_list(text).list; }
  void add(std::string_view text) { extra_ = read_exact_list(text).list; }
  MemoryWhitelist& main() { return main_; }
  MemoryWhitelist& other() { return other_; }
  void take_away_other() { named_[1].whitelist = nullptr; }

 private:
  MemoryWhitelist main_{{"all@example.org", "joe@example.org > ann@ours.example", "joe@example.org > bob@ours.example",
                         "@corp.example > ann@ours.example", "pat@partner.example > @tenant.example",
                         "@.wide.example > @.ours.example", "gone@example.org > ann@ours.example",
                         "\"odd one\"@example.org > \"odd two\"@ours.example"}};
  MemoryWhitelist other_{{"joe@example.org > eve@ours.example"}, {.tag_separators = *TagSeparators::parse("+")}};
  NamedWhitelist named_[2] = {{"main", &main_}, {"other", &other_}};
  ExactList revoked_ = read_exact_list("gone@example.org\n").list;
  ExactList extra_;
  Policy policy_;
};

struct PairCase {
  std::string_view sentence, path, recipients, want;
};

void check_all(const PairWorld& world, std::span<const PairCase> cases) {
  for (const PairCase& each : cases) {
    INFO(each.sentence);
    CHECK(world.sum(each.path, items_of(each.recipients)) == each.want);
  }
}

TEST_CASE("a sender is delivered if listed for all recipients at once, or for each of them") {
  const PairCase cases[] = {
      {"for everybody", "<all@example.org>", "ann@ours.example, x@y.example", "deliver listed envelope @main"},
      {"for the one", "<joe@example.org>", "ann@ours.example", "deliver listed-for-recipients envelope @main"},
      {"in capitals", "<Joe@Example.Org>", "Ann@OURS.example", "deliver listed-for-recipients envelope @main"},
      {"for both", "<joe@example.org>", "ann@ours.example, bob@ours.example",
       "deliver listed-for-recipients envelope @main"},
      {"for one of two", "<joe@example.org>", "ann@ours.example, x@ours.example",
       "check not-listed-for-all envelope @main"},
      {"for the other of two", "<joe@example.org>", "x@ours.example, ann@ours.example",
       "check not-listed-for-all envelope @main"},
      {"for none of them", "<joe@example.org>", "x@ours.example, y@ours.example", "check not-listed envelope"},
      {"the recipient as sender", "<ann@ours.example>", "joe@example.org", "check not-listed envelope"},
      {"twice the same", "<joe@example.org>", "ann@ours.example, ann@ours.example",
       "deliver listed-for-recipients envelope @main"},
      {"in the other list", "<joe@example.org>", "eve@ours.example", "deliver listed-for-recipients envelope @other"},
      {"in both lists together", "<joe@example.org>", "eve@ours.example, ann@ours.example",
       "deliver listed-for-recipients envelope @main"},
      {"a domain of senders", "<x@corp.example>", "ann@ours.example", "deliver listed-for-recipients envelope @main"},
      {"a domain of recipients", "<pat@partner.example>", "x@tenant.example, y@tenant.example",
       "deliver listed-for-recipients envelope @main"},
      {"and not below it", "<pat@partner.example>", "x@sub.tenant.example", "check not-listed envelope"},
      {"a tree for a tree", "<x@a.wide.example>", "x@b.ours.example", "deliver listed-for-recipients envelope @main"},
      {"revoked", "<gone@example.org>", "ann@ours.example", "check revoked envelope"},
      {"an invalid recipient", "<joe@example.org>", "ann@ours.example, postmaster",
       "check not-listed-for-all envelope @main"},
      {"the null sender", "<>", "ann@ours.example", "check null-sender envelope"},
      {"with quotes", "<\"odd one\"@example.org>", "\"odd two\"@ours.example",
       "deliver listed-for-recipients envelope @main"},
      {"with a route", "<joe@example.org>", "@relay.example:ann@ours.example",
       "deliver listed-for-recipients envelope @main"},
  };
  const PairWorld world;
  check_all(world, cases);
}

TEST_CASE("without known recipients pairs list no sender, and entries for all recipients still do") {
  const PairWorld world;
  Facts facts = facts_of("<joe@example.org>", {});
  CHECK(summary(world.decide(facts)) == "check recipients-unknown envelope");
  facts.recipients = {};
  CHECK(summary(world.decide(facts)) == "check recipients-unknown envelope");
  const Paths ann = {"ann@ours.example"};
  facts.recipients = {Recipients::State::unknown, ann};
  CHECK(summary(world.decide(facts)) == "check recipients-unknown envelope");
  facts.recipients = {Recipients::State::too_many, ann};
  CHECK(summary(world.decide(facts)) == "check too-many-recipients envelope");
  facts.envelope_sender = "<all@example.org>";
  CHECK(summary(world.decide(facts)) == "deliver listed envelope @main");
}

TEST_CASE("up to a hundred recipients are looked up, and none of a message with more") {
  const PairWorld world;
  Paths recipients(kMostPairRecipients, "ann@ours.example");
  CHECK(kMostPairRecipients == 100);
  CHECK(world.sum("<joe@example.org>", recipients) == "deliver listed-for-recipients envelope @main");
  CHECK(world.decide(facts_of("<joe@example.org>", recipients)).for_recipients == ForRecipients{100, 100});
  recipients.push_back("ann@ours.example");
  CHECK(world.sum("<joe@example.org>", recipients) == "check too-many-recipients envelope");
  CHECK(world.decide(facts_of("<joe@example.org>", recipients)).for_recipients == ForRecipients{});
}

TEST_CASE("without pairs in a whitelist the recipients make no difference, known or not") {
  MemoryWhitelist plain({"all@example.org"});
  const NamedWhitelist named[] = {{"plain", &plain}};
  const Policy policy = {.authentication = AuthenticationRule::off};
  Facts facts = {.envelope_sender = "<joe@example.org>", .header_from = test::header_from("x@stranger.example")};
  const Decision unknown = decide(facts, {.whitelists = named}, policy);
  CHECK(summary(unknown) == "check not-listed envelope");
  const Paths ann = {"ann@ours.example"};
  facts.recipients = {Recipients::State::all, ann};
  CHECK(decide(facts, {.whitelists = named}, policy) == unknown);
  CHECK(unknown.draws == Draws{2, 0});
  // Beside one with pairs it is asked for each sender alone, still.
  MemoryWhitelist pairs({"pat@partner.example > ann@ours.example"});
  const NamedWhitelist both[] = {{"plain", &plain}, {"pairs", &pairs}};
  CHECK(decide(facts, {.whitelists = both}, policy).draws == Draws{2 * (2 + 1), 0});
}

TEST_CASE("a recipient's tag is removed by the delimiter, and by the whitelist's tag separators") {
  PairWorld world;
  const Paths tagged = {"ann+shop@ours.example"};
  CHECK(world.sum("<joe@example.org>", tagged) == "check not-listed envelope");
  CHECK(world.sum("<joe@example.org>", {"eve+shop@ours.example"}) == "deliver listed-for-recipients envelope @other");
  world.policy().recipient_delimiter = *TagSeparators::parse("+");
  CHECK(world.sum("<joe@example.org>", tagged) == "deliver listed-for-recipients envelope @main");
  // A sender's tag is the whitelist's affair alone.
  CHECK(world.sum("<joe+x@example.org>", tagged) == "check not-listed envelope");
  CHECK(world.sum("<joe+x@example.org>", {"eve@ours.example"}) == "deliver listed-for-recipients envelope @other");
}

TEST_CASE("each sender of a message has to be listed for all recipients separately") {
  using enum IdentityRule;
  PairWorld world;
  struct Case {
    IdentityRule rule;
    std::string_view path, from, recipients, want;
  };
  const Case cases[] = {
      {either, "<x@stranger.example>", "joe@example.org", "ann@ours.example",
       "deliver listed-for-recipients header-from @main"},
      {either, "<x@corp.example>", "pat@partner.example", "ann@ours.example, y@tenant.example",
       "check not-listed-for-all envelope @main"},
      {either, "<x@stranger.example>", "joe@example.org", "ann@ours.example, y@tenant.example",
       "check not-listed-for-all header-from @main"},
      {envelope, "<x@stranger.example>", "joe@example.org", "ann@ours.example", "check not-listed envelope"},
      {header_from, "<x@stranger.example>", "joe@example.org", "ann@ours.example",
       "deliver listed-for-recipients header-from @main"},
      {both, "<x@stranger.example>", "joe@example.org", "ann@ours.example", "check not-listed envelope"},
      {both, "<x@corp.example>", "joe@example.org", "ann@ours.example", "deliver listed-for-recipients both @main"},
      {both, "<all@example.org>", "joe@example.org", "ann@ours.example", "deliver listed-for-recipients both @main"},
      {both, "<joe@example.org>", "all@example.org", "ann@ours.example", "deliver listed both @main"},
      {both, "<x@corp.example>", "joe@example.org", "bob@ours.example", "check not-listed envelope"},
  };
  for (const Case& c : cases) {
    INFO(c.path << " " << c.from << " " << static_cast<int>(c.rule));
    world.policy().identity = c.rule;
    CHECK(world.sum(c.path, items_of(c.recipients), c.from) == c.want);
  }
}

TEST_CASE("a sender listed by pairs has to be authenticated like any other, including local senders") {
  PairWorld world(Policy{});
  const std::string path = "<joe@example.org>";
  const Paths ann = {"ann@ours.example"};
  Facts facts = facts_of(path, ann, "joe@example.org");
  CHECK(summary(world.decide(facts)) == "check not-authenticated envelope @main");
  facts.authentication = test::results("dkim=pass header.d=example.org", path, facts.header_from);
  CHECK(summary(world.decide(facts)) == "deliver listed-for-recipients envelope dkim @main");
  facts.authentication = {};
  world.policy().verify_signatures = true;
  const Decision needing = world.decide(facts);
  CHECK(needing.need.domains[0].view() == "example.org");
  const Paths stranger = {"ann@ours.example", "x@ours.example"};
  facts.recipients.paths = stranger;
  CHECK(world.decide(facts).need.is_empty());
  facts.recipients.paths = ann;
  world.policy().own_domains = read_exact_list("@example.org\n").list;
  CHECK(world.decide(facts).reason == Reason::own_domain);
}

TEST_CASE("a missing or damaged whitelist lists no sender for any recipient, and is reported") {
  PairWorld world;
  world.take_away_other();
  CHECK(world.sum("<joe@example.org>", {"ann@ours.example"}) == "deliver listed-for-recipients envelope @main");
  CHECK(world.sum("<joe@example.org>", {"eve@ours.example"}) == "check no-whitelist envelope @other");
  CHECK(world.sum("<joe@example.org>", {"ann@ours.example", "eve@ours.example"}) ==
        "check no-whitelist envelope @other");

  PairWorld damaged;
  damaged.main().damage_after(0);
  CHECK(damaged.sum("<joe@example.org>", {"ann@ours.example"}) == "check whitelist-damaged envelope @main");
  CHECK(damaged.sum("<joe@example.org>", {"eve@ours.example"}) == "deliver listed-for-recipients envelope @other");
  // find_fault() and the look-up of the sender alone still have found it sound.
  PairWorld meanwhile;
  meanwhile.main().damage_after(2);
  CHECK(meanwhile.sum("<joe@example.org>", {"ann@ours.example"}) == "check whitelist-damaged envelope @main");
}

// Decides with each question answered by `answer`, which gets the number of the question, from 1.
template <typename Answer>
Decision decide_with(const PairWorld& world, Facts& facts, Answer answer) {
  for (;;) {
    const Decision decision = world.decide(facts);
    if (!decision.question) return decision;
    CHECK(decision.verdict == Verdict::check);
    REQUIRE_FALSE(facts.reply_to(*decision.question));
    facts.replies.push_back({*decision.question, answer(facts.replies.size() + 1)});
  }
}

TEST_CASE("a store confirms each pair separately, and only if the message would be delivered") {
  using enum Confirmation;
  PairWorld world;
  world.main().set_store(kStore);
  const Paths two = {"ann@ours.example", "bob@ours.example"};
  Facts facts = facts_of("<joe@example.org>", two);
  const Decision yes_to_all = decide_with(world, facts, [](std::size_t) { return yes; });
  CHECK(summary(yes_to_all) == "deliver listed-for-recipients envelope @main");
  CHECK(yes_to_all.confirmation == yes);
  CHECK(facts.replies.size() == 2);
  CHECK(facts.replies[0].question.hash ==
        hash_key(pair_key("joe@example.org", "ann@ours.example").view(), kStore, HashFamily::xxh3));

  for (const std::size_t which : {std::size_t{1}, std::size_t{2}}) {
    INFO(which);
    facts.replies.clear();
    const Decision one_is_not =
        decide_with(world, facts, [which](std::size_t number) { return number == which ? no : yes; });
    CHECK(summary(one_is_not) == "check not-listed-for-all envelope @main");
    CHECK(one_is_not.for_recipients == ForRecipients{2, 1});
    facts.replies.clear();
    const Decision slow =
        decide_with(world, facts, [which](std::size_t number) { return number == which ? timeout : yes; });
    CHECK(summary(slow) == "check confirm-timeout envelope @main");
    CHECK(slow.confirmation == timeout);
  }
  facts.replies.clear();
  const Paths ann = {"ann@ours.example"};
  facts.recipients.paths = ann;
  const Decision stranger = decide_with(world, facts, [](std::size_t) { return no; });
  CHECK(summary(stranger) == "check not-listed envelope");
  CHECK(stranger.confirmation == no);

  const Paths unknown = {"ann@ours.example", "x@ours.example"};
  CHECK_FALSE(world.decide(facts_of("<joe@example.org>", unknown)).question);
  CHECK_FALSE(world.decide(facts_of("<x@corp.example>", ann)).question);  // exact
}

TEST_CASE("a pair that a store does not confirm may still be listed by its domains, or by another whitelist") {
  const Policy policy = {.authentication = AuthenticationRule::off};
  MemoryWhitelist main({"joe@example.org > ann@ours.example", "@example.org > @ours.example"});
  MemoryWhitelist other({"pat@partner.example > ann@ours.example"});
  MemoryWhitelist third({"pat@partner.example > ann@ours.example"});
  main.set_store(kStore);
  other.set_store(kStore + 1);
  const NamedWhitelist named[] = {{"main", &main}, {"other", &other}, {"third", &third}};
  const Paths ann = {"ann@ours.example"};
  for (const std::string_view path : {"<joe@example.org>", "<pat@partner.example>"}) {
    Facts facts = facts_of(path, ann);
    Decision decision = decide(facts, {.whitelists = named}, policy);
    REQUIRE(decision.question);
    facts.replies.push_back({*decision.question, Confirmation::damaged});
    decision = decide(facts, {.whitelists = named}, policy);
    CHECK(decision.verdict == Verdict::deliver);
    CHECK(decision.reason == Reason::listed_for_recipients);
    CHECK_FALSE(decision.confirmation);
  }
}

TEST_CASE("a message counts as confirmed if a store has confirmed every entry that lists its sender") {
  PairWorld world;
  world.main().set_store(kStore);
  const Paths both = {"ann@ours.example", "eve@ours.example"};
  Facts facts = facts_of("<joe@example.org>", both);
  Decision decision = decide_with(world, facts, [](std::size_t) { return Confirmation::yes; });
  CHECK(decision.verdict == Verdict::deliver);
  CHECK_FALSE(decision.confirmation);  // the other list has no store
  world.other().set_store(kStore + 1);
  facts.replies.clear();
  decision = decide_with(world, facts, [](std::size_t) { return Confirmation::yes; });
  CHECK(decision.confirmation == Confirmation::yes);
  // Of two faults the first is told.
  REQUIRE(facts.replies.size() == 2);
  facts.replies[0].confirmation = Confirmation::timeout;
  facts.replies[1].confirmation = Confirmation::damaged;
  CHECK(summary(world.decide(facts)) == "check confirm-timeout envelope @main");
}

TEST_CASE("look-ups are counted for a sender alone and with each recipient") {
  const PairWorld world;
  const Paths ann = {"ann@ours.example"};
  const Decision alone = world.decide(facts_of("<all@example.org>", ann));
  CHECK(alone.draws == Draws{1, 1});  // whoever is listed for everybody is not looked up for anybody
  CHECK(alone.for_recipients == ForRecipients{});
  const Paths two = {"ann@ours.example", "x@ours.example"};
  const Decision decision = world.decide(facts_of("<joe@example.org>", two));
  // Envelope: alone in two lists, with both recipients in the first, with the second in the other. From: alone in two,
  // with both recipients in two.
  CHECK(decision.draws == Draws{2 + 2 + 1 + 2 + 4, 1});
  // A whitelist that is damaged is asked nothing, and the next one is.
  PairWorld damaged;
  damaged.main().damage_after(0);
  const Facts for_nobody_known = {.envelope_sender = "<x@example.org>",
                                  .header_from = test::header_from("y@example.org")};
  CHECK(damaged.decide(for_nobody_known).draws == Draws{2, 0});
}

TEST_CASE("the steps show each pair that was looked up, and the mark does not") {
  const PairWorld world;
  Trace trace;
  const Paths three = {"ann@ours.example", "eve@ours.example", "no address"};
  const Decision decision = world.decide(facts_of("<x@corp.example>", three, "x@corp.example"), &trace);
  const std::string text = explanation_text(trace, decision, "mx", CheckMark::tells_why);
  CHECK_THAT(text, Catch::Contains("\npair               listed  subject=main key=x@corp.example>ann@ours.example "
                                   "entry=@corp.example>ann@ours.example\n"));
  CHECK_THAT(text,
             Catch::Contains("\npair               not-listed  subject=other key=x@corp.example>eve@ours.example\n"));
  CHECK_THAT(text, Catch::Contains("\npair               missing-at-sign  subject=main key=no\\x20address\n"));
  CHECK_THAT(text, Catch::Contains("\nmark               check; reason=not-listed-for-all; host=mx; identity=envelope; "
                                   "authentication=none; whitelist=main\n"));
}

// A few addresses, so that every kind of entry meets every kind of message.
constexpr std::string_view kSenders[] = {"a@x.example", "b@x.example", "a@y.x.example", "c@z.example"};
constexpr std::string_view kRecipients[] = {"a@x.example", "r@o.example", "s@o.example", "r@p.o.example",
                                            "t@q.example"};
constexpr std::string_view kSenderForms[] = {"a@x.example", "b@x.example", "@x.example", "@.x.example", "@z.example"};
constexpr std::string_view kRecipientForms[] = {"r@o.example", "s@o.example", "@o.example", "@.o.example",
                                                "a@x.example"};

// What an entry covers, said anew and simply.
bool covers(std::string_view form, std::string_view address) {
  const std::string_view domain = address.substr(address.find('@') + 1);
  if (form.starts_with("@.")) {
    const std::string_view tree = form.substr(2);
    return domain == tree || domain.ends_with("." + std::string(tree));
  }
  return form.starts_with('@') ? domain == form.substr(1) : form == address;
}

TEST_CASE("on random lists and messages the decision equals that of a plain search") {
  std::mt19937 engine(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(engine() % count); };
  std::map<Reason, int> met;
  for (int round = 0; round < 3000; ++round) {
    std::set<std::pair<std::string_view, std::string_view>> pairs;
    std::set<std::string_view> plain;
    std::vector<std::string> lines[2];
    for (std::size_t i = below(6); i != 0; --i) {
      const auto pair = std::pair(kSenderForms[below(5)], kRecipientForms[below(5)]);
      pairs.insert(pair);
      lines[below(2)].push_back(std::string(pair.first) + " > " + std::string(pair.second));
    }
    if (below(4) == 0) lines[below(2)].emplace_back(*plain.insert(kSenderForms[below(5)]).first);
    const MemoryWhitelist first(lines[0]);
    const MemoryWhitelist second(lines[1]);
    const NamedWhitelist named[] = {{"first", &first}, {"second", &second}};
    const std::string_view sender = kSenders[below(4)];
    Paths recipients;
    for (std::size_t i = 1 + below(3); i != 0; --i) recipients.push_back(kRecipients[below(5)]);

    const bool for_everybody = std::ranges::any_of(plain, [&](std::string_view form) { return covers(form, sender); });
    const auto listed = std::ranges::count_if(recipients, [&](std::string_view recipient) {
      return std::ranges::any_of(
          pairs, [&](const auto& pair) { return covers(pair.first, sender) && covers(pair.second, recipient); });
    });
    const bool for_all = static_cast<std::size_t>(listed) == recipients.size();
    const std::string path = "<" + std::string(sender) + ">";
    const Decision decision =
        decide(facts_of(path, recipients, sender), {.whitelists = named}, {.authentication = AuthenticationRule::off});
    INFO(sender << " round " << round);
    CHECK((decision.verdict == Verdict::deliver) == (for_everybody || for_all));
    if (!for_everybody) {
      CHECK(decision.reason == (for_all       ? Reason::listed_for_recipients
                                : listed != 0 ? Reason::not_listed_for_all
                                              : Reason::not_listed));
    }
    ++met[decision.reason];
  }
  for (const Reason reason : {Reason::listed_for_recipients, Reason::not_listed_for_all, Reason::not_listed}) {
    CHECK(met[reason] > 100);
  }
}

TEST_CASE("a revoked pair stops every message of the sender to that recipient") {
  PairWorld world;
  world.policy().recipient_delimiter = *TagSeparators::parse("-");
  world.revoke(
      "all@example.org > ann@ours.example\n@corp.example > ann@ours.example\n@.wide.example > @tenant.example\n");
  const PairCase cases[] = {
      {"for him", "<all@example.org>", "ann@ours.example", "check revoked envelope"},
      {"for others", "<all@example.org>", "bob@ours.example", "deliver listed envelope @main"},
      {"for him among others", "<all@example.org>", "bob@ours.example, ann@ours.example", "check revoked envelope"},
      {"with tags", "<All+x@example.org>", "Ann+y@ours.example", "check revoked envelope"},
      {"with the tag of a recipient", "<all@example.org>", "ann-y@ours.example", "check revoked envelope"},
      {"by the domain", "<x@corp.example>", "ann@ours.example", "check revoked envelope"},
      {"a tenant", "<x@a.wide.example>", "any@tenant.example", "check revoked envelope"},
      {"another tenant", "<x@a.wide.example>", "x@ours.example", "deliver listed-for-recipients envelope @main"},
      {"a name that may be his", "<all@example.org>", "ann", "check recipients-unknown envelope"},
      {"the number of a machine", "<all@example.org>", "ann@[192.0.2.1]", "check recipients-unknown envelope"},
      {"another address in it", "<all@example.org>", "ann%ours.example@b.example", "check recipients-unknown envelope"},
      {"a name before another", "<all@example.org>", "ann, bob@ours.example", "check recipients-unknown envelope"},
      {"a name beside him", "<all@example.org>", "ann, ann@ours.example", "check revoked envelope"},
      {"another sender to a name", "<joe@example.org>", "ann", "check not-listed envelope"},
  };
  check_all(world, cases);
  CHECK(world.sum("<bob@example.org>", {"ann@ours.example"}, "all@example.org") == "check revoked header-from");
  Facts facts = facts_of("<all@example.org>", {});
  facts.recipients = {};
  CHECK(summary(world.decide(facts)) == "check recipients-unknown envelope");
  facts.recipients.state = Recipients::State::too_many;
  CHECK(summary(world.decide(facts)) == "check too-many-recipients envelope");
  world.revoke("pat@example.org > ann@ours.example\n");
  CHECK(summary(world.decide(facts)) == "deliver listed envelope @main");
}

TEST_CASE("pairs of the list extra count together with those of the whitelists") {
  PairWorld world;
  world.policy().recipient_delimiter = *TagSeparators::parse("-");
  world.add("joe@example.org > new@ours.example\n@extra.example > @ours.example\n");
  const PairCase cases[] = {
      {"alone", "<joe@example.org>", "new@ours.example", "deliver listed-for-recipients envelope @extra"},
      {"in capitals", "<Joe@example.org>", "New@ours.example", "deliver listed-for-recipients envelope @extra"},
      {"with the tag of a recipient", "<joe@example.org>", "new-x@ours.example",
       "deliver listed-for-recipients envelope @extra"},
      {"with a whitelist", "<joe@example.org>", "ann@ours.example, new@ours.example",
       "deliver listed-for-recipients envelope @extra"},
      {"for some", "<joe@example.org>", "new@ours.example, x@ours.example", "check not-listed-for-all envelope @extra"},
      {"a domain", "<x@extra.example>", "any@ours.example", "deliver listed-for-recipients envelope @extra"},
      {"and not below it", "<x@sub.extra.example>", "any@ours.example", "check not-listed envelope"},
      {"a tag of the sender is another sender", "<joe+x@example.org>", "new@ours.example", "check not-listed envelope"},
      {"a name is nobody", "<joe@example.org>", "new@ours.example, new", "check not-listed-for-all envelope @extra"},
  };
  check_all(world, cases);
  world.revoke("@extra.example > any@ours.example\n");
  CHECK(world.sum("<x@extra.example>", {"any@ours.example"}) == "check revoked envelope");
  CHECK(world.sum("<x@extra.example>", {"ann@ours.example"}) == "deliver listed-for-recipients envelope @extra");
  Trace trace;
  world.decide(facts_of("<x@extra.example>", {"ann@ours.example"}), &trace);
  CHECK(std::ranges::any_of(trace.steps(), [](const TraceStep& step) {
    return step.name == "pair" && step.subject == "extra" && step.outcome == "listed";
  }));
  // What is no address is looked up nowhere.
  Trace of_nobody;
  world.decide(facts_of("<joe@example.org>", {"new"}), &of_nobody);
  CHECK(std::ranges::any_of(of_nobody.steps(), [](const TraceStep& step) { return step.name == "pair"; }));
  CHECK(std::ranges::none_of(of_nobody.steps(),
                             [](const TraceStep& step) { return step.name == "pair" && step.subject == "extra"; }));
  // Nor is a sender in no pair of the list.
  Trace of_stranger;
  world.decide(facts_of("<x@stranger.example>", {"ann@ours.example"}), &of_stranger);
  CHECK(std::ranges::none_of(of_stranger.steps(),
                             [](const TraceStep& step) { return step.name == "pair" && step.subject == "extra"; }));
  Trace of_null;
  world.decide(facts_of("<>", {"ann@ours.example"}, "x@stranger.example"), &of_null);
  CHECK(std::ranges::count(of_null.steps(), "revoked", &TraceStep::name) == 1);
}

TEST_CASE("a tag that every whitelist removes is ignored in pairs of the list extra") {
  const MemoryWhitelist plain({"all@example.org"}, {.tag_separators = *TagSeparators::parse("+")});
  const NamedWhitelist named[] = {{"main", &plain}};
  const ExactList extra = read_exact_list("joe@example.org > ann@ours.example\n").list;
  const Lists lists = {.whitelists = named, .extra = &extra};
  const Paths ann = {"ann@ours.example"};
  const Decision decision =
      decide(facts_of("<joe+x@example.org>", ann), lists, {.authentication = AuthenticationRule::off});
  CHECK(summary(decision) == "deliver listed-for-recipients envelope @extra");
}

TEST_CASE("recipients are needed if any list holds pairs, including the list of revoked entries") {
  const MemoryWhitelist plain({"joe@example.org"});
  const NamedWhitelist named[] = {{"main", &plain}};
  const ExactList pairs = read_exact_list("joe@example.org > ann@ours.example\n").list;
  const ExactList none = read_exact_list("joe@example.org\n").list;
  CHECK(Lists{.whitelists = named, .revoked = &pairs, .extra = &none}.hold_pairs());
  CHECK_FALSE(Lists{.whitelists = named, .revoked = &pairs, .extra = &none}.list_by_pairs());
  CHECK(Lists{.whitelists = named, .revoked = &none, .extra = &pairs}.hold_pairs());
  CHECK(Lists{.whitelists = named, .revoked = &none, .extra = &pairs}.list_by_pairs());
  CHECK_FALSE(Lists{.whitelists = named, .revoked = &none, .extra = &none}.hold_pairs());
}

}  // namespace
}  // namespace bloomgate
