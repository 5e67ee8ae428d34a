// The facts about the running daemon that the rules of milter/health use. For the thread that calls
// Monitor::end_second().
#pragma once

#include <string>
#include <vector>

#include "filter/base/json.hpp"
#include "milter/health/rules.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// The counts since the start. Throws std::bad_alloc.
HealthCounts counts_of(const Monitor& monitor);

// Throws std::bad_alloc.
HealthFacts health_facts(const Monitor& monitor);

// The most severe first; empty if there are no findings. Throws std::bad_alloc.
std::vector<HealthFinding> needs_action(const Monitor& monitor);

// The same as JSON: [{"rule", "severity", "what", "how"}]. Domains that send mail are named only if `with_senders` is
// set.
inline constexpr const char* kJsonContentType = "application/json";
Json findings_json(const std::vector<HealthFinding>& findings, bool with_senders);

}  // namespace bloomgate
