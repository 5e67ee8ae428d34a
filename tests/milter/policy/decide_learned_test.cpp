// The decision where something was learned from outgoing mail.
#include <set>
#include <string>

#include "milter/policy/look_up_recipients.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::items_of;
using test::MemoryWhitelist;
using test::summary;
using Paths = std::vector<std::string_view>;

class Learned : public LearnedSenders {
 public:
  bool is_learned(std::string_view user, std::string_view sender) const noexcept override {
    return pairs_.contains({std::string(user), std::string(sender)});
  }
  bool has_sender_domain(std::string_view domain) const noexcept override { return domain == "example.org"; }

 private:
  std::set<std::pair<std::string, std::string>> pairs_ = {{"ann@ours.example", "joe@example.org"},
                                                          {"bob@ours.example", "joe@example.org"},
                                                          {"ann@ours.example", "from@example.org"},
                                                          {"ann@ours.example", "gone@example.org"},
                                                          {"ann@ours.example", "all@example.org"}};
};

Facts facts_of(std::string_view path, const Paths& recipients) {
  Facts facts = {.envelope_sender = path, .header_from = test::header_from("nobody@stranger.example")};
  facts.recipients = {Recipients::State::all, recipients};
  return facts;
}

class World {
 public:
  Lists lists() const { return {.whitelists = named_, .revoked = &revoked_, .learned = &learned_}; }
  Decision decide(const Facts& facts, Trace* trace = nullptr) const noexcept {
    return bloomgate::decide(facts, lists(), policy_, trace);
  }
  Policy& policy() { return policy_; }
  void take_away_whitelist() { named_[0].whitelist = nullptr; }

 private:
  MemoryWhitelist main_{{"all@example.org", "pal@example.org"}};
  NamedWhitelist named_[1] = {{"main", &main_}};
  ExactList revoked_ = read_exact_list("gone@example.org\n").list;
  Learned learned_;
  Policy policy_ = {.authentication = AuthenticationRule::off};
};

TEST_CASE("a sender is delivered if each of the recipients has written to it") {
  struct Case {
    std::string_view sentence, path, recipients, want;
  };
  const Case cases[] = {
      {"the one recipient has", "<joe@example.org>", "ann@ours.example", "deliver learned envelope @learned"},
      {"however it is written", "<Joe@Example.ORG>", "Ann@OURS.example", "deliver learned envelope @learned"},
      {"with a tag of the recipient", "<joe@example.org>", "ann+x@ours.example", "deliver learned envelope @learned"},
      {"both have", "<joe@example.org>", "ann@ours.example, bob@ours.example", "deliver learned envelope @learned"},
      {"another one has", "<joe@example.org>", "eve@ours.example", "check not-listed envelope"},
      {"one of two has", "<joe@example.org>", "ann@ours.example, eve@ours.example",
       "check not-listed-for-all envelope @learned"},
      {"a tag of the sender is another sender", "<joe+x@example.org>", "ann@ours.example", "check not-listed envelope"},
      {"no recipient is known", "<joe@example.org>", "", "check not-listed envelope"},
      {"a recipient is no address", "<joe@example.org>", "ann@ours.example, postmaster",
       "check not-listed-for-all envelope @learned"},
      {"one of two has, and the whitelist lists the sender", "<all@example.org>", "ann@ours.example, eve@ours.example",
       "deliver listed envelope @main"},
      {"who is in a whitelist too", "<all@example.org>", "ann@ours.example", "deliver learned envelope @learned"},
      {"who is revoked", "<gone@example.org>", "ann@ours.example", "check revoked envelope"},
      {"a bounce", "<>", "ann@ours.example", "check null-sender envelope"},
  };
  World world;
  world.policy().recipient_delimiter = *TagSeparators::parse("+");
  world.policy().identity = IdentityRule::envelope;
  for (const Case& each : cases) {
    INFO(each.sentence);
    const Paths recipients = items_of(each.recipients);
    CHECK(summary(world.decide(facts_of(each.path, recipients))) == each.want);
  }
}

TEST_CASE("if no recipient has written to the sender, learned pairs do not change the decision") {
  const World world;
  const Paths eve = {"eve@ours.example"};
  const Facts facts = facts_of("<joe@example.org>", eve);
  Lists lists = world.lists();
  lists.learned = nullptr;
  const Policy policy = {.authentication = AuthenticationRule::off};
  CHECK(world.decide(facts) == decide(facts, lists, policy));
}

TEST_CASE("if only some recipients have written to the sender, the reason says so") {
  const World world;
  const Paths both = {"ann@ours.example", "eve@ours.example"};
  const Facts facts = facts_of("<joe@example.org>", both);
  const auto found = look_up_learned(world.lists(), facts, {}, canonicalize_line("joe@example.org"), nullptr);
  REQUIRE(found);
  CHECK_FALSE(found->is_listed);
  CHECK(found->reason == Reason::not_listed_for_all);
  CHECK(found->for_recipients == ForRecipients{2, 1});
}

