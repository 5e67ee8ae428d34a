// The deeper check of a message: asks a checker for its verdict, and derives from the verdict what happens to the
// message. Connection calls it at the end of a message, from all session threads concurrently; each waits for the
// answer. Does not depend on libmilter; logs nothing.
#pragma once

#include <chrono>
#include <span>
#include <string_view>
#include <vector>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/checkers.hpp"
#include "milter/deep_check/deep_outcome.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/policy/decision.hpp"

namespace bloomgate {

class DeepCheck {
 public:
  // Uses the checkers of the options. Throws std::bad_alloc.
  explicit DeepCheck(const DeepCheckOptions& options);

  DeepCheck(DeepCheckOptions options, AskChecker ask);

  const DeepCheckOptions& options() const noexcept { return options_; }

  // How much of a message is kept, and where.
  MessageText::Limits text_limits() const;

  // Whether a message with that decision is checked.
  static bool is_for(const Decision& decision) noexcept;

  // Takes as long as the checker does, up to the timeout of the options. `message` must have recorded the text of the
  // message. Throws only std::bad_alloc.
  DeepOutcome check(const MessageRecorder& message, const EndOfMessage& end) const;

  // The fields for a message that continues without a check, used if there is no memory for more detail.
  std::span<const ResultField> fallback_fields() const noexcept { return fallback_fields_; }

 private:
  DeepOutcome failed(std::string_view queue_id, std::string_view why, std::chrono::milliseconds took) const;

  DeepCheckOptions options_;
  AskChecker ask_;
  std::vector<ResultField> fallback_fields_;
};

}  // namespace bloomgate
