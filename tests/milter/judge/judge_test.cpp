#include "milter/judge/judge.hpp"

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(Parts, "a message that failed is check with internal-error, although its sender is listed") {
  MessageRecorder message;
  message.begin_message("<joe@example.org>");
  for (int i = 0; i < 2000; ++i) message.add_header("Authentication-Results", "x; none");
  REQUIRE(message.failed());
  CHECK(judge.judge(message, "").decision.reason == Reason::internal_error);
}

TEST_CASE_METHOD(Parts, "without a whitelist all is check") {
  slot.set(std::make_shared<const LoadedLists>());
  CHECK(decide("<joe@example.org>").reason == Reason::no_whitelist);
  slot.set(std::make_shared<const LoadedLists>(ListParts{.whitelists = {{"missing", nullptr}}}));
  CHECK(decide("<joe@example.org>").reason == Reason::no_whitelist);
  CHECK(damage_reports == 0);
}

TEST_CASE_METHOD(Parts, "the exact lists are asked beside the whitelist") {
  set_exact_lists("joe@example.org\n", "ann@example.org\n");
  CHECK(decide("<joe@example.org>").reason == Reason::revoked);
  MessageRecorder message;
  message.begin_message("<ann@example.org>");
  message.add_header("From", "ann@example.org");
  CHECK(judge.judge(message, "").decision.reason == Reason::listed_extra);
}

// A moment that is over: whoever asks a store until then gets no answer but what is in memory.
const auto kNoTime = std::chrono::steady_clock::time_point();
constexpr auto kAskLearned = Judge::AskLearned::yes;

TEST_CASE_METHOD(Parts, "a look-up without a message treats the sender as an authenticated envelope sender") {
  set_exact_lists("eve@example.org\n@bad.example\n", "ann@example.org\n");
  const auto reason_of = [&](std::string_view sender) {
    const Decision decision = judge.look_up(sender, "", kNoTime, kAskLearned);
    CHECK((decision.verdict == Verdict::deliver) ==
          (decision.reason == Reason::listed || decision.reason == Reason::listed_domain ||
           decision.reason == Reason::listed_extra));
    return decision.reason;
  };
  CHECK(reason_of("joe@example.org") == Reason::listed);
  CHECK(reason_of("<JOE@Example.org>") == Reason::listed);
  CHECK(reason_of("anybody@corp.example") == Reason::listed_domain);
  CHECK(reason_of("ann@example.org") == Reason::listed_extra);
  CHECK(reason_of("eve@example.org") == Reason::revoked);
  CHECK(reason_of("anybody@bad.example") == Reason::revoked);
  CHECK(reason_of("stranger@example.org") == Reason::not_listed);
  for (const std::string_view no_address : {"", "<>", "corp.example", "@corp.example", "joe@example.org\n", "joe"}) {
    INFO(no_address);
    CHECK(judge.look_up(no_address, "", kNoTime, kAskLearned).verdict == Verdict::check);
  }
  CHECK(log.text().empty());
  slot.set(std::make_shared<const LoadedLists>());
  CHECK(reason_of("joe@example.org") == Reason::no_whitelist);
}

TEST_CASE("a look-up without a message depends on the lists alone, whatever the rules for messages") {
  JudgeRules rules;
  rules.policy.identity = GENERATE(IdentityRule::header_from, IdentityRule::either, IdentityRule::both);
  rules.policy.authentication = GENERATE(AuthenticationRule::required, AuthenticationRule::preferred);
  rules.policy.verify_signatures = true;
  rules.policy.own_domains = read_exact_list("@corp.example\n").list;
  Parts parts(rules);
  CHECK(parts.judge.look_up("joe@example.org", "", kNoTime, kAskLearned).reason == Reason::listed);
  CHECK(parts.judge.look_up("stranger@example.org", "", kNoTime, kAskLearned).reason == Reason::not_listed);
  // Anybody can name a sender of ours.
  CHECK(parts.judge.look_up("anybody@corp.example", "", kNoTime, kAskLearned).reason == Reason::own_domain);

  auto next = std::make_shared<JudgeRules>(rules);
  next->policy.own_domains = {};
  parts.judge.set_rules(next);
  CHECK(parts.judge.look_up("anybody@corp.example", "", kNoTime, kAskLearned).reason == Reason::listed_domain);
}

