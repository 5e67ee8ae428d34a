// The deeper check of a message, at its end: asks the checker, takes what it says to what is done with the message, and
// logs why where no checker answers. Used by callbacks.cpp, from all session threads at once, each of which waits for
// the answer.
#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/deep_outcome.hpp"
#include "milter/gate.hpp"
#include "milter/message/checked_message.hpp"

namespace bloomgate {

// Throws where no checker answers: DeepCheck::ask().
using AskDeepCheck = std::function<DeepResult(const CheckedEnvelope&, const MessageText&)>;

class DeepStage {
 public:
  // Throws std::bad_alloc.
  DeepStage(DeepCheckOptions options, AskDeepCheck ask, std::shared_ptr<spdlog::logger> log);

  const DeepCheckOptions& options() const noexcept { return options_; }

  // Whether a message that is decided so is checked.
  static bool is_for(const Decision& decision) noexcept;

  // Takes as long as the checker does, within the options' timeout. Throws std::bad_alloc only.
  DeepOutcome check(const CheckedMessage& message, const EndOfMessage& end) const;

  // What a message gets that goes on without a check, where there is no memory to say more.
  std::span<const ResultField> fallback_fields() const noexcept { return fallback_fields_; }

 private:
  DeepOutcome failed(std::string_view queue_id, std::string_view why, std::chrono::milliseconds took) const;

  DeepCheckOptions options_;
  AskDeepCheck ask_;
  std::shared_ptr<spdlog::logger> log_;
  std::vector<ResultField> fallback_fields_;
};

}  // namespace bloomgate
