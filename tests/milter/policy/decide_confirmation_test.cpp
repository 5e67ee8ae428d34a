// The decision where a store confirms the hits of a whitelist.

#include "milter/policy/explain.hpp"
#include "milter/policy/header_field.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::MemoryWhitelist;
using test::summary;

constexpr std::uint64_t kMainStore = 1001;
constexpr std::uint64_t kOtherStore = 1002;

constexpr Confirmation kAllConfirmations[] = {Confirmation::yes,  Confirmation::no,      Confirmation::timeout,
                                              Confirmation::busy, Confirmation::damaged, Confirmation::unreadable};

// Two whitelists of which one has a store, or both.
class ConfirmedWorld {
 public:
  explicit ConfirmedWorld(Policy policy = {.authentication = AuthenticationRule::off}) : policy_(std::move(policy)) {
    main_.set_store(kMainStore);
  }

  Decision decide(const Facts& facts, Trace* trace = nullptr) const noexcept {
    return bloomgate::decide(facts, {.whitelists = named_, .revoked = &revoked_, .extra = &extra_}, policy_, trace);
  }

  // With each question answered by `answer`, which gets the store's identity. `facts` has the replies then.
  template <typename Answer>
  Decision decide_with(Facts& facts, Answer answer) const {
    for (;;) {
      const Decision decision = decide(facts);
      if (!decision.question) return decision;
      CHECK(decision.verdict == Verdict::check);
      CHECK(decision.need.is_empty());
      REQUIRE_FALSE(facts.reply_to(*decision.question));
      facts.replies.push_back({*decision.question, answer(*decision.question)});
    }
  }

  Decision decide_with(Facts facts, Confirmation always) const {
    return decide_with(facts, [always](const StoreQuestion&) { return always; });
  }

  MemoryWhitelist& other() { return other_; }

 private:
  MemoryWhitelist main_{{"joe@example.org", "ann@bank.example", "x@corp.example", "@corp.example", "gone@example.org"}};
  MemoryWhitelist other_{{"pat@partner.example", "joe@example.org"}};
  NamedWhitelist named_[2] = {{"main", &main_}, {"other", &other_}};
  ExactList revoked_ = read_exact_list("gone@example.org\n").list;
  ExactList extra_ = read_exact_list("vip@example.org\n").list;
  Policy policy_;
};

Facts facts_of(std::string_view path, std::string_view from) {
  return {.envelope_sender = path, .header_from = test::header_from(from)};
}

StoreQuestion question_about(std::uint64_t store, std::string_view key) {
  return {store, hash_key(key, store, HashFamily::xxh3)};
}

TEST_CASE("a store is asked only about a hit that would deliver the message") {
  struct Case {
    std::string_view sentence, path, from;
    AuthenticationRule authentication;
    bool is_asked;
  };
  using enum AuthenticationRule;
  const Case cases[] = {
      {"a hit", "<ann@bank.example>", "x@stranger.example", off, true},
      {"a hit of the From mailbox", "<x@stranger.example>", "ann@bank.example", off, true},
      {"a stranger, who misses", "<x@stranger.example>", "y@stranger.example", off, false},
      {"a hit that is not authenticated", "<ann@bank.example>", "x@stranger.example", required, false},
      {"a hit of a whitelist without a store", "<pat@partner.example>", "x@stranger.example", off, false},
      {"a domain entry", "<y@corp.example>", "x@stranger.example", off, false},
      {"revoked", "<gone@example.org>", "ann@bank.example", off, false},
      {"on the exact list", "<vip@example.org>", "x@stranger.example", off, false},
      {"the null sender", "<>", "x@stranger.example", off, false},
  };
  for (const Case& c : cases) {
    INFO(c.sentence);
    const ConfirmedWorld world({.authentication = c.authentication});
    CHECK(world.decide(facts_of(c.path, c.from)).question.has_value() == c.is_asked);
  }
}

TEST_CASE("a question names the store, and the sender's hash as the store has it") {
  const ConfirmedWorld world;
  CHECK(world.decide(facts_of("<Ann@Bank.example>", "x@stranger.example")).question ==
        question_about(kMainStore, "ann@bank.example"));
}

