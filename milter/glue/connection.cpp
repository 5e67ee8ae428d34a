#include "milter/glue/connection.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "filter/base/printable.hpp"
#include "milter/learning/logger.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kTooManyForgedFields = "The message has too many X-Bloomgate or X-Spam header fields";

std::optional<MessageText::Limits> text_limits(const DeepCheck* deep_check) {
  if (deep_check == nullptr) return std::nullopt;
  return deep_check->text_limits();
}

}  // namespace

void log_error(spdlog::logger& log, std::string_view text) noexcept {
  try {
    log.error("{}", text);
  } catch (...) {
    // There is no memory for it, or the log has failed in a way of its own. These bytes need neither.
    constexpr std::string_view kLost = "bloomgate-milter: an error could not be logged\n";
    static_cast<void>(!write(STDERR_FILENO, kLost.data(), kLost.size()));
  }
}

void log_exception(spdlog::logger& log, std::string_view where) noexcept {
  constexpr std::string_view kEnd = "; the message is sent to the deeper checks";
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      log_error(log, fmt::format("internal error {}: {}{}", where, printable(error.what()), kEnd));
    } catch (...) {
      log_error(log, fmt::format("internal error {}{}", where, kEnd));
    }
  } catch (const std::exception&) {
    log_error(log, "an internal error, and no memory to say which; the message is sent to the deeper checks");
  }
}

Connection::Connection(std::shared_ptr<const ConnectionParts> parts, int socket)
    : kept_parts_(std::move(parts)),
      parts_(*kept_parts_),
      place_(parts_.watch, socket),
      message_(text_limits(parts_.deep_check)) {
  message_.keep_header(parts_.verifier != nullptr);
  set_conversation({.recipients = parts_.want_recipients(), .body = parts_.want_body()});
  if (parts_.monitor != nullptr) parts_.monitor->tally().begin_session();
}

Connection::~Connection() {
  forget_message();
  if (parts_.monitor != nullptr) parts_.monitor->tally().end_session();
}

void Connection::set_conversation(const Conversation& agreed) noexcept {
  conversation_ = agreed;
  message_.set_leading_space(agreed.leading_space);
  message_.expect_recipients(agreed.recipients);
}

void Connection::begin_message(std::string_view path, const ClientFacts& client) noexcept {
  forget_message();
  is_in_progress_ = true;
  parts_.in_progress->begin();
  began_ = parts_.gate->begin_message();
  message_.begin_message(path, client);
}

void Connection::end_of_header(std::string_view mta_name) noexcept {
  try {
    decide(mta_name);
  } catch (...) {
    log_exception(*parts_.log, "at the end of a header");
    // The message is then decided at its end, and its body is kept until then.
    message_.end_header(true);
  }
}

bool Connection::add_body(std::string_view bytes) noexcept {
  const bool checker_wants_more = message_.add_body(bytes);
  const bool verifier_wants_more = verification_ && verification_->add_body(bytes);
  const bool lesson_wants_more = lesson_.add_body(bytes);
  return checker_wants_more || verifier_wants_more || lesson_wants_more;
}

Answer Connection::end_of_message(const EndOfMessage& end) noexcept {
  try {
    return conclude(end);
  } catch (...) {
    log_exception(*parts_.log, "at the end of a message");
    return conclude_without_memory();
  }
}

void Connection::forget_message() noexcept {
  if (sample_) parts_.sampler->offer(*std::move(sample_));
  sample_.reset();
  is_drawn_ = false;
  verification_.reset();
  lesson_.clear();
  judgement_.reset();
  deep_outcome_ = {};
  mark_.clear();
  message_.reset();
  if (is_in_progress_) parts_.in_progress->end();
  is_in_progress_ = false;
}

void Connection::decide(std::string_view mta_name) {
  if (judgement_) return;
  judgement_ = parts_.gate->judge(message_, mta_name, parts_.before_waiting);
  // A message that is refused is not shown to a checker.
  const bool goes_on = !refusal_for_forged_fields(is_exempt(judgement_->decision.reason));
  if (goes_on && !judgement_->decision.need.is_empty()) begin_verification();
  is_drawn_ = goes_on && is_drawn();
  // A checker needs the text even if a signature may still make the message one that is delivered.
  message_.end_header(goes_on && (is_drawn_ || DeepCheck::is_for(judgement_->decision)));
  if (goes_on) lesson_.begin(parts_.gate->lesson_of(*judgement_), message_.content_type());
}

// A message that may be delivered, by a list, is drawn once. Exempt mail is delivered by no list.
bool Connection::is_drawn() const noexcept {
  const Decision& decision = judgement_->decision;
  if (parts_.sampler == nullptr || is_exempt(decision.reason)) return false;
  return (decision.verdict == Verdict::deliver || verification_ != nullptr) && parts_.sampler->draw();
}

