// The decision where recipients have opted out: their mail is always checked.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milter/policy/header_field.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Paths = std::vector<std::string_view>;
using State = Recipients::State;

// Messages of a listed sender to recipients of whom some have opted out.
struct OptOutWorld {
  std::string sum(const Paths& recipients, State state = State::all) const {
    return test::summary(decided(recipients, state));
  }
  Decision decided(const Paths& recipients, State state = State::all) const {
    Facts facts = {.envelope_sender = sender, .header_from = test::header_from("nobody@stranger.example")};
    facts.origin = origin;
    facts.recipients = {state, recipients};
    return decide(facts, lists, policy);
  }

  test::MemoryWhitelist main{{"joe@example.org"}, {.tag_separators = *TagSeparators::parse("-")}};
  NamedWhitelist named[1] = {{"main", &main}};
  ExactList opt_out =
      read_exact_list("Ann@ours.example\n@quiet.example\n@.tree.example\nx+y@ours.example\n", ListOf::recipients).list;
  Lists lists = {.whitelists = named, .opt_out = &opt_out};
  Policy policy = {.authentication = AuthenticationRule::off, .recipient_delimiter = *TagSeparators::parse("=")};
  std::string_view sender = "<joe@example.org>";
  Origin origin = {};
};

constexpr std::string_view kDelivered = "deliver listed envelope @main";
constexpr std::string_view kUnknown = "check recipients-unknown";

TEST_CASE("a message is checked if one of its recipients has opted out, or may have") {
  struct Row {
    std::string_view sentence;
    Paths recipients;
    std::string_view want;
    State state = State::all;
  };
  const Paths many(200, "bob@ours.example");
  Paths many_and_ann = many;
  many_and_ann.emplace_back("ann@ours.example");
  const Row rows[] = {
      {"no recipient has opted out", {"bob@ours.example", "bob@b.quiet.example", "tree@example.org"}, kDelivered},
      {"the only one has", {"ann@ours.example"}, "check opted-out"},
      {"in capitals", {"ANN@Ours.Example"}, "check opted-out"},
      {"one of several", {"bob@ours.example", "ann@ours.example"}, "check opted-out"},
      {"the domain", {"x@quiet.example"}, "check opted-out"},
      {"a domain below another one", {"x@a.tree.example"}, "check opted-out"},
      {"and that one", {"x@tree.example"}, "check opted-out"},
      {"with a tag after a plus", {"ann+shop@ours.example"}, "check opted-out"},
      {"with a tag of a whitelist", {"ann-shop@ours.example"}, "check opted-out"},
      {"with a tag of the mail server", {"ann=shop@ours.example"}, "check opted-out"},
      {"with no tag of anybody", {"ann_shop@ours.example"}, kDelivered},
      {"for one tag only", {"x+y@ours.example"}, "check opted-out"},
      {"and another tag", {"x+z@ours.example"}, kDelivered},
      {"with a route", {"@relay.example:ann@ours.example"}, "check opted-out"},
      {"with quotes", {"\"ann\"@ours.example"}, "check opted-out"},
      {"more recipients than pairs are looked up for", many, kDelivered},
      {"and one of them has opted out", many_and_ann, "check opted-out"},
      {"a name without a domain", {"bob@ours.example", "postmaster"}, kUnknown},
      {"the number of a machine", {"ann@[192.0.2.1]"}, kUnknown},
      {"nothing that is an address", {""}, kUnknown},
      {"another address behind a percent sign", {"ann%ours.example@mx.ours.example"}, kUnknown},
      {"and behind an exclamation mark", {"ours.example!ann@mx.ours.example"}, kUnknown},
      {"another address in quotes", {"\"ann@ours.example\"@mx.ours.example"}, kUnknown},
      {"and a percent sign there", {"\"ann%ours.example\"@ours.example"}, kUnknown},
      {"such a name beside one who has", {"postmaster", "ann@ours.example"}, "check opted-out"},
      {"no recipients", {}, kUnknown},
      {"recipients that are not known", {}, kUnknown, State::unknown},
      {"more than were kept", {}, "check too-many-recipients", State::too_many},
  };
  const OptOutWorld world;
  for (const Row& row : rows) {
    INFO(row.sentence);
    CHECK(world.sum(row.recipients, row.state) == row.want);
  }
}

TEST_CASE("opt-outs do not depend on the sender, and cost no look-up, no question and no signature") {
  OptOutWorld world;
  world.policy.authentication = AuthenticationRule::required;
  world.policy.verify_signatures = true;
  const ExactList revoked = read_exact_list("gone@example.org\n").list;
  world.lists.revoked = &revoked;
  std::optional<Decision> before;
  for (const char* const sender : {"<joe@example.org>", "<gone@example.org>", "<x@stranger.example>", "<>", "<joe>"}) {
    INFO(sender);
    world.sender = sender;
    const Decision decision = world.decided({"ann@ours.example"});
    CHECK(header_value(decision, "mx", CheckMark::plain) == "check; reason=opted-out; host=mx");
    CHECK(decision.draws == Draws());
    CHECK(decision.need.is_empty());
    CHECK_FALSE(decision.question);
    CHECK((!before || *before == decision));
    before = decision;
  }
}

TEST_CASE("with an empty list no recipient has opted out, and without the configured list nothing is delivered") {
  OptOutWorld world;
  const ExactList empty;
  world.lists.opt_out = &empty;
  world.lists.opt_out_is_configured = true;
  CHECK(world.sum({}, State::unknown) == kDelivered);
  CHECK_FALSE(world.lists.ask_for_recipients());
  world.lists.opt_out = nullptr;
  CHECK(world.sum({"bob@ours.example"}) == "check no-opt-out-list");
  CHECK(world.lists.ask_for_recipients());
  world.lists.opt_out_is_configured = false;
  CHECK(world.sum({"ann@ours.example"}) == kDelivered);
  CHECK_FALSE(world.lists.ask_for_recipients());
  world.lists.opt_out = &world.opt_out;
  CHECK(world.lists.ask_for_recipients());
  CHECK_FALSE(world.lists.hold_pairs());
}

TEST_CASE("exempt mail stays exempt, but is not marked deliver for a recipient who has opted out") {
  OptOutWorld world;
  world.policy.exempt_logged_in = true;
  world.origin.logged_in = true;
  CHECK(world.sum({"ann@ours.example"}) == "check exempt-authenticated unmarked");
  world.policy.exempt_action = ExemptAction::deliver;
  CHECK(world.sum({"bob@ours.example"}) == "deliver exempt-authenticated");
  CHECK(world.sum({"ann@ours.example"}) == "check opted-out");
  CHECK(world.sum({}, State::unknown) == kUnknown);
  world.lists.opt_out = nullptr;
  world.lists.opt_out_is_configured = true;
  CHECK(world.sum({"bob@ours.example"}) == "check no-opt-out-list");
}

}  // namespace
}  // namespace bloomgate
