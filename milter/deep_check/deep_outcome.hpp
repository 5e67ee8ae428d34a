// From what a deeper check says, or that none answered, to what is done with the message: by the operator's policy.
// Pure; safe from any thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/deep_check/result_fields.hpp"

namespace bloomgate {

struct DeepOutcome {
  SpamAction action = SpamAction::tag;
  std::vector<ResultField> fields = {};  // what a message that goes on gets, in the order in which they stand
  std::string reply = {};                // what the client of a refused one is told; printable ASCII, one line
  std::string quarantine_reason = {};    // of one that is put into quarantine; printable ASCII, one line
  // What the message's line in the log gets: "deep_check=spam score=12.3/5.0 action=tag server=… check_ms=42"
  std::string log = {};
  // What the operator is to be warned of, each a line of the log of its own.
  std::vector<std::string> warnings = {};
};

// Whether a message with that outcome does not go on.
inline bool is_refusal(SpamAction action) noexcept {
  return action == SpamAction::reject || action == SpamAction::tempfail;
}

// "tag", "quarantine", "reject", "tempfail". Never fails.
std::string_view spam_action_name(SpamAction action) noexcept;

// Throws std::bad_alloc.
DeepOutcome outcome_of(const DeepResult& result, const DeepCheckOptions& options, std::chrono::milliseconds took);

// No checker could be asked, or none answered. Why is for the log of the caller, and not for the message, since it may
// name machines. Throws std::bad_alloc.
DeepOutcome outcome_of_failure(const DeepCheckOptions& options, std::chrono::milliseconds took);

}  // namespace bloomgate
