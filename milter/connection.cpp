#include "milter/connection.hpp"

#include <exception>
#include <utility>

#include "filter/base/printable.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

std::optional<MessageText::Limits> text_limits(const DeepCheck* deep_check) {
  if (deep_check == nullptr) return std::nullopt;
  return deep_check->text_limits();
}

}  // namespace

void log_exception(spdlog::logger& log, std::string_view where) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    log.error("internal error {}: {}; the message is sent to the deeper checks", where, printable(error.what()));
  } catch (...) {
    log.error("internal error {}; the message is sent to the deeper checks", where);
  }
}

Connection::Connection(const ConnectionParts& parts) : parts_(parts), message_(text_limits(parts.deep_check)) {}

void Connection::begin_message(std::string_view path, const ClientFacts& client) noexcept {
  forget_message();
  is_in_progress_ = true;
  parts_.in_progress->begin();
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

Answer Connection::end_of_message(const EndOfMessage& end) noexcept {
  try {
    return conclude(end);
  } catch (...) {
    log_exception(*parts_.log, "at the end of a message");
    return conclude_without_memory();
  }
}

void Connection::forget_message() noexcept {
  judgement_.reset();
  deep_outcome_ = {};
  mark_.clear();
  message_.reset();
  if (is_in_progress_) parts_.in_progress->end();
  is_in_progress_ = false;
}

void Connection::decide(std::string_view mta_name) {
  if (judgement_) return;
  judgement_ = parts_.gate->judge(message_, mta_name);
  message_.end_header(DeepCheck::is_for(judgement_->decision));
}

Answer Connection::conclude(const EndOfMessage& end) {
  decide(end.mta_name);
  // A header field has come after the end of the header.
  if (message_.failed()) judgement_->decision = Decision{};
  const Decision& decision = judgement_->decision;
  deep_outcome_ = deep_outcome(end);
  for (const std::string& warning : deep_outcome_.warnings) parts_.log->warn("{}", warning);
  parts_.gate->log_message(message_, *judgement_, end.queue_id, deep_outcome_.log);

  const SpamAction action = deep_outcome_.action;
  if (is_refusal(action)) return Refusal{.for_good = action == SpamAction::reject, .reply = deep_outcome_.reply};
  if (parts_.mode == Mode::observe) return Edits{};
  Edits edits = {.forged_marks = message_.forged_marks(), .results = deep_outcome_.fields};
  if (decision.is_marked) {
    mark_ = header_value(decision, host(end.mta_name));
    edits.mark = mark_.c_str();
  }
  if (!is_exempt(decision.reason)) edits.spam_fields = message_.spam_fields().names();
  if (action == SpamAction::quarantine) edits.quarantine_reason = deep_outcome_.quarantine_reason.c_str();
  return edits;
}

// Throws nothing. The message is not checked, so its deeper check has failed.
Answer Connection::conclude_without_memory() const noexcept {
  if (parts_.mode == Mode::observe) return Edits{};
  Edits edits = {.forged_marks = message_.forged_marks(), .mark = kFallbackHeaderValue.data()};
  if (parts_.deep_check == nullptr) return edits;
  const bool goes_on = parts_.deep_check->options().on_failure == CheckFailureAction::tag;
  if (!goes_on || message_.spam_fields().too_many()) return Refusal{};
  edits.spam_fields = message_.spam_fields().names();
  edits.results = parts_.deep_check->fallback_fields();
  return edits;
}

// The outcome of the deeper check, if one is asked.
DeepOutcome Connection::deep_outcome(const EndOfMessage& end) const {
  const Decision& decision = judgement_->decision;
  const SpamFields& forged = message_.spam_fields();
  if (!is_exempt(decision.reason) && forged.too_many()) {
    parts_.log->warn("a message has more than {} names of fields that begin with X-Spam", forged.names().size());
    return {.action = SpamAction::tempfail, .reply = "Too many X-Spam fields"};
  }
  const bool is_asked = parts_.deep_check != nullptr && DeepCheck::is_for(decision);
  return is_asked ? parts_.deep_check->check(message_, end) : DeepOutcome();
}

std::string_view Connection::host(std::string_view mta_name) const noexcept {
  if (!parts_.host_name.empty()) return parts_.host_name;
  return is_host_name(mta_name) ? mta_name : std::string_view(parts_.fallback_host);
}

}  // namespace bloomgate
