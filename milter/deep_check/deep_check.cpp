#include "milter/deep_check/deep_check.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <utility>

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

}  // namespace

DeepCheck::DeepCheck(const DeepCheckOptions& options) : DeepCheck(options, ask_checkers(options)) {}

DeepCheck::DeepCheck(DeepCheckOptions options, AskChecker ask)
    : options_(std::move(options)), ask_(std::move(ask)), fallback_fields_(outcome_of_failure(options_, {}).fields) {}

MessageText::Limits DeepCheck::text_limits() const {
  return {options_.max_bytes, options_.memory_bytes, options_.temporary_folder};
}

bool DeepCheck::is_for(const Decision& decision) noexcept {
  return decision.verdict == Verdict::check && !is_exempt(decision.reason);
}

DeepOutcome DeepCheck::check(const MessageRecorder& message, const EndOfMessage& end) const {
  const Clock::time_point start = Clock::now();
  if (!message.text_fault().empty()) return failed(end.queue_id, message.text_fault(), {});
  const Envelope envelope = message.envelope(end);
  try {
    const DeepResult result = ask_(envelope, message.text());
    DeepOutcome outcome = outcome_of(result, options_, since(start));
    for (const std::string& failure : result.failures) {
      outcome.warnings.push_back(
          fmt::format("deeper check: {}; {} has answered instead", printable(failure), printable(result.server)));
    }
    return outcome;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return failed(end.queue_id, error.what(), since(start));
  }
}

DeepOutcome DeepCheck::failed(std::string_view queue_id, std::string_view why, std::chrono::milliseconds took) const {
  DeepOutcome outcome = outcome_of_failure(options_, took);
  outcome.warnings.push_back(fmt::format("deeper check: {}: {}; {}", logged_queue_id(queue_id), printable(why),
                                         options_.on_failure == CheckFailureAction::tag
                                             ? "the message is delivered unchecked"
                                             : "the message is refused for now"));
  return outcome;
}

}  // namespace bloomgate