TEST_CASE("only a hit that the store confirms is delivered, and each failure has its own reason") {
  const ConfirmedWorld world;
  const std::string_view wants[] = {"deliver listed envelope @main",        "check not-listed envelope",
                                    "check confirm-timeout envelope @main", "check confirm-busy envelope @main",
                                    "check confirm-damaged envelope @main", "check confirm-unreadable envelope @main"};
  const std::string_view* want = wants;
  for (const Confirmation confirmation : kAllConfirmations) {
    const Decision decision = world.decide_with(facts_of("<ann@bank.example>", "x@stranger.example"), confirmation);
    CHECK(summary(decision) == *want++);
    CHECK(decision.confirmation == confirmation);
  }
}

TEST_CASE("a message whose question gets no answer is checked") {
  const ConfirmedWorld world;
  CHECK(summary(world.decide(facts_of("<ann@bank.example>", "x@stranger.example"))) ==
        "check confirm-unreadable envelope @main");
}

TEST_CASE("the reply of another store, or about another sender, confirms nothing") {
  const ConfirmedWorld world;
  Facts facts = facts_of("<ann@bank.example>", "x@stranger.example");
  facts.replies = {{question_about(kOtherStore, "ann@bank.example"), Confirmation::yes},
                   {question_about(kMainStore, "joe@example.org"), Confirmation::yes}};
  CHECK(world.decide(facts).verdict == Verdict::check);
  CHECK(world.decide(facts).question == question_about(kMainStore, "ann@bank.example"));
}

TEST_CASE("an address that a store does not confirm is still listed by its domain, or by another whitelist") {
  ConfirmedWorld world;
  for (const Confirmation confirmation : kAllConfirmations) {
    if (confirmation == Confirmation::yes) continue;
    CHECK(summary(world.decide_with(facts_of("<x@corp.example>", "x@stranger.example"), confirmation)) ==
          "deliver listed-domain envelope @main by @corp.example");
    CHECK(summary(world.decide_with(facts_of("<joe@example.org>", "x@stranger.example"), confirmation)) ==
          "deliver listed envelope @other");
  }
  world.other().set_store(kOtherStore);
  const auto answer = [](Confirmation main, Confirmation other) {
    return [main, other](const StoreQuestion& question) { return question.store == kMainStore ? main : other; };
  };
  using enum Confirmation;
  Facts facts = facts_of("<joe@example.org>", "x@stranger.example");
  CHECK(summary(world.decide_with(facts, answer(timeout, yes))) == "deliver listed envelope @other");
  CHECK(facts.replies.size() == 2);
  facts.replies.clear();
  CHECK(summary(world.decide_with(facts, answer(timeout, no))) == "check confirm-timeout envelope @main");
  facts.replies.clear();
  CHECK(summary(world.decide_with(facts, answer(no, damaged))) == "check confirm-damaged envelope @other");
  facts.replies.clear();
  CHECK(summary(world.decide_with(facts, answer(no, no))) == "check not-listed envelope");
}

TEST_CASE("if one sender is enough, the second is asked about after the first is not confirmed") {
  const ConfirmedWorld world;
  const auto only = [](std::string_view key) {
    return [key](const StoreQuestion& question) {
      return question == question_about(kMainStore, key) ? Confirmation::yes : Confirmation::no;
    };
  };
  Facts facts = facts_of("<ann@bank.example>", "x@corp.example");
  CHECK(summary(world.decide_with(facts, only("ann@bank.example"))) == "deliver listed envelope @main");
  CHECK(facts.replies.size() == 1);
  facts.replies.clear();
  CHECK(summary(world.decide_with(facts, only("x@corp.example"))) == "deliver listed header-from @main");
  CHECK(facts.replies.size() == 2);
}

TEST_CASE("no store is asked about a sender that no signature would deliver") {
  const ConfirmedWorld world({.identity = IdentityRule::both, .verify_signatures = true});
  const Decision decision = world.decide(facts_of("<joe@example.org>", "x@stranger.example"));
  CHECK(decision.verdict == Verdict::check);
  CHECK_FALSE(decision.question);
  CHECK(decision.need.is_empty());
}

