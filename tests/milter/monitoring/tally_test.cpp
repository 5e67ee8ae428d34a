#include "milter/monitoring/tally.hpp"

#include <limits>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

Decision decision(Verdict verdict, Reason reason, IdentityKind identity, std::string_view list = {}) {
  Decision made = {.verdict = verdict, .reason = reason, .identity = identity};
  made.list.append(list);
  return made;
}

struct Counted {
  Tally tally;
};

TEST_CASE_METHOD(Counted, "a message counts under its decision, reason, identity and whitelist") {
  for (int i = 0; i < 3; ++i) {
    tally.note_message(decision(Verdict::deliver, Reason::listed, IdentityKind::both, "customers"), 1e-6);
  }
  tally.note_message(decision(Verdict::check, Reason::internal_error, IdentityKind::none), 1e-6);
  const std::vector<Tally::Messages> all = tally.messages();
  REQUIRE(all.size() == 2);
  CHECK(all[0].list.empty());
  CHECK(all[0].reason == Reason::internal_error);
  CHECK(all[0].verdict == Verdict::check);
  CHECK(all[0].count == 1);
  CHECK(all[1].list == "customers");
  CHECK(all[1].reason == Reason::listed);
  CHECK(all[1].verdict == Verdict::deliver);
  CHECK(all[1].identity == IdentityKind::both);
  CHECK(all[1].count == 3);
  CHECK(tally.messages(Outcome::deliver) == 3);
  CHECK(tally.messages(Outcome::check) == 1);
}

TEST_CASE_METHOD(Counted, "a message whose signatures were verified counts under their outcome") {
  Decision made = decision(Verdict::check, Reason::not_authenticated, IdentityKind::envelope);
  tally.note_message(made, 0);
  made.signature = SignatureOutcome::field_added_subject;
  tally.note_message(made, 0);
  tally.note_message(made, 0);
  CHECK(tally.signatures(SignatureOutcome::field_added_subject) == 2);
  CHECK(tally.signatures(SignatureOutcome::pass) == 0);
  CHECK(tally.signatures(SignatureOutcome::verifier_timeout) == 0);
}

TEST_CASE_METHOD(Counted, "a key that was looked up counts under what was found, with its time") {
  tally.note_key_lookup(TxtStatus::found, 0.002);
  tally.note_key_lookup(TxtStatus::not_asked, 0);
  tally.note_key_lookup(TxtStatus::not_asked, 0);
  CHECK(tally.key_lookups(TxtStatus::found) == 1);
  CHECK(tally.key_lookups(TxtStatus::not_asked) == 2);
  CHECK(tally.key_lookups(TxtStatus::timed_out) == 0);
  CHECK(tally.key_lookup_times().read().cumulative.back() == 3);
  CHECK(tally.key_lookup_times().read().sum_seconds == Approx(0.002));
}

TEST_CASE_METHOD(Counted, "the look-ups of messages add up") {
  Decision made = decision(Verdict::check, Reason::not_listed, IdentityKind::envelope);
  made.draws = {.look_ups = 4, .hits = 1};
  tally.note_message(made, 0);
  tally.note_message(made, 0);
  CHECK(tally.look_ups() == 8);
  CHECK(tally.hits() == 2);
}

TEST_CASE_METHOD(Counted, "names of whitelists beyond the bound are counted together") {
  for (std::size_t i = 0; i < 3 * Tally::kMostNames; ++i) {
    const std::string name = "w" + std::to_string(i);
    tally.note_message(decision(Verdict::deliver, Reason::listed, IdentityKind::envelope, name), 0);
    tally.note_confirmation(name, Confirmation::yes, 0);
  }
  const std::vector<Tally::Messages> all = tally.messages();
  CHECK(all.size() == Tally::kMostNames + 1);
  CHECK(all.back().list == Tally::kOtherNames);
  CHECK(all.back().count == 2 * Tally::kMostNames);
  CHECK(tally.messages(Outcome::deliver) == 3 * Tally::kMostNames);
  REQUIRE(tally.confirmations().size() == Tally::kMostNames + 1);
  CHECK(tally.confirmations().back().whitelist == Tally::kOtherNames);
  CHECK(tally.confirmations().back().count == 2 * Tally::kMostNames);
}