TEST_CASE("if not all recipients are known, learned pairs do not count") {
  const World world;
  const Paths paths = {"ann@ours.example"};
  Facts facts = facts_of("<joe@example.org>", paths);
  facts.recipients.state = Recipients::State::too_many;
  CHECK(world.decide(facts).reason == Reason::not_listed);
  facts.recipients.state = Recipients::State::unknown;
  CHECK(world.decide(facts).reason == Reason::not_listed);
  const Paths many(kMostPairRecipients + 1, "ann@ours.example");
  CHECK(world.decide(facts_of("<joe@example.org>", many)).reason == Reason::not_listed);
  const Paths most(kMostPairRecipients, "ann@ours.example");
  CHECK(world.decide(facts_of("<joe@example.org>", most)).reason == Reason::learned);
}

TEST_CASE("a learned sender has to be authenticated like a listed one") {
  World world;
  world.policy().authentication = AuthenticationRule::required;
  world.policy().verify_signatures = true;
  const Paths paths = {"ann@ours.example"};
  Facts facts = facts_of("<joe@example.org>", paths);
  facts.header_from = test::header_from("joe@example.org");
  const Decision decision = world.decide(facts);
  CHECK(decision.verdict == Verdict::check);
  CHECK(decision.reason == Reason::not_authenticated);
  CHECK(decision.need.domains[0].view() == "example.org");
  facts.authentication = test::results("dkim=pass header.d=example.org", "<joe@example.org>", facts.header_from);
  CHECK(summary(world.decide(facts)) == "deliver learned envelope dkim @learned");
  facts.header_from = test::header_from("neighbour@example.org");
  CHECK(summary(world.decide(facts)) == "check not-authenticated envelope @learned");
}

TEST_CASE("the recipient may have written to the From mailbox") {
  const World world;
  const Paths paths = {"ann@ours.example"};
  Facts facts = facts_of("<bounces@list.example>", paths);
  facts.header_from = test::header_from("from@example.org");
  CHECK(summary(world.decide(facts)) == "deliver learned header-from @learned");
}

TEST_CASE("learned pairs deliver without any whitelist, and the explanation says so") {
  World world;
  world.take_away_whitelist();
  const Paths ann = {"ann@ours.example"};
  Trace trace;
  CHECK(world.decide(facts_of("<joe@example.org>", ann), &trace).reason == Reason::learned);
  CHECK(std::ranges::any_of(trace.steps(), [](const TraceStep& step) {
    return step.name == "learned" && step.subject == "ann@ours.example" && step.key == "joe@example.org" &&
           step.outcome == "yes";
  }));
  const Paths eve = {"eve@ours.example"};
  CHECK(world.decide(facts_of("<joe@example.org>", eve)).reason == Reason::no_whitelist);
}

TEST_CASE("recipients who have written to the sender count together with those for whom pairs list it") {
  const MemoryWhitelist main({"joe@example.org > eve@ours.example", "all@example.org > eve@ours.example"});
  const NamedWhitelist named[] = {{"main", &main}};
  const ExactList extra = read_exact_list("joe@example.org > pat@ours.example\n").list;
  const ExactList revoked = read_exact_list("all@example.org > ann@ours.example\n").list;
  const Learned learned;
  struct Case {
    std::string_view sentence, path, recipients, want;
    int listed_for;
  };
  const Case cases[] = {
      {"a pair and what was learned", "<joe@example.org>", "ann@ours.example, eve@ours.example",
       "deliver listed-for-recipients envelope @main", 2},
      {"extra and what was learned", "<joe@example.org>", "ann@ours.example, pat@ours.example",
       "deliver listed-for-recipients envelope @extra", 2},
      {"all three", "<joe@example.org>", "eve@ours.example, ann@ours.example, pat@ours.example",
       "deliver listed-for-recipients envelope @extra", 3},
      {"learned for all", "<joe@example.org>", "ann@ours.example, bob@ours.example",
       "deliver learned envelope @learned", 2},
      {"nobody knows one of them", "<joe@example.org>", "ann@ours.example, eve@ours.example, x@ours.example",
       "check not-listed-for-all envelope @main", 2},
      {"learned for some", "<joe@example.org>", "ann@ours.example, x@ours.example",
       "check not-listed-for-all envelope @learned", 1},
      {"revoked for one of them", "<all@example.org>", "ann@ours.example, eve@ours.example", "check revoked envelope",
       0},
  };
  for (const Case& each : cases) {
    INFO(each.sentence);
    const Paths recipients = items_of(each.recipients);
    const Decision decision = decide(facts_of(each.path, recipients),
                                     {.whitelists = named, .revoked = &revoked, .extra = &extra, .learned = &learned},
                                     {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off});
    CHECK(summary(decision) == each.want);
    CHECK(decision.for_recipients.listed == each.listed_for);
  }
}

}  // namespace
}  // namespace bloomgate
