// The status page: one HTML page for a person with a browser, without a part from elsewhere and without a script. It
// says what needs action and how, what is decided, what is loaded, and what was decided last. Every text that is not
// the page's own goes through escaped().
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

inline constexpr const char* kPageContentType = "text/html; charset=utf-8";

// The page of all reasons, to which the status page leads.
inline constexpr std::string_view kReasonsPath = "/reasons";
// In the query of the page's address: the browser is not to load it again by itself.
inline constexpr std::string_view kWithoutRefresh = "refresh=no";

// If not `with_senders`, the last decisions are left out. The browser loads the page again every half minute if it
// `refreshes`. For the thread that calls Monitor::end_second(). Throws std::bad_alloc.
std::string status_page(const Monitor& monitor, bool with_senders, bool refreshes);

// What each reason means. Throws std::bad_alloc.
std::string reasons_page();

// The decisions of the last 90 minutes, of the last day and of the last 31 days as pictures, each with its axes. Throws
// std::bad_alloc.
std::string decision_charts(const DecisionHistory& history, std::chrono::sys_seconds now);

}  // namespace bloomgate
