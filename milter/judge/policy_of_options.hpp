// Converts the options of the configuration into the policy for decide(). Called once, at the start and by `explain`.
#pragma once

#include "config/daemon_options.hpp"
#include "milter/dkim/verifier.hpp"
#include "milter/judge/judge.hpp"
#include "milter/policy/header_field.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

// Throws config_error() for a text that looks like a domain but is not, such as an international name that IDNA does
// not allow. The error names the file `config_path`.
Policy policy_of(const DaemonOptions& options, const std::string& config_path);

// The policy, and the authserv-ids whose results are trusted.
JudgeRules judge_rules(const DaemonCommand& command);

// What is learned from outgoing mail, and where it is stored.
LearnRules learn_rules(const DaemonOptions& options);
// Whose mail teaches, for an operator, in one line. Empty if nothing is learned.
std::string who_teaches_text(const DaemonOptions& options);

// The limits on what listed senders may send.
BrakeRules brake_rules(const DaemonOptions& options);

// The requirements on signatures.
VerifyRules verify_rules(const DaemonOptions& options);

// What the mark of a checked message says.
CheckMark check_mark(const DaemonOptions& options) noexcept;

}  // namespace bloomgate
