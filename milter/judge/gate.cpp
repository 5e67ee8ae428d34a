#include "milter/judge/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "filter/base/printable.hpp"
#include "milter/learning/logger.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLoggedSenderBytes = 320;

constexpr double kMicrosecondsPerSecond = 1e6;

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// A value of the log line; a dash where there is none.
std::string word_or_dash(std::string_view value, std::size_t max_bytes) {
  return value.empty() ? "-" : printable_word(value, max_bytes);
}

// The signature that the decision is about: one with its outcome, or else one that passed, which it then did in vain,
// or else the first. Null if there is none.
const Signature* shown_signature(const std::vector<Signature>& all, std::optional<SignatureOutcome> outcome) noexcept {
  for (const SignatureOutcome wanted : {outcome.value_or(SignatureOutcome::pass), SignatureOutcome::pass}) {
    const auto found = std::ranges::find(all, wanted, &Signature::outcome);
    if (found != all.end()) return &*found;
  }
  return all.empty() ? nullptr : &all.front();
}

// What the verifier found, for the sender that the decision is about.
std::string logged_signature(const Facts& facts, const Decision& decision) {
  if (!facts.signatures) return {};
  const Signatures& signatures = *facts.signatures;
  const Signature* const shown = shown_signature(signatures.all, decision.signature);
  const SignatureOutcome outcome = decision.signature ? *decision.signature
                                   : shown != nullptr ? shown->outcome
                                                      : signatures.fault;
  std::string text = " dkim=" + std::string(signature_outcome_name(outcome));
  if (shown == nullptr) {
    // Whose signatures there are, which may not speak for the sender.
    if (outcome != SignatureOutcome::no_signature || facts.grounds == nullptr || !decision.child_signer.is_none())
      return text;
    for (const std::string_view signer : facts.grounds->signers()) {
      text += " signed_by=" + printable_word(signer, kMaxDomainBytes);
    }
    return text;
  }
  text += fmt::format(" domain={} selector={}", shown->domain, word_or_dash(shown->selector, kMaxDomainBytes));
  if (shown->key_bits != 0) text += fmt::format(" key_bits={}", shown->key_bits);
  if (shown->key_milliseconds != 0) text += fmt::format(" key_ms={:.1f}", shown->key_milliseconds);
  if (shown->has_secure_key) text += " dnssec=secure";
  return text;
}

std::string logged_sender(const Facts& facts) {
  return facts.envelope_sender ? printable_word(*facts.envelope_sender, kMaxLoggedSenderBytes) : "-";
}

void log_learning_error(spdlog::logger& log, std::string_view what) {
  log.error("internal error while learning: {}; the message goes on", printable(what));
}

}  // namespace

std::vector<std::string> trusted_ids(const GateRules& rules, std::string_view mta_name) {
  if (!rules.trusted_authserv_ids.empty() || !rules.trusts_mta_name || mta_name.empty())
    return rules.trusted_authserv_ids;
  return {std::string(mta_name)};
}

Judgement Gate::judge(MessageRecorder& message, std::string_view mta_name, const BeforeWaiting& before_waiting) const {
  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  Judgement made = {.rules = rules_.get()};
  made.facts = message.facts(trusted_ids(*made.rules, mta_name), made.rules->trusted_fields, made.rules->cover);
  if (!message.failed()) {
    decide_message(made, *lists, all_of(*lists), start + made.rules->confirm_timeout, before_waiting);
  }
  made.microseconds = microseconds_since(start);
  if (!message.exception_at().empty()) {
    log_->error("internal error {}; the message is sent to the deeper checks", message.exception_at());
  }
  report_damage(lists->parts());
  report_results(made);
  return made;
}

Lists Gate::all_of(const LoadedLists& loaded) const noexcept {
  Lists lists = loaded.lists();
  lists.learned = is_learning() ? learner_ : nullptr;
  return lists;
}

