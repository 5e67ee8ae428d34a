// Decides what happens to a message, from the answer of a deeper check or its absence, by the operator's policy. Pure;
// safe from any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/deep_check/result_fields.hpp"

namespace bloomgate {

struct DeepOutcome {
  SpamAction action = SpamAction::tag;
  std::optional<DeepVerdict> verdict = {};  // nothing: no checker has answered
  std::chrono::milliseconds took{0};
  std::vector<ResultField> fields = {};  // for a message that continues, in the order in the message
  std::string reply = {};                // for the client of a refused message; printable ASCII, one line
  std::string quarantine_reason = {};    // for a message that is put into quarantine; printable ASCII, one line
  // The part for the message's line in the log: "deep_check=spam score=12.3/5.0 action=tag server=… check_ms=42"
  std::string log = {};
  // Warnings for the operator, one log line each.
  std::vector<std::string> warnings = {};
};

// Whether a message with that outcome is refused.
inline bool is_refusal(SpamAction action) noexcept {
  return action == SpamAction::reject || action == SpamAction::tempfail;
}

// Throws std::bad_alloc.
DeepOutcome outcome_of(const DeepResult& result, const DeepCheckOptions& options, std::chrono::milliseconds took);

// The outcome if no checker could be asked, or none answered. The caller logs the reason. The message does not carry
// it, since it may name machines. Throws std::bad_alloc.
DeepOutcome outcome_of_failure(const DeepCheckOptions& options, std::chrono::milliseconds took);

}  // namespace bloomgate
