// What the steps of a decision say of everything that can become of them: an operator reads nothing else.

#include "filter/address/pair.hpp"
#include "milter/policy/trace.hpp"
#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::MemoryWhitelist;
using Paths = std::vector<std::string_view>;

constexpr std::uint64_t kStore = 1001;

struct TraceWorld {
  Facts from(std::string_view path, std::string_view results = {},
             std::string_view from = "nobody@stranger.example") const {
    const HeaderFrom header_from = test::header_from(from);
    return {.envelope_sender = path,
            .header_from = header_from,
            .authentication = test::results(results, path, header_from)};
  }

  // The steps of that name, each as "outcome subject=... key=... entry=... proof=...".
  std::vector<std::string> steps(std::string_view name, const Facts& facts) const {
    Trace trace;
    decide(facts, {.whitelists = named, .revoked = &revoked, .extra = &extra}, policy, &trace);
    std::vector<std::string> found;
    for (const TraceStep& step : trace.steps()) {
      if (step.name != name) continue;
      std::string& text = found.emplace_back(step.outcome);
      if (!step.subject.empty()) text += " subject=" + step.subject;
      if (!step.key.empty()) text += " key=" + step.key;
      if (!step.entry.empty()) text += " entry=" + step.entry;
      if (!step.proof.empty()) text.append(" proof=").append(step.proof);
    }
    return found;
  }

  void expect(std::string_view name, const Facts& facts, std::string_view step) const {
    CAPTURE(name);
    CHECK_THAT(steps(name, facts), Catch::VectorContains(std::string(step)));
  }

  MemoryWhitelist main{{"joe@example.org", "x@corp.example", "@corp.example", "pal@example.org > ann@ours.example",
                        "eve@example.org > ann@ours.example", "@example.org > @ours.example"}};
  NamedWhitelist named[1] = {{"main", &main}};
  ExactList revoked;
  ExactList extra;
  Policy policy = {.identity = IdentityRule::envelope};
};

TEST_CASE("a step names the recipient of a revoked pair, and says why none could be looked up") {
  TraceWorld world;
  world.revoked = read_exact_list("joe@example.org > ann@ours.example\n").list;
  Facts facts = world.from("<joe@example.org>");
  world.expect("revoked", facts, "recipients-unknown subject=recipients key=joe@example.org");
  const Paths two = {"bob@ours.example", "Ann@ours.example"};
  facts.recipients = {Recipients::State::all, two};
  world.expect("revoked", facts, "no subject=bob@ours.example key=joe@example.org");
  world.expect("revoked", facts,
               "pair subject=Ann@ours.example key=joe@example.org entry=joe@example.org > ann@ours.example");
  world.expect("revoked", world.from("<joe+a@example.org>"),
               "recipients-unknown subject=recipients key=joe+a@example.org");
  world.revoked = read_exact_list("joe@example.org\n").list;
  world.expect("revoked", world.from("<joe+a@example.org>"), "address key=joe+a@example.org entry=joe@example.org");
  world.expect("revoked", world.from("<joe@example.org>"), "address key=joe@example.org");
}

TEST_CASE("a step says what authenticated a sender, or that a result spoke against it") {
  const TraceWorld world;
  world.expect("authentication", world.from("<joe@example.org>"), "none subject=envelope key=example.org");
  world.expect("authentication", world.from("<joe@example.org>", "spf=fail smtp.mailfrom=example.org"),
               "fail subject=envelope key=example.org");
  world.expect("authentication",
               world.from("<joe@example.org>", "spf=fail smtp.mailfrom=example.org | dkim=pass header.d=example.org",
                          "joe@example.org"),
               "dkim subject=envelope key=example.org proof=same-from");
}

TEST_CASE("steps report faulty lists and distrusted results") {
  TraceWorld world;
  std::string results = "spf=none";
  for (std::size_t count = 0; count < Authentication::kMaxTrustedFields; ++count) results += " | spf=none";
  world.expect("results", world.from("<joe@example.org>", results), "distrusted");
  world.expect("dmarc", world.from("<joe@example.org>", results, "joe@example.org"), "distrusted key=example.org");
  world.main.damage_after(0);
  world.expect("lists", world.from("<joe@example.org>"), "whitelist-damaged subject=main");
}

TEST_CASE("a step says whether a rewritten sender was undone") {
  TraceWorld world;
  const Facts facts = world.from("<prvs=4f2a1b3c5d=joe@example.org>");
  world.expect("rewritten-sender", facts, "undone subject=joe@example.org key=joe@example.org");
  world.policy.undo_batv = false;
  world.expect("rewritten-sender", facts, "not-undone subject=joe@example.org key=joe@example.org");
}

TEST_CASE("steps report the list extra and the state of each whitelist") {
  TraceWorld world;
  world.extra = read_exact_list("bob@example.org\n@.tree.example\n").list;
  world.expect("extra", world.from("<bob@example.org>"), "address key=bob@example.org");
  world.expect("extra", world.from("<x@a.tree.example>"), "domain-tree key=x@a.tree.example entry=@.tree.example");
  world.expect("extra", world.from("<joe@example.org>"), "not-listed key=joe@example.org");
  world.main.exclude("joe@example.org");
  world.expect("whitelist", world.from("<joe@example.org>"), "excluded subject=main key=joe@example.org");
  // An address that a domain entry lists is listed, be it an excluded sender or not.
  world.main.exclude("x@corp.example");
  world.expect("whitelist", world.from("<x@corp.example>"),
               "domain subject=main key=x@corp.example entry=@corp.example");
  world.main.damage_after(0);
  world.expect("whitelist", world.from("<joe@example.org>"), "whitelist-damaged subject=main key=joe@example.org");
  world.named[0].whitelist = nullptr;
  world.expect("whitelist", world.from("<joe@example.org>"), "no-whitelist subject=main");
}

TEST_CASE("steps report the result of each pair, and a store's answer") {
  TraceWorld world;
  const Paths ann = {"ann@ours.example"};
  Facts facts = world.from("<pal@example.org>");
  world.expect("recipients", facts, "recipients-unknown");
  facts.recipients = {Recipients::State::all, ann};
  CHECK(world.steps("recipients", facts).empty());
  world.expect("pair", facts, "listed subject=main key=pal@example.org>ann@ours.example");

  world.main.set_store(kStore);
  world.expect("confirm", facts, "not-asked subject=main key=pal@example.org>ann@ours.example");
  facts.replies = {
      {*world.main.question_about(pair_key("pal@example.org", "ann@ours.example").view()), Confirmation::timeout}};
  world.expect("confirm", facts, "timeout subject=main key=pal@example.org>ann@ours.example");
  // What is not confirmed may still be listed by a wider pair.
  CHECK(world.steps("pair", facts) ==
        std::vector<std::string>{
            "listed subject=main key=pal@example.org>ann@ours.example",
            "listed subject=main key=pal@example.org>ann@ours.example entry=@example.org>@ours.example"});

  MemoryWhitelist other({"zoe@example.net > ann@ours.example"});
  other.exclude(pair_key("zoe@example.net", "ann@ours.example").view());
  world.named[0].whitelist = &other;
  Facts of_zoe = world.from("<zoe@example.net>");
  of_zoe.recipients = {Recipients::State::all, ann};
  world.expect("pair", of_zoe, "excluded subject=main key=zoe@example.net>ann@ours.example");
}

}  // namespace
}  // namespace bloomgate