// Ends, since each turn answers another question, and a message has at most one for each sender and whitelist, and with
// pairs one more for each recipient. All of them together have the time of one.
void Gate::decide_message(Judgement& made, const LoadedLists& loaded, const Lists& lists, Clock::time_point deadline,
                          const BeforeWaiting& before_waiting) const {
  made.decision = decide(made.facts, lists, made.rules->policy);
  if (!made.decision.question) return;
  const Clock::time_point start = Clock::now();
  do {
    const StoreQuestion question = *made.decision.question;
    made.facts.replies.push_back({question, ask_store(loaded, question, deadline, before_waiting)});
    made.decision = decide(made.facts, lists, made.rules->policy);
  } while (made.decision.question);
  made.confirm_microseconds += microseconds_since(start);
}

// Whoever asks has no message, so nothing in it can be proven or denied: the identity is the sender that was named.
std::shared_ptr<const GateRules> Gate::look_up_rules(const GateRules& rules) {
  auto own = std::make_shared<GateRules>(rules);
  own->policy.identity = IdentityRule::envelope;
  own->policy.authentication = AuthenticationRule::off;
  own->policy.verify_signatures = false;
  own->policy.dmarc_fail_vetoes = false;
  return own;
}

Decision Gate::look_up(std::string_view sender, std::string_view recipient, Clock::time_point deadline,
                       AskLearned ask_learned) const {
  const std::shared_ptr<const LoadedLists> loaded = slot_.get();
  Lists lists = all_of(*loaded);
  if (ask_learned == AskLearned::no) lists.learned = nullptr;
  if (recipient.empty() && lists.opt_out != nullptr) {
    lists.opt_out = nullptr;
    lists.opt_out_is_configured = false;
  }
  Judgement made = {.rules = look_up_rules_.get()};
  made.facts.envelope_sender = sender;
  // A From field of the same address: `revoked` and the own domains are asked of that, too.
  made.facts.header_from = {HeaderFromKind::one_mailbox, std::string(sender)};
  if (!recipient.empty()) made.facts.recipients = {Recipients::State::all, {&recipient, 1}};
  decide_message(made, *loaded, lists, deadline, {});
  report_damage(loaded->parts());
  return made.decision;
}

Lesson Gate::lesson_of(const Judgement& made) const noexcept {
  if (!is_learning()) return {};
  try {
    const std::shared_ptr<const LoadedLists> lists = slot_.get();
    return bloomgate::lesson_of(made.facts, lists->lists(), made.rules->policy, learner_->lesson_rules());
  } catch (const std::exception& error) {
    log_learning_error(*log_, error.what());
    return {};
  }
}

void Gate::learn_from(const MessageRecorder& message, const Judgement& made, const Lesson& lesson,
                      const LearnedBegin& began, std::string_view queue_id) const noexcept {
  if (!is_learning()) return;
  try {
    if (!lesson.is_empty()) learner_->learn(lesson, message.login(), began, logged_queue_id(queue_id));
    if (made.decision.reason == Reason::learned) renew(made);
  } catch (const std::exception& error) {
    log_learning_error(*log_, error.what());
  }
}

void Gate::renew(const Judgement& made) const {
  const Policy& policy = made.rules->policy;
  const Senders senders(made.facts, policy);
  const IdentityKind identity = made.decision.identity;
  for (const std::string_view path : made.facts.recipients.paths) {
    const Entry user = user_of(path, policy);
    if (identity != IdentityKind::header_from) learner_->renew(user.key(), senders.identity().key());
    if (identity != IdentityKind::envelope) learner_->renew(user.key(), senders.from().key());
  }
}

Confirmation Gate::ask_store(const LoadedLists& lists, const StoreQuestion& question, Clock::time_point deadline,
                             const BeforeWaiting& before_waiting) const {
  const NamedFilter* const named = lists.with_store(question.store);
  if (monitor_ == nullptr) return named->filter->confirm(question.hash, deadline, before_waiting);
  const Clock::time_point start = Clock::now();
  const Confirmation answer = named->filter->confirm(question.hash, deadline, before_waiting);
  monitor_->tally().note_confirmation(named->name, answer, microseconds_since(start) / kMicrosecondsPerSecond);
  return answer;
}

void Gate::judge_again(Judgement& made, Signatures signatures, const BeforeWaiting& before_waiting) const {
  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  made.facts.signatures = std::move(signatures);
  decide_message(made, *lists, all_of(*lists), start + made.rules->confirm_timeout, before_waiting);
  made.microseconds += microseconds_since(start);
  report_damage(lists->parts());
}

