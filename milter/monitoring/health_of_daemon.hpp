// What the rules of milter/health look at, of the running daemon. For the thread that calls Monitor::end_second().
#pragma once

#include <string>
#include <vector>

#include "filter/base/json.hpp"
#include "milter/health/rules.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// Since the start. Throws std::bad_alloc.
HealthCounts counts_of(const Monitor& monitor);

// Throws std::bad_alloc.
HealthFacts health_facts(const Monitor& monitor);

// The gravest first; empty if all is well. Throws std::bad_alloc.
std::vector<HealthFinding> needs_action(const Monitor& monitor);

// The same as JSON: [{"rule", "severity", "what", "how"}]. Domains that send mail are named only `with_senders`.
inline constexpr const char* kJsonContentType = "application/json";
Json findings_json(const std::vector<HealthFinding>& findings, bool with_senders);

}  // namespace bloomgate