// It goes to the sampler when the answer was given.
void Connection::take_sample(const EndOfMessage& end) noexcept {
  if (!is_drawn_ || judgement_->decision.verdict != Verdict::deliver) return;
  if (message_.text_fault().empty()) {
    try {
      sample_ = Gate::sample(message_, *judgement_, end);
      return;
    } catch (const std::bad_alloc&) {
      // The message is delivered all the same.
    }
  }
  parts_.sampler->drop();
}

// Where the verifier knows the outcome at once, so does the rest of the message.
void Connection::begin_verification() {
  if (parts_.verifier == nullptr) return;
  const std::optional<std::span<const std::string_view>> header = message_.header();
  if (!header) {
    parts_.gate->judge_again(*judgement_, {.all = {}, .fault = SignatureOutcome::header_too_large},
                             parts_.before_waiting);
    return;
  }
  verification_ = parts_.verifier->begin({.header = *header, .need = judgement_->decision.need});
  if (verification_->is_over()) end_verification();
}

void Connection::end_verification() {
  const std::unique_ptr<Verification> over = std::move(verification_);
  if (over) parts_.gate->judge_again(*judgement_, over->finish(), parts_.before_waiting);
}

Answer Connection::conclude(const EndOfMessage& end) {
  decide(end.mta_name);
  if (verification_ && !verification_->is_over() && parts_.before_waiting) parts_.before_waiting();
  end_verification();
  // A header field has come after the end of the header.
  if (message_.failed()) judgement_->decision = Decision{};
  const Decision& decision = judgement_->decision;
  const bool exempt = is_exempt(decision.reason);
  if (const std::optional<Refusal> refusal = refusal_for_forged_fields(exempt)) {
    parts_.gate->log_refusal(*judgement_, end.queue_id, message_.forged_fields().count(!exempt));
    return *refusal;
  }
  const bool is_asked = parts_.deep_check != nullptr && DeepCheck::is_for(decision);
  if (is_asked) {
    if (parts_.before_waiting) parts_.before_waiting();
    deep_outcome_ = parts_.deep_check->check(message_, end);
    if (parts_.monitor != nullptr) parts_.monitor->tally().note_deep_check(deep_outcome_);
  }
  for (const std::string& warning : deep_outcome_.warnings) parts_.log->warn("{}", warning);
  parts_.gate->log_message(message_, *judgement_, end.queue_id, deep_outcome_.log);

  const SpamAction action = deep_outcome_.action;
  const bool is_spam = is_asked && deep_outcome_.verdict != DeepVerdict::ham;
  if (!is_spam && !message_.failed())
    parts_.gate->learn_from(message_, *judgement_, lesson_.take(), began_, end.queue_id);
  if (is_refusal(action)) return Refusal{.for_good = action == SpamAction::reject, .reply = deep_outcome_.reply};
  if (parts_.mode == Mode::observe) return Edits{};
  const ForgedFields& forged = message_.forged_fields();
  Edits edits = {.forged_marks = static_cast<int>(forged.marks()),
                 .results = deep_outcome_.fields,
                 .needs_leading_space = conversation_.leading_space};
  if (decision.is_marked) {
    mark_ = header_value(decision, host(end.mta_name), parts_.check_mark);
    edits.mark = mark_.c_str();
  }
  if (!exempt) edits.forged_results = forged.results();
  if (action == SpamAction::quarantine) edits.quarantine_reason = deep_outcome_.quarantine_reason.c_str();
  take_sample(end);
  return edits;
}

// Throws nothing. The message is not checked, so its deeper check has failed.
Answer Connection::conclude_without_memory() const noexcept {
  if (parts_.mode == Mode::observe) return Edits{};
  if (const std::optional<Refusal> refusal = refusal_for_forged_fields(false)) return *refusal;
  const ForgedFields& forged = message_.forged_fields();
  Edits edits = {.forged_marks = static_cast<int>(forged.marks()),
                 .mark = kFallbackHeaderValue.data(),
                 .needs_leading_space = conversation_.leading_space};
  if (parts_.deep_check == nullptr) return edits;
  if (parts_.deep_check->options().on_failure != CheckFailureAction::tag) return Refusal{};
  edits.forged_results = forged.results();
  edits.results = parts_.deep_check->fallback_fields();
  return edits;
}

// Exempt mail keeps the results that came with it. Observed mail keeps everything, so nothing of it is refused.
std::optional<Refusal> Connection::refusal_for_forged_fields(bool exempt) const noexcept {
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

std::string_view Connection::host(std::string_view mta_name) const noexcept {
  if (!parts_.host_name.empty()) return parts_.host_name;
  return is_host_name(mta_name) ? mta_name : std::string_view(parts_.fallback_host);
}

}  // namespace bloomgate
