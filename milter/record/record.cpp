#include "milter/record/record.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "filter/base/printable.hpp"
#include "milter/learning/logger.hpp"
#include "milter/message/envelope.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLoggedSenderBytes = 320;
constexpr double kMicrosecondsPerSecond = 1e6;

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

}  // namespace

void Record::message(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_marks,
                     const DeepOutcome* deep_check) const {
  const auto& [facts, decision, microseconds, confirm_microseconds] = made;
  if (monitor_ != nullptr) {
    if (deep_check != nullptr) monitor_->tally().note_deep_check(*deep_check);
    monitor_->note_message(facts, decision, microseconds / kMicrosecondsPerSecond);
  }
  if (deep_check != nullptr) {
    for (const std::string& warning : deep_check->warnings) log_->warn("{}", warning);
  }
  if (!log_->should_log(spdlog::level::info)) return;
  std::string extra;
  if (!decision.entry.view().empty()) extra += " entry=" + printable_word(decision.entry.view(), kMaxKeyBytes);
  if (!decision.signer.view().empty()) extra += " signer=" + printable_word(decision.signer.view(), kMaxDomainBytes);
  if (decision.sender_fault != RejectReason::none) {
    extra.append(" fault=").append(reject_reason_name(decision.sender_fault));
  }
  if (forged_marks != 0) extra += " forged_headers=" + std::to_string(forged_marks);
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
  if (deep_check != nullptr) extra.append(" ").append(deep_check->log);
  log_->info("{} decision={} reason={} time_us={:.1f} identity={} authentication={} whitelist={} header_from={}{}",
             sampled_message(made, queue_id), verdict_name(decision.verdict), reason_name(decision.reason),
             microseconds, identity_kind_name(decision.identity), method_name(decision.method),
             word_or_dash(decision.list.view(), kMaxListNameBytes),
             word_or_dash(facts.header_from.address, kMaxLoggedSenderBytes), extra);
}

void Record::refusal(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_fields) const {
  if (monitor_ != nullptr) monitor_->note_refusal(made.facts, made.decision);
  log_->warn("{} decision=refuse reason=forged-fields forged_headers={}", sampled_message(made, queue_id),
             forged_fields);
}

void Record::confirmation(std::string_view whitelist, Confirmation answer, double seconds) const noexcept {
  if (monitor_ != nullptr) monitor_->tally().note_confirmation(whitelist, answer, seconds);
}

void Record::internal_error(std::string_view where) const {
  log_->error("internal error {}; the message is sent to the deeper checks", where);
}

void Record::learning_error(std::string_view what) const noexcept {
  log_->error("internal error while learning: {}; the message goes on", printable(what));
}

std::string sampled_message(const DecidedMessage& made, std::string_view queue_id) {
  return fmt::format("queue_id={} sender={}", logged_queue_id(queue_id), logged_sender(made.facts));
}

std::string why_delivered(const DecidedMessage& made) {
  return fmt::format("identity={} whitelist={} header_from={}", identity_kind_name(made.decision.identity),
                     word_or_dash(made.decision.list.view(), kMaxListNameBytes),
                     word_or_dash(made.facts.header_from.address, kMaxLoggedSenderBytes));
}

}  // namespace bloomgate