void Gate::report_damage(const ListParts& parts) const {
  for (const NamedFilter& each : parts.whitelists) {
    if (!each.filter) continue;
    if (each.filter->damaged() && each.filter->first_to_report_damage()) reports_.on_damage();
    if (each.filter->first_to_report_store_faults()) reports_.on_damage();
  }
}

void Gate::report_results(const Judgement& made) const {
  const Policy& policy = made.rules->policy;
  if (policy.authentication == AuthenticationRule::off || is_exempt(made.decision.reason)) return;
  // Nothing is missing where signatures are verified here.
  if (policy.verify_signatures) return;
  // A field that is trusted and cannot be read has come from where they should.
  const Authentication& results = made.facts.authentication;
  const bool had_results = results.trusted_fields() + results.unreadable_fields() != 0;
  if (results_.note(had_results)) reports_.on_results();
}

void Gate::log_message(const MessageRecorder& message, const Judgement& made, std::string_view queue_id,
                       std::string_view deep_check) const {
  if (monitor_ != nullptr) {
    monitor_->note_message(made.facts, made.decision, made.microseconds / kMicrosecondsPerSecond);
  }
  if (!log_->should_log(spdlog::level::info)) return;
  const auto& [rules, facts, decision, microseconds, confirm_microseconds] = made;
  std::string extra;
  if (!decision.entry.view().empty()) extra += " entry=" + printable_word(decision.entry.view(), kMaxKeyBytes);
  if (!decision.signer.view().empty()) extra += " signer=" + printable_word(decision.signer.view(), kMaxDomainBytes);
  if (decision.sender_fault != RejectReason::none) {
    extra.append(" fault=").append(reject_reason_name(decision.sender_fault));
  }
  if (const std::size_t marks = message.forged_fields().marks(); marks != 0) {
    extra += " forged_headers=" + std::to_string(marks);
  }
  if (const ForRecipients& each = decision.for_recipients; each.recipients != 0) {
    extra += fmt::format(" recipients={} listed_for={}", each.recipients, each.listed);
  }
  if (decision.confirmation) {
    extra +=
        fmt::format(" confirmed={} confirm_us={:.1f}", confirmation_name(*decision.confirmation), confirm_microseconds);
  }
  if (const std::string_view proof = told_proof(decision); !proof.empty()) extra.append(" proof=").append(proof);
  extra += logged_signature(facts, decision);
  if (const ChildSigner& child = decision.child_signer; !child.is_none()) {
    extra += " child_signer=" + printable_word(child.domain.view(), kMaxDomainBytes) +
             " child_of=" + printable_word(child.parent(), kMaxDomainBytes);
  }
  if (!deep_check.empty()) extra.append(" ").append(deep_check);
  log_->info(
      "queue_id={} sender={} decision={} reason={} time_us={:.1f} identity={} authentication={} whitelist={} "
      "header_from={}{}",
      logged_queue_id(queue_id), logged_sender(facts), verdict_name(decision.verdict), reason_name(decision.reason),
      microseconds, identity_kind_name(decision.identity), method_name(decision.method),
      word_or_dash(decision.list.view(), kMaxListNameBytes),
      word_or_dash(facts.header_from.address, kMaxLoggedSenderBytes), extra);
}

DeliverySample Gate::sample(MessageRecorder& message, const Judgement& made, const EndOfMessage& end) {
  const auto& [rules, facts, decision, microseconds, confirm_microseconds] = made;
  return {.envelope = message.envelope(end),
          .text = message.take_text(),
          .who = fmt::format("queue_id={} sender={}", logged_queue_id(end.queue_id), logged_sender(facts)),
          .why = fmt::format("identity={} whitelist={} header_from={}", identity_kind_name(decision.identity),
                             word_or_dash(decision.list.view(), kMaxListNameBytes),
                             word_or_dash(facts.header_from.address, kMaxLoggedSenderBytes))};
}

void Gate::log_refusal(const Judgement& made, std::string_view queue_id, std::size_t forged_fields) const {
  if (monitor_ != nullptr) monitor_->note_refusal(made.facts, made.decision);
  log_->warn("queue_id={} sender={} decision=refuse reason=forged-fields forged_headers={}", logged_queue_id(queue_id),
             logged_sender(made.facts), forged_fields);
}

}  // namespace bloomgate