TEST_CASE_METHOD(Counted, "a store's answers count under its whitelist, and a checker's under its action") {
  tally.note_confirmation("a", Confirmation::no, 0.001);
  tally.note_confirmation("a", Confirmation::unreadable, 0.001);
  tally.note_confirmation("b", Confirmation::no, 0.001);
  const auto answers = tally.confirmations();
  REQUIRE(answers.size() == 3);
  CHECK(answers[1].whitelist == "a");
  CHECK(answers[1].answer == Confirmation::unreadable);
  CHECK(answers[2].whitelist == "b");
  CHECK(tally.confirmation_times().read().cumulative.back() == 3);

  DeepOutcome outcome;
  outcome.verdict = DeepVerdict::reject;
  outcome.action = SpamAction::tempfail;
  outcome.took = std::chrono::milliseconds(1500);
  tally.note_deep_check(outcome);
  outcome.verdict.reset();
  outcome.action = SpamAction::tag;
  tally.note_deep_check(outcome);
  const auto checks = tally.deep_checks();
  REQUIRE(checks.size() == 2);
  CHECK(checks[0].answer == "reject");
  CHECK(checks[0].action == SpamAction::tempfail);
  CHECK(checks[1].answer == "failed");
  CHECK(checks[1].action == SpamAction::tag);
  CHECK(tally.deep_check_times().read().sum_seconds == Approx(3));
}

TEST_CASE_METHOD(Counted,
                 "samples count by their answer, and those that were answered are the ones that count for the share") {
  CHECK(tally.answered_samples() == 0);
  for (const SampleAnswer answer : {SampleAnswer::ham, SampleAnswer::ham, SampleAnswer::spam, SampleAnswer::failed,
                                    SampleAnswer::failed, SampleAnswer::failed, SampleAnswer::dropped}) {
    tally.note_sample(answer);
  }
  CHECK(tally.samples(SampleAnswer::ham) == 2);
  CHECK(tally.samples(SampleAnswer::spam) == 1);
  CHECK(tally.samples(SampleAnswer::failed) == 3);
  CHECK(tally.samples(SampleAnswer::dropped) == 1);
  CHECK(tally.answered_samples() == 3);
  tally.set_sample_share(0.001);
  CHECK(tally.sample_share() == 0.001);
}

TEST_CASE_METHOD(Counted, "open sessions are those that have begun and not ended") {
  for (int i = 0; i < 5; ++i) tally.begin_session();
  for (int i = 0; i < 3; ++i) tally.end_session();
  CHECK(tally.sessions() == 5);
  CHECK(tally.open_sessions() == 2);
}

TEST_CASE_METHOD(Counted, "nothing is lost when all sessions count at once, each new name among them") {
  constexpr int kEach = 2000;
  test::at_once(4, [this](int) {
    for (int i = 0; i < kEach; ++i) {
      tally.note_message(
          decision(Verdict::deliver, Reason::listed, IdentityKind::envelope, "w" + std::to_string(i % 20)), 1e-5);
    }
  });
  CHECK(tally.messages(Outcome::deliver) == 4 * kEach);
  const auto all = tally.messages();
  CHECK(all.size() == 20);
  for (const Tally::Messages& each : all) CHECK(each.count == 4 * kEach / 20);
  CHECK(tally.decision_times().read().cumulative.back() == 4 * kEach);
}

TEST_CASE("a time falls into the first class whose bound it does not exceed") {
  constexpr double kBounds[] = {0.1, 1, 10};
  TimeHistogram times(kBounds);
  for (const double seconds : {0.1, 0.2, 1.0, 5.0, 10.0, 11.0}) times.note(seconds);
  const TimeHistogram::Reading reading = times.read();
  CHECK(reading.cumulative == std::vector<std::uint64_t>{1, 3, 5, 6});
  CHECK(reading.sum_seconds == Approx(27.3));
}

TEST_CASE("an invalid time counts as zero, and an infinite one as the largest") {
  constexpr double kBounds[] = {1};
  TimeHistogram times(kBounds);
  times.note(-5);
  times.note(std::nan(""));
  CHECK(times.read().cumulative == std::vector<std::uint64_t>{2, 2});
  CHECK(times.read().sum_seconds == 0);
  times.note(std::numeric_limits<double>::infinity());
  CHECK(times.read().cumulative == std::vector<std::uint64_t>{2, 3});
  CHECK(times.read().sum_seconds == Approx(1e6));
}

}  // namespace
}  // namespace bloomgate