TEST_CASE("if both senders have to be listed, both are confirmed") {
  const ConfirmedWorld world({.identity = IdentityRule::both, .authentication = AuthenticationRule::off});
  const auto all_but = [](std::string_view key) {
    return [key](const StoreQuestion& question) {
      return question == question_about(kMainStore, key) ? Confirmation::no : Confirmation::yes;
    };
  };
  Facts facts = facts_of("<ann@bank.example>", "pat@partner.example");
  CHECK(summary(world.decide_with(facts, all_but(""))) == "deliver listed both @other");
  CHECK(facts.replies.size() == 1);
  facts = facts_of("<pat@partner.example>", "ann@bank.example");
  CHECK(summary(world.decide_with(facts, all_but("ann@bank.example"))) == "check not-listed header-from");
  facts.replies.clear();
  CHECK(summary(world.decide_with(facts, all_but(""))) == "deliver listed both @main");
  facts = facts_of("<ann@bank.example>", "x@stranger.example");
  CHECK(summary(world.decide_with(facts, all_but(""))) == "check not-listed header-from");
  CHECK(facts.replies.empty());
}

TEST_CASE("a store is asked before a name server, which is asked only if the store confirms the hit") {
  Policy policy;
  policy.verify_signatures = true;
  const ConfirmedWorld world(policy);
  Facts facts = facts_of("<ann@bank.example>", "ann@bank.example");
  const Decision first = world.decide(facts);
  CHECK(summary(first) == "check not-authenticated envelope @main");
  REQUIRE(first.question);
  CHECK(first.need.is_empty());
  for (const Confirmation confirmation : kAllConfirmations) {
    facts.replies = {{*first.question, confirmation}};
    const Decision decision = world.decide(facts);
    CHECK_FALSE(decision.question);
    CHECK(decision.verdict == Verdict::check);
    CHECK(decision.need.is_empty() == (confirmation != Confirmation::yes));
  }
  facts.signatures = Signatures{.all = {{.outcome = SignatureOutcome::pass, .domain = "bank.example"}}};
  facts.replies.clear();
  CHECK(world.decide_with(facts, Confirmation::yes).verdict == Verdict::deliver);
  CHECK(world.decide_with(facts, Confirmation::no).verdict == Verdict::check);
}

TEST_CASE("the mark names a confirmation by a store, and no false positive") {
  const ConfirmedWorld world;
  for (const Confirmation confirmation : kAllConfirmations) {
    const Decision decision = world.decide_with(facts_of("<ann@bank.example>", "x@stranger.example"), confirmation);
    const bool is_told = header_value(decision, "mx", CheckMark::tells_why).find("confirmed") != std::string::npos;
    CHECK(is_told == (confirmation == Confirmation::yes));
  }
  CHECK(header_value(world.decide_with(facts_of("<ann@bank.example>", "x@stranger.example"), Confirmation::yes), "mx",
                     CheckMark::tells_why) ==
        "deliver; reason=listed; host=mx; identity=envelope; authentication=none; whitelist=main; confirmed=yes");
}

TEST_CASE("an explanation has a step for each confirmation") {
  const ConfirmedWorld world;
  Facts facts = facts_of("<x@corp.example>", "x@stranger.example");
  Trace trace;
  Decision decision = world.decide(facts, &trace);
  CHECK_THAT(explanation_text(trace, decision, "mx", CheckMark::tells_why),
             Catch::Contains("confirm            not-asked  subject=main key=x@corp.example\n"));
  facts.replies = {{*decision.question, Confirmation::no}};
  trace = {};
  decision = world.decide(facts, &trace);
  CHECK_THAT(explanation_text(trace, decision, "mx", CheckMark::tells_why),
             Catch::Contains("whitelist          address  subject=main key=x@corp.example\n"
                             "confirm            no  subject=main key=x@corp.example\n"
                             "whitelist          domain  subject=main key=x@corp.example entry=@corp.example\n"));
  facts = facts_of("<ann@bank.example>", "x@stranger.example");
  decision = world.decide_with(facts, [](const StoreQuestion&) { return Confirmation::timeout; });
  CHECK_THAT(explanation_json({}, decision, "mx", CheckMark::tells_why), Catch::Contains(R"("confirmed":"timeout")"));
}

}  // namespace
}  // namespace bloomgate
