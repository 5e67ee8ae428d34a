#include "milter/judge/hearing.hpp"

#include <new>
#include <span>
#include <utility>

namespace bloomgate {
namespace {

constexpr std::string_view kTooManyForgedFields = "The message has too many X-Bloomgate or X-Spam header fields";

}  // namespace

void Hearing::end_of_header(std::string_view mta_name) {
  if (judgement_) return;
  judgement_ = parts_.judge->judge(message_, mta_name);
  // A refused message is not shown to a checker.
  const bool goes_on = !refusal_for_forged_fields(is_exempt(judgement_->decision.reason));
  if (goes_on && !judgement_->decision.need.is_empty()) begin_verification();
  is_drawn_ = goes_on && is_drawn();
  // A checker needs the text even if a signature may still lead to delivery.
  message_.end_header(goes_on && (is_drawn_ || DeepCheck::is_for(judgement_->decision)));
  if (goes_on && parts_.learns) lesson_.begin(parts_.judge->lesson_of(*judgement_), message_.content_type());
}

bool Hearing::add_body(std::string_view bytes) noexcept {
  const bool checker_wants_more = message_.add_body(bytes);
  const bool verifier_wants_more = verification_ && verification_->add_body(bytes);
  const bool lesson_wants_more = lesson_.add_body(bytes);
  return checker_wants_more || verifier_wants_more || lesson_wants_more;
}

Answer Hearing::end_of_message(const EndOfMessage& end) {
  end_of_header(end.mta_name);
  if (verification_ && !verification_->is_over()) wait();
  end_verification();
  // A header field has come after the end of the header.
  if (message_.failed()) judgement_->decision = Decision{};
  const bool exempt = is_exempt(judgement_->decision.reason);
  if (const std::optional<Refusal> refusal = refusal_for_forged_fields(exempt)) {
    parts_.record->refusal(*judgement_, end.queue_id, message_.forged_fields().count(!exempt));
    return *refusal;
  }
  const bool is_asked = check_deeply(end);
  parts_.record->message(*judgement_, end.queue_id, message_.forged_fields().marks(),
                         is_asked ? &deep_outcome_ : nullptr);

  if (is_asked && deep_outcome_.verdict) {
    if (const auto tell = opinion(end.queue_id)) tell(is_spam(*deep_outcome_.verdict));
  }
  const SpamAction action = deep_outcome_.action;
  const bool is_bad = is_asked && deep_outcome_.verdict != DeepVerdict::ham;
  if (parts_.learns && !is_bad && !message_.failed()) {
    parts_.judge->learn_from(message_, *judgement_, lesson_.take(), began_, end.queue_id);
  }
  if (is_refusal(action)) return Refusal{.for_good = action == SpamAction::reject, .reply = deep_outcome_.reply};
  if (parts_.mode == Mode::observe) return Edits{};
  const Edits made = edits(end.mta_name, exempt);
  take_sample(end);
  return made;
}

Answer Hearing::answer_after_exception() const noexcept {
  if (parts_.mode == Mode::observe) return Edits{};
  if (const std::optional<Refusal> refusal = refusal_for_forged_fields(false)) return *refusal;
  const ForgedFields& forged = message_.forged_fields();
  Edits edits = {.forged_marks = static_cast<int>(forged.marks()), .mark = kFallbackHeaderValue.data()};
  if (parts_.deep_check == nullptr) return edits;
  if (parts_.deep_check->options().on_failure != CheckFailureAction::tag) return Refusal{};
  edits.forged_results = forged.results();
  edits.results = parts_.deep_check->fallback_fields();
  return edits;
}

void Hearing::forget_message() noexcept {
  if (sample_) parts_.sampler->offer(*std::move(sample_));
  sample_.reset();
  is_drawn_ = false;
  verification_.reset();
  lesson_.clear();
  judgement_.reset();
  deep_outcome_ = {};
  mark_.clear();
}

// If the verifier knows the outcome at once, the message is decided again at once.
void Hearing::begin_verification() {
  if (parts_.verifier == nullptr) return;
  const std::optional<std::span<const std::string_view>> header = message_.header();
  if (!header) {
    parts_.judge->judge_again(*judgement_, {.all = {}, .fault = SignatureOutcome::header_too_large});
    return;
  }
  verification_ = parts_.verifier->begin({.header = *header, .need = judgement_->decision.need});
  if (verification_->is_over()) end_verification();
}

void Hearing::end_verification() {
  const std::unique_ptr<Verification> over = std::move(verification_);
  if (over) parts_.judge->judge_again(*judgement_, over->finish());
}

void Hearing::wait() const {
  if (parts_.before_waiting) parts_.before_waiting();
}

// Returns whether a checker was asked; then its outcome is stored.
bool Hearing::check_deeply(const EndOfMessage& end) {
  if (parts_.deep_check == nullptr || !DeepCheck::is_for(judgement_->decision)) return false;
  wait();
  deep_outcome_ = parts_.deep_check->check(message_, end);
  return true;
}

// A message that a list may deliver is drawn once. Exempt mail is not delivered by a list.
bool Hearing::is_drawn() const noexcept {
  const Decision& decision = judgement_->decision;
  if (parts_.sampler == nullptr || is_exempt(decision.reason)) return false;
  return (decision.verdict == Verdict::deliver || verification_ != nullptr) && parts_.sampler->draw();
}

// The sample goes to the sampler after the answer was given.
void Hearing::take_sample(const EndOfMessage& end) noexcept {
  if (!is_drawn_ || judgement_->decision.verdict != Verdict::deliver) return;
  if (message_.text_fault().empty()) {
    try {
      sample_ = {.envelope = message_.envelope(end),
                 .text = message_.take_text(),
                 .who = sampled_message(*judgement_, end.queue_id),
                 .why = why_delivered(*judgement_),
                 .on_answer = opinion(end.queue_id)};
      return;
    } catch (const std::bad_alloc&) {
      // The message is delivered nevertheless.
    }
  }
  parts_.sampler->drop();
}

// Returns a function that receives a checker's verdict on a proven message: spam suspends its sender. The judge lives
// as long as the process.
std::function<void(bool)> Hearing::opinion(std::string_view queue_id) const {
  CountedNames sender = parts_.judge->proven_sender(*judgement_);
  if (sender.sender.empty()) return nullptr;
  return [judge = parts_.judge, sender = std::move(sender), message = sampled_message(*judgement_, queue_id),
          is_sample = judgement_->decision.verdict == Verdict::deliver](bool spam) {
    judge->tell({.names = sender, .is_spam = spam, .is_sample = is_sample, .message = message});
  };
}

Edits Hearing::edits(std::string_view mta_name, bool exempt) {
  const ForgedFields& forged = message_.forged_fields();
  Edits edits = {.forged_marks = static_cast<int>(forged.marks()), .results = deep_outcome_.fields};
  if (judgement_->decision.is_marked) {
    mark_ = header_value(judgement_->decision, host(mta_name), parts_.check_mark);
    edits.mark = mark_.c_str();
  }
  if (!exempt) edits.forged_results = forged.results();
  if (deep_outcome_.action == SpamAction::quarantine) edits.quarantine_reason = deep_outcome_.quarantine_reason.c_str();
  return edits;
}

// Exempt mail keeps the results that came with it. Observed mail keeps all its fields, so it is never refused.
std::optional<Refusal> Hearing::refusal_for_forged_fields(bool exempt) const noexcept {
  if (parts_.mode == Mode::observe) return std::nullopt;
  switch (message_.forged_fields().removal(!exempt)) {
    case ForgedFields::Removal::possible:
      return std::nullopt;
    case ForgedFields::Removal::too_many:
      return Refusal{.for_good = true, .reply = kTooManyForgedFields};
    case ForgedFields::Removal::unknown:
      break;
  }
  return Refusal{};
}

std::string_view Hearing::host(std::string_view mta_name) const noexcept {
  if (!parts_.host_name.empty()) return parts_.host_name;
  return is_host_name(mta_name) ? mta_name : std::string_view(parts_.fallback_host);
}

}  // namespace bloomgate
