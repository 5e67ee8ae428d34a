#include "milter/deep_check/deep_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/enum_words.hpp"
#include "filter/base/printable.hpp"
#include "filter/log/line_keys.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kFailureWords = "no spam checker could be asked";

SpamAction action_for(DeepVerdict verdict, const DeepCheckOptions& options) noexcept {
  switch (verdict) {
    case DeepVerdict::ham:
      return SpamAction::tag;
    case DeepVerdict::spam:
      return options.on_spam;
    case DeepVerdict::soft_reject:
      return options.on_soft_reject;
    case DeepVerdict::reject:
      break;
  }
  return options.on_reject;
}

// Some texts of a checker begin with their own status code, such as "4.7.1 The virus check is not available" (RFC 3463
// section 2). The reply already has a code that fits the action.
std::string_view without_status_code(std::string_view text) noexcept {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string_view code = text.substr(0, end);
  const bool is_code = code.size() >= 5 && (code.starts_with("4.") || code.starts_with("5.")) &&
                       std::ranges::count(code, '.') == 2 && !code.ends_with('.');
  if (!is_code || end == std::string_view::npos || text[end] != ' ') return text;
  return text.substr(end + 1);
}

std::string reply_to(const DeepResult& result, SpamAction action) {
  const std::string_view told = without_status_code(result.smtp_message);
  if (!told.empty()) return std::string(told);
  return action == SpamAction::reject ? "The message looks like spam"
                                      : "The message is refused for now, try again later";
}

}  // namespace

std::string_view deep_verdict_name(DeepVerdict verdict) noexcept {
  using enum DeepVerdict;
  static constexpr auto kWords =
      enum_words<DeepVerdict>({{ham, "ham"}, {spam, "spam"}, {soft_reject, "soft-reject"}, {reject, "reject"}});
  return word_of(kWords, verdict);
}

DeepOutcome outcome_of(const DeepResult& result, const DeepCheckOptions& options, std::chrono::milliseconds took) {
  DeepOutcome outcome;
  outcome.verdict = result.verdict;
  outcome.took = took;
  outcome.action = action_for(result.verdict, options);
  outcome.fields = result_fields(result);
  outcome.reply = reply_to(result, outcome.action);
  outcome.quarantine_reason = fmt::format("spam, score {:.1f} of {:.1f}", result.score, result.spam_threshold);
  add_word(outcome.log, "deep_check", deep_verdict_name(result.verdict));
  add_word(outcome.log, "score", fmt::format("{:.1f}/{:.1f}", result.score, result.spam_threshold));
  add_word(outcome.log, "action", word_of(outcome.action));
  add_word(outcome.log, "server", printable_word(result.server, kMaxLoggedServerBytes));
  add_word(outcome.log, "check_ms", fmt::to_string(took.count()));
  return outcome;
}

DeepOutcome outcome_of_failure(const DeepCheckOptions& options, std::chrono::milliseconds took) {
  DeepOutcome outcome;
  outcome.took = took;
  outcome.action = options.on_failure == CheckFailureAction::tag ? SpamAction::tag : SpamAction::tempfail;
  outcome.fields = failure_fields(kFailureWords);
  outcome.reply = "The message cannot be checked for spam at the moment, try again later";
  add_word(outcome.log, "deep_check", "failed");
  add_word(outcome.log, "action", word_of(outcome.action));
  add_word(outcome.log, "check_ms", fmt::to_string(took.count()));
  return outcome;
}

}  // namespace bloomgate
