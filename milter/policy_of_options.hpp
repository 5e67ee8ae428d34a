// From the options of the configuration to the policy that decide() asks. Called once, at the start and by --explain.
#pragma once

#include "config/daemon_options.hpp"
#include "milter/gate.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

// Throws ConfigError for a domain that looks like one and is none, such as an international name that IDNA does not
// allow. `config_path` is the file that it names.
Policy policy_of(const DaemonOptions& options, const std::string& config_path);

// The same, with whose results are believed.
GateRules gate_rules(const DaemonCommand& command);

}  // namespace bloomgate
