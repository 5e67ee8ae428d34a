// From the options of the configuration to the policy that decide() asks. Called once, at the start and by --explain.
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

// The same, and the names whose results are trusted.
JudgeRules judge_rules(const DaemonCommand& command);

// What is learned from outgoing mail, and where it is kept.
LearnRules learn_rules(const DaemonOptions& options);
// Whose mail that is, for an operator, one line. Empty if nothing is learned.
std::string who_teaches_text(const DaemonOptions& options);

// What listed senders may send.
BrakeRules brake_rules(const DaemonOptions& options);

// What signatures must be.
VerifyRules verify_rules(const DaemonOptions& options);

// What the mark of a checked message tells.
CheckMark check_mark(const DaemonOptions& options) noexcept;

}  // namespace bloomgate
