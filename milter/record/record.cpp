#include "milter/record/record.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "filter/base/printable.hpp"
#include "filter/log/line_keys.hpp"
#include "milter/learning/logger.hpp"
#include "milter/message/envelope.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLoggedSenderBytes = 320;
constexpr double kMicrosecondsPerSecond = 1e6;

// A value of the log line; a dash if there is none.
std::string word_or_dash(std::string_view value, std::size_t max_bytes) {
  return value.empty() ? "-" : printable_word(value, max_bytes);
}

std::string tenths(double value) {
  return fmt::format("{:.1f}", value);
}

// The signature that the decision is about: one with its outcome, or else one that passed, although in vain, or else
// the first. Null if there is none.
const Signature* shown_signature(const std::vector<Signature>& all, std::optional<SignatureOutcome> outcome) noexcept {
  for (const SignatureOutcome wanted : {outcome.value_or(SignatureOutcome::pass), SignatureOutcome::pass}) {
    const auto found = std::ranges::find(all, wanted, &Signature::outcome);
    if (found != all.end()) return &*found;
  }
  return all.empty() ? nullptr : &all.front();
}

// Adds the verifier's result for the sender that the decision is about.
void add_signature(std::string& line, const Facts& facts, const Decision& decision) {
  if (!facts.signatures) return;
  const Signatures& signatures = *facts.signatures;
  const Signature* const shown = shown_signature(signatures.all, decision.signature);
  const SignatureOutcome outcome = decision.signature ? *decision.signature
                                   : shown != nullptr ? shown->outcome
                                                      : signatures.fault;
  add_word(line, "dkim", signature_outcome_name(outcome));
  if (shown == nullptr) {
    // Adds the domains that have signed, but may not speak for the sender.
    if (outcome != SignatureOutcome::no_signature || facts.grounds == nullptr || !decision.child_signer.is_none())
      return;
    for (const std::string_view signer : facts.grounds->signers()) {
      add_word(line, "signed_by", printable_word(signer, kMaxDomainBytes));
    }
    return;
  }
  add_word(line, "domain", shown->domain);
  add_word(line, "selector", word_or_dash(shown->selector, kMaxDomainBytes));
  if (shown->key_bits != 0) add_word(line, "key_bits", fmt::to_string(shown->key_bits));
  if (shown->key_milliseconds != 0) add_word(line, "key_ms", tenths(shown->key_milliseconds));
  if (shown->has_secure_key) add_word(line, "dnssec", "secure");
}

std::string logged_sender(const Facts& facts) {
  return facts.envelope_sender ? printable_word(*facts.envelope_sender, kMaxLoggedSenderBytes) : "-";
}

}  // namespace

void Record::message(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_marks,
                     const DeepOutcome* deep_check) const {
  const auto& [facts, decision, microseconds, confirm_microseconds] = made;
  if (monitor_ != nullptr) {
    if (deep_check != nullptr) monitor_->tally().note_deep_check(*deep_check);
    monitor_->note_message(facts, decision, queue_id, microseconds / kMicrosecondsPerSecond);
  }
  if (deep_check != nullptr) {
    for (const std::string& warning : deep_check->warnings) log_->warn("{}", warning);
  }
  if (!log_->should_log(spdlog::level::info)) return;
  std::string line = sampled_message(made, queue_id);
  const auto add = [&line](LineKey key, std::string_view value) { add_word(line, key, value); };
  add("decision", verdict_name(decision.verdict));
  add("reason", reason_name(decision.reason));
  add("time_us", tenths(microseconds));
  add("identity", identity_kind_name(decision.identity));
  add("authentication", method_name(decision.method));
  add("whitelist", word_or_dash(decision.list.view(), kMaxListNameBytes));
  add("header_from", word_or_dash(facts.header_from.address, kMaxLoggedSenderBytes));
  if (!decision.entry.view().empty()) add("entry", printable_word(decision.entry.view(), kMaxKeyBytes));
  if (!decision.signer.view().empty()) add("signer", printable_word(decision.signer.view(), kMaxDomainBytes));
  if (decision.sender_fault != RejectReason::none) add("fault", reject_reason_name(decision.sender_fault));
  if (forged_marks != 0) add("forged_headers", fmt::to_string(forged_marks));
  if (const ForRecipients& each = decision.for_recipients; each.recipients != 0) {
    add("recipients", fmt::to_string(each.recipients));
    add("listed_for", fmt::to_string(each.listed));
  }
  if (decision.confirmation) {
    add("confirmed", confirmation_name(*decision.confirmation));
    add("confirm_us", tenths(confirm_microseconds));
  }
  if (const std::string_view proof = told_proof(decision); !proof.empty()) add("proof", proof);
  add_signature(line, facts, decision);
  if (const ChildSigner& child = decision.child_signer; !child.is_none()) {
    add("child_signer", printable_word(child.domain.view(), kMaxDomainBytes));
    add("child_of", printable_word(child.parent(), kMaxDomainBytes));
  }
  if (deep_check != nullptr) line.append(" ").append(deep_check->log);
  log_->info("{}", line);
}

void Record::refusal(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_fields) const {
  if (monitor_ != nullptr) monitor_->note_refusal(made.facts, made.decision, queue_id);
  std::string line = sampled_message(made, queue_id);
  add_word(line, "decision", "refuse");
  add_word(line, "reason", "forged-fields");
  add_word(line, "forged_headers", fmt::to_string(forged_fields));
  log_->warn("{}", line);
}

void Record::confirmation(std::string_view whitelist, Confirmation answer, double seconds) const noexcept {
  if (monitor_ != nullptr) monitor_->tally().note_confirmation(whitelist, answer, seconds);
}

void Record::internal_error(std::string_view where) const {
  log_->error("internal error {}; the message is sent to the deeper checks", where);
}

void Record::learning_error(std::string_view what) const noexcept {
  log_->error("internal error while learning: {}; the message is not affected", printable(what));
}

void Record::suspension_error(std::string_view what) const noexcept {
  log_->error("internal error while suspending a sender: {}", printable(what));
}

std::string sampled_message(const DecidedMessage& made, std::string_view queue_id) {
  std::string words;
  add_word(words, "queue_id", logged_queue_id(queue_id));
  add_word(words, "sender", logged_sender(made.facts));
  return words;
}

std::string why_delivered(const DecidedMessage& made) {
  std::string words;
  add_word(words, "identity", identity_kind_name(made.decision.identity));
  add_word(words, "whitelist", word_or_dash(made.decision.list.view(), kMaxListNameBytes));
  add_word(words, "header_from", word_or_dash(made.facts.header_from.address, kMaxLoggedSenderBytes));
  return words;
}

}  // namespace bloomgate
