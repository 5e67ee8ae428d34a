#include "milter/judge/judge.hpp"

#include <chrono>
#include <exception>
#include <string>

#include "milter/brake/counted_sender.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {
namespace {

constexpr double kSecondsPerMicrosecond = 1e-6;

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

CountedMessage counted_message(const CountedSender& sender, const Facts& facts, const Policy& policy) {
  return {.sender = sender.key.view(),
          .is_shared = sender.is_shared,
          .address = sender.address.view(),
          .also = {sender.tagged.view(), sender.from.view()},
          .message_id = facts.message_id,
          .recipients = facts.recipients.paths,
          .has_too_many_recipients = facts.recipients.state == Recipients::State::too_many,
          .recipient_delimiter = policy.recipient_delimiter};
}

}  // namespace

std::vector<std::string> trusted_ids(const JudgeRules& rules, std::string_view mta_name) {
  if (!rules.trusted_authserv_ids.empty() || !rules.trusts_mta_name || mta_name.empty())
    return rules.trusted_authserv_ids;
  return {std::string(mta_name)};
}

Judgement Judge::judge(MessageRecorder& message, std::string_view mta_name) const {
  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  Judgement made;
  made.rules = rules_.get();
  made.facts = message.facts(trusted_ids(*made.rules, mta_name), made.rules->trusted_fields, made.rules->cover);
  if (!message.failed()) {
    decide_message(made, {*lists, all_of(*lists), start + made.rules->confirm_timeout, reports_.before_waiting});
    brake(made, all_of(*lists));
  }
  made.microseconds = microseconds_since(start);
  if (!message.exception_at().empty()) record_.internal_error(message.exception_at());
  report_damage(lists->parts());
  report_results(made);
  return made;
}

Lists Judge::all_of(const LoadedLists& loaded) const noexcept {
  Lists lists = loaded.lists();
  lists.learned = knows_learned() ? learner_ : nullptr;
  return lists;
}

// The loop ends, since each round answers another question, and a message has at most one for each sender and
// whitelist, and with pairs one more for each recipient. All of them together have the time of one.
void Judge::decide_message(Judgement& made, const Asked& asked) const {
  made.decision = decide(made.facts, asked.lists, made.rules->policy);
  if (!made.decision.question) return;
  const Clock::time_point start = Clock::now();
  do {
    const StoreQuestion question = *made.decision.question;
    made.facts.replies.push_back({question, ask_store(question, asked)});
    made.decision = decide(made.facts, asked.lists, made.rules->policy);
  } while (made.decision.question);
  made.confirm_microseconds += microseconds_since(start);
}

// The message is delivered unless its sender is held. So it is counted, and only once: a decision to deliver is the
// last one.
void Judge::brake(Judgement& made, const Lists& lists) const {
  if (!brakes() || made.decision.verdict != Verdict::deliver || is_exempt(made.decision.reason)) return;
  hold(made, lists, [this](const CountedMessage& message) { return brake_->count(message); });
}

template <typename Ask>
void Judge::hold(Judgement& made, const Lists& lists, Ask ask) const {
  const CountedSender sender = counted_sender(made.facts, made.decision, lists, made.rules->policy);
  made.facts.hold = ask(counted_message(sender, made.facts, made.rules->policy));
  if (made.facts.hold != Hold::none) made.decision = decide(made.facts, lists, made.rules->policy);
}

// For a held message, the decision still names the sender that would have delivered it.
CountedNames Judge::proven_sender(const Judgement& made) const {
  const Decision& decision = made.decision;
  const bool is_delivered = decision.verdict == Verdict::deliver && !is_exempt(decision.reason);
  if (brake_ == nullptr || !brake_->may_suspend() || !decision.method) return {};
  // A message that arrives again and again is most likely sent by another person.
  const bool is_held = made.facts.hold == Hold::burst || made.facts.hold == Hold::suspended;
  if (!is_delivered && !is_held) return {};
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  const CountedSender sender = counted_sender(made.facts, decision, lists->lists(), made.rules->policy);
  return {std::string(sender.key.view()), std::string(sender.address.view())};
}

void Judge::tell(SuspendedSenders::Opinion opinion) const noexcept {
  try {
    if (brake_ != nullptr) brake_->tell(std::move(opinion));
  } catch (const std::exception& error) {
    record_.suspension_error(error.what());
  }
}

// A look-up comes without a message, so there is nothing to prove or deny. The identity is the sender that the caller
// names.
std::shared_ptr<const JudgeRules> Judge::look_up_rules(const JudgeRules& rules) {
  auto own = std::make_shared<JudgeRules>(rules);
  own->policy.identity = IdentityRule::envelope;
  own->policy.authentication = AuthenticationRule::off;
  own->policy.verify_signatures = false;
  own->policy.dmarc_fail_vetoes = false;
  return own;
}