TEST_CASE_METHOD(Parts, "a look-up without a message takes one recipient if lists hold pairs") {
  replace_whitelist({"joe@example.org > ann@ours.example"});
  CHECK(judge.look_up("joe@example.org", "ann@ours.example", kNoTime, kAskLearned).reason ==
        Reason::listed_for_recipients);
  CHECK(judge.look_up("joe@example.org", "pam@ours.example", kNoTime, kAskLearned).verdict == Verdict::check);
  CHECK(judge.look_up("joe@example.org", "", kNoTime, kAskLearned).reason == Reason::recipients_unknown);
}

TEST_CASE_METHOD(Parts, "a look-up without a recipient is answered although recipients have opted out") {
  ListParts parts = slot.get()->parts();
  parts.opt_out.list = std::make_shared<const ExactList>(read_exact_list("ann@ours.example\n").list);
  set_lists(std::move(parts));
  CHECK(judge.look_up("joe@example.org", "", kNoTime, kAskLearned).reason == Reason::listed);
  CHECK(judge.look_up("joe@example.org", "bob@ours.example", kNoTime, kAskLearned).reason == Reason::listed);
  CHECK(judge.look_up("joe@example.org", "ann@ours.example", kNoTime, kAskLearned).reason == Reason::opted_out);
}

TEST_CASE("a look-up without a message asks what was learned only if it may") {
  Parts parts;
  const TemporaryFolder folder;
  Learner learner({.path = folder.file("learned.db")}, parts.log.logger());
  learner.learn({"ann@ours.example", {"zoe@example.org"}}, "ann", learner.begin_message());
  const Judge judge(envelope_rules(), parts.slot, parts.results, parts.record, {}, &learner);
  const auto look_up = [&](std::string_view sender, std::string_view recipient, Judge::AskLearned ask_learned) {
    return judge.look_up(sender, recipient, kNoTime, ask_learned);
  };
  CHECK(look_up("zoe@example.org", "ann@ours.example", Judge::AskLearned::yes).reason == Reason::learned);
  CHECK(look_up("zoe@example.org", "pam@ours.example", Judge::AskLearned::yes).reason == Reason::not_listed);
  CHECK(look_up("zoe@example.org", "ann@ours.example", Judge::AskLearned::no).reason == Reason::not_listed);
  CHECK(look_up("joe@example.org", "ann@ours.example", Judge::AskLearned::no).reason == Reason::listed);
}

TEST_CASE("incoming messages without trusted results are counted if authentication is required") {
  JudgeRules rules;
  rules.trusted_authserv_ids = {"mx.example.net"};
  rules.policy.exempt_logged_in = true;
  bool counted = true;
  std::string results;
  ClientFacts client;
  SECTION("no field at all") {}
  SECTION("a field of another server") {
    results = "mx.example.com; spf=pass smtp.mailfrom=joe@example.org";
  }
  SECTION("preferred") {
    rules.policy.authentication = AuthenticationRule::preferred;
  }
  SECTION("a trusted field") {
    results = "mx.example.net; spf=none smtp.mailfrom=joe@example.org";
    counted = false;
  }
  SECTION("a trusted field that cannot be read") {
    results = "mx.example.net; (";
    counted = false;
  }
  SECTION("not incoming") {
    client.login = "joe";
    counted = false;
  }
  SECTION("authentication is off") {
    rules.policy.authentication = AuthenticationRule::off;
    counted = false;
  }
  Parts parts(rules);
  parts.log.logger()->set_level(spdlog::level::warn);
  MessageRecorder message;
  for (unsigned i = 0; i < ResultsWatch::kMissedUntilWarning + 5; ++i) {
    message.begin_message("<joe@example.org>", client);
    if (!results.empty()) message.add_header("Authentication-Results", results);
    parts.judge.judge(message, "");
  }
  CHECK(parts.results_reports == (counted ? 1 : 0));
  CHECK(parts.results.missing() == counted);
}

TEST_CASE_METHOD(Parts, "a damaged whitelist is reported, and the other one continues to serve") {
  const WhitelistFile other({"eve@example.org"});
  add_whitelist({"other", other.load()});
  whitelist.truncate();
  const Decision decision = decide("<eve@example.org>");
  CHECK(decision.reason == Reason::listed);
  CHECK(decision.list.view() == "other");
  CHECK(damage_reports == 1);
}

TEST_CASE_METHOD(
    Parts,
    "with a truncated whitelist every message is checked and one report is written, until a good file is loaded") {
  REQUIRE(decide("<joe@example.org>").verdict == Verdict::deliver);

  whitelist.truncate();
  for (int i = 0; i < 5; ++i) CHECK(decide("<joe@example.org>").reason == Reason::whitelist_damaged);
  CHECK(damage_reports == 1);

  replace_whitelist({"joe@example.org"});
  CHECK(decide("<joe@example.org>").verdict == Verdict::deliver);

  whitelist.truncate();
  CHECK(decide("<joe@example.org>").reason == Reason::whitelist_damaged);
  CHECK(damage_reports == 2);
}

