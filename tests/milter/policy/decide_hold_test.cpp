// What the brake changes in a decision.
#include "milter/policy/header_field.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

const Policy kOnItsWord = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};

Decision decide_held(std::string_view sender, Hold hold, Trace* trace = nullptr, const Policy& policy = kOnItsWord) {
  const test::MemoryWhitelist whitelist({"joe@example.org", "@corp.example"});
  const NamedWhitelist named = {"main", &whitelist};
  const Facts facts = {.envelope_sender = sender, .origin = {.logged_in = true}, .hold = hold};
  return decide(facts, {.whitelists = {&named, 1}}, policy, trace);
}

TEST_CASE("a message of a held sender is checked, and its decision names the sender and the list") {
  CHECK(test::summary(decide_held("<joe@example.org>", Hold::none)) == "deliver listed envelope @main");
  CHECK(test::summary(decide_held("<joe@example.org>", Hold::burst)) == "check burst envelope @main");
  CHECK(test::summary(decide_held("<joe@example.org>", Hold::replay)) == "check replay envelope @main");
  CHECK(test::summary(decide_held("<joe@example.org>", Hold::suspended)) == "check suspended envelope @main");
  CHECK(test::summary(decide_held("<ann@corp.example>", Hold::burst)) == "check burst envelope @main by @corp.example");
}

TEST_CASE("a message that is checked anyway keeps its reason, and mail that is not incoming is not held") {
  CHECK(test::summary(decide_held("<eve@example.org>", Hold::burst)) == "check not-listed envelope");
  CHECK(test::summary(decide_held("<>", Hold::burst)) == "check null-sender envelope");
  Policy exempting = kOnItsWord;
  exempting.exempt_logged_in = true;
  exempting.exempt_action = ExemptAction::deliver;
  CHECK(test::summary(decide_held("<joe@example.org>", Hold::burst, nullptr, exempting)) ==
        "deliver exempt-authenticated");
}

TEST_CASE("the mark of a held message does not reveal that its sender is listed, and the trace does") {
  Trace trace;
  const Decision decision = decide_held("<joe@example.org>", Hold::burst, &trace);
  CHECK(header_value(decision, "mx", CheckMark::plain) == "check; reason=not-proven; host=mx");
  CHECK(header_value(decision, "mx", CheckMark::tells_why) ==
        "check; reason=burst; host=mx; identity=envelope; authentication=none; whitelist=main");
  REQUIRE(!trace.steps().empty());
  CHECK(trace.steps().back().name == "brake");
  CHECK(trace.steps().back().outcome == "burst");
}

TEST_CASE("a held message needs no signature and asks no store") {
  Policy verifying = kOnItsWord;
  verifying.verify_signatures = true;
  const Decision decision = decide_held("<joe@example.org>", Hold::burst, nullptr, verifying);
  CHECK(decision.need.is_empty());
  CHECK_FALSE(decision.question);
}

}  // namespace
}  // namespace bloomgate
