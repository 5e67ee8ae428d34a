#include "milter/deep_stage.hpp"

#include <exception>
#include <new>

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

}  // namespace

DeepStage::DeepStage(DeepCheckOptions options, AskDeepCheck ask, std::shared_ptr<spdlog::logger> log)
    : options_(std::move(options)),
      ask_(std::move(ask)),
      log_(std::move(log)),
      fallback_fields_(outcome_of_failure(options_, {}).fields) {}

bool DeepStage::is_for(const Decision& decision) noexcept {
  return decision.verdict == Verdict::check && !is_exempt(decision.reason);
}

DeepOutcome DeepStage::check(const CheckedMessage& message, const EndOfMessage& end) const {
  const Clock::time_point start = Clock::now();
  if (!message.fault().empty()) return failed(end.queue_id, message.fault(), {});
  CheckedEnvelope envelope = message.envelope();
  envelope.queue_id = end.queue_id;
  envelope.mta_name = end.mta_name;
  try {
    const DeepResult result = ask_(envelope, message.text());
    for (const std::string& failure : result.failures) {
      log_->warn("deeper check: {}; {} has answered instead", printable(failure), printable(result.server));
    }
    return outcome_of(result, options_, since(start));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return failed(end.queue_id, error.what(), since(start));
  }
}

DeepOutcome DeepStage::failed(std::string_view queue_id, std::string_view why, std::chrono::milliseconds took) const {
  log_->warn("deeper check: {}: {}; {}", logged_queue_id(queue_id), printable(why),
             options_.on_failure == CheckFailureAction::tag ? "the message goes on unchecked"
                                                            : "the message is refused for now");
  return outcome_of_failure(options_, took);
}

}  // namespace bloomgate