// A judge whose only whitelist has a store.
struct ConfirmedParts : Parts {
  ConfirmedParts() { set_only_whitelist({"whitelist", files.load()}); }

  PairFiles files{numbered_addresses(0, 10'000)};
};

TEST_CASE_METHOD(ConfirmedParts, "a false positive is checked, and a listed sender is delivered") {
  const LoadedFilter& filter = *slot.get()->parts().whitelists.front().filter;
  const std::string stranger = false_positive_of(filter);
  CHECK(decide("<user7@example.org>").verdict == Verdict::deliver);
  CHECK(decide("<" + stranger + ">").reason == Reason::not_listed);
  CHECK(decide("<" + stranger + ">").confirmation == Confirmation::no);
}

TEST_CASE_METHOD(ConfirmedParts, "the time that a message has waited for its stores is told, apart from the rest") {
  MessageRecorder message;
  message.begin_message("<user7@example.org>");
  const Judgement confirmed = judge.judge(message, "");
  CHECK(confirmed.confirm_microseconds > 0);
  CHECK(confirmed.confirm_microseconds <= confirmed.microseconds);
  message.begin_message("<>");
  CHECK(judge.judge(message, "").confirm_microseconds == 0);
}

TEST_CASE_METHOD(ConfirmedParts, "a bad page of a store is reported once, and its senders are checked") {
  flip_byte(files.store_path(), kHeaderBytes + 100);
  make_old(files.store_path());
  set_only_whitelist({"whitelist", files.load()});
  int damaged = 0;
  for (int i = 0; i < 1000; ++i) {
    const Decision decision = decide("<user" + std::to_string(i) + "@example.org>");
    const bool is_damaged = decision.reason == Reason::confirm_damaged;
    damaged += is_damaged ? 1 : 0;
    CHECK((decision.verdict == Verdict::deliver) == !is_damaged);
  }
  CHECK(damaged > 20);
  CHECK(damage_reports == 1);
}

TEST_CASE_METHOD(ConfirmedParts,
                 "a store that is written to in place makes its whitelist damaged, which is reported once") {
  REQUIRE(decide("<user7@example.org>").verdict == Verdict::deliver);
  write_file(files.store_path(), read_file(files.store_path()));
  CHECK(decide("<user7@example.org>").reason == Reason::whitelist_damaged);
  CHECK(decide("<user8@example.org>").reason == Reason::whitelist_damaged);
  CHECK(damage_reports == 1);
}

TEST_CASE_METHOD(ConfirmedParts, "several stores are asked until one of them has the sender") {
  const PairFiles other({"eve@example.org"});
  ListParts lists = slot.get()->parts();
  lists.whitelists.insert(lists.whitelists.begin(),
                          {{"missing", nullptr}, {"without a store", whitelist.load()}, {"other", other.load()}});
  set_lists(std::move(lists));
  CHECK(decide("<eve@example.org>").list.view() == "other");
  CHECK(decide("<user7@example.org>").list.view() == "whitelist");
}

TEST_CASE_METHOD(
    ConfirmedParts,
    "a sender who is a false positive of one whitelist and an entry of another is delivered by both answers") {
  const PairFiles other(numbered_addresses(10'000, 10'000));
  ListParts lists = slot.get()->parts();
  lists.whitelists.insert(lists.whitelists.begin(), {"other", other.load()});
  const FilterView& first = lists.whitelists.front().filter->view();
  int number = 0;
  const auto sender = [&] { return "user" + std::to_string(number) + "@example.org"; };
  while (!first.may_contain(sender())) ++number;
  REQUIRE(number < 10'000);
  set_lists(std::move(lists));
  const Decision decision = decide("<" + sender() + ">");
  CHECK(decision.verdict == Verdict::deliver);
  CHECK(decision.list.view() == "whitelist");
}

TEST_CASE_METHOD(ConfirmedParts, "a store also confirms a look-up without a message") {
  const LoadedFilter& filter = *slot.get()->parts().whitelists.front().filter;
  const auto in_a_minute = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  CHECK(judge.look_up("user7@example.org", "", in_a_minute, kAskLearned).confirmation == Confirmation::yes);
  CHECK(judge.look_up(false_positive_of(filter), "", in_a_minute, kAskLearned).reason == Reason::not_listed);
}

}  // namespace
}  // namespace bloomgate::test