Decision Judge::look_up(std::string_view sender, std::string_view recipient, Clock::time_point deadline,
                        AskLearned ask_learned) const {
  const std::shared_ptr<const LoadedLists> loaded = slot_.get();
  Lists lists = all_of(*loaded);
  if (ask_learned == AskLearned::no) lists.learned = nullptr;
  if (recipient.empty() && lists.opt_out != nullptr) {
    lists.opt_out = nullptr;
    lists.opt_out_is_configured = false;
  }
  Judgement made;
  made.rules = look_up_rules_.get();
  made.facts.envelope_sender = sender;
  // A From field with the same address, so that `revoked` and the own domains are checked for it, too.
  made.facts.header_from = {HeaderFromKind::one_mailbox, std::string(sender)};
  if (!recipient.empty()) made.facts.recipients = {Recipients::State::all, {&recipient, 1}};
  decide_message(made, {*loaded, lists, deadline, {}});
  if (brakes() && made.decision.verdict == Verdict::deliver) {
    hold(made, lists, [this](const CountedMessage& message) { return brake_->state_of(message); });
  }
  report_damage(loaded->parts());
  return made.decision;
}

Lesson Judge::lesson_of(const Judgement& made) const noexcept {
  if (!is_learning()) return {};
  try {
    const std::shared_ptr<const LoadedLists> lists = slot_.get();
    return bloomgate::lesson_of(made.facts, lists->lists(), made.rules->policy, learner_->lesson_rules());
  } catch (const std::exception& error) {
    record_.learning_error(error.what());
    return {};
  }
}

void Judge::learn_from(const MessageRecorder& message, const Judgement& made, const Lesson& lesson,
                       const LearnedBegin& began, std::string_view queue_id) const noexcept {
  if (!is_learning()) return;
  try {
    if (!lesson.is_empty()) learner_->learn(lesson, message.login(), began, logged_queue_id(queue_id));
    if (made.decision.reason == Reason::learned) renew(made);
  } catch (const std::exception& error) {
    record_.learning_error(error.what());
  }
}

void Judge::renew(const Judgement& made) const {
  const Policy& policy = made.rules->policy;
  const Senders senders(made.facts, policy);
  const IdentityKind identity = made.decision.identity;
  for (const std::string_view path : made.facts.recipients.paths) {
    const Entry user = user_of(path, policy);
    if (identity != IdentityKind::header_from) learner_->renew(user.key(), senders.identity().key());
    if (identity != IdentityKind::envelope) learner_->renew(user.key(), senders.from().key());
  }
}

Confirmation Judge::ask_store(const StoreQuestion& question, const Asked& asked) const {
  const NamedFilter* const named = asked.loaded.with_store(question.store);
  const Clock::time_point start = Clock::now();
  const Confirmation answer = named->filter->confirm(question.hash, asked.deadline, asked.before_waiting);
  record_.confirmation(named->name, answer, microseconds_since(start) * kSecondsPerMicrosecond);
  return answer;
}

void Judge::judge_again(Judgement& made, Signatures signatures) const {
  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  made.facts.signatures = std::move(signatures);
  decide_message(made, {*lists, all_of(*lists), start + made.rules->confirm_timeout, reports_.before_waiting});
  brake(made, all_of(*lists));
  made.microseconds += microseconds_since(start);
  report_damage(lists->parts());
}

Trace Judge::steps_of(const Judgement& made) const {
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  Trace steps;
  const Decision again = decide(made.facts, all_of(*lists), made.rules->policy, &steps);
  const bool is_same = again.verdict == made.decision.verdict && again.reason == made.decision.reason;
  if (!is_same || again.question) steps.lose();
  return steps;
}

void Judge::report_damage(const ListParts& parts) const {
  for (const NamedFilter& each : parts.whitelists) {
    if (!each.filter) continue;
    if (each.filter->damaged() && each.filter->first_to_report_damage()) reports_.on_damage();
    if (each.filter->first_to_report_store_faults()) reports_.on_damage();
  }
}

void Judge::report_results(const Judgement& made) const {
  const Policy& policy = made.rules->policy;
  if (policy.authentication == AuthenticationRule::off || is_exempt(made.decision.reason)) return;
  // If signatures are verified here, no results are missing.
  if (policy.verify_signatures) return;
  // A trusted field that is unreadable still comes from the expected source.
  const Authentication& results = made.facts.authentication;
  const bool had_results = results.trusted_fields() + results.unreadable_fields() != 0;
  if (results_.note(had_results)) reports_.on_results();
}

}  // namespace bloomgate
