// The status page: one HTML page for a person with a browser, without external parts and without scripts. It shows what
// needs action and how, the figures, the loaded lists, and the last decisions. Every text that is not the page's own
// goes through escaped().
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

inline constexpr const char* kPageContentType = "text/html; charset=utf-8";

// The page of all reasons, to which the status page has a link.
inline constexpr std::string_view kReasonsPath = "/reasons";
// In the query of the page's address: the browser should not reload the page by itself.
inline constexpr std::string_view kWithoutRefresh = "refresh=no";

// Without `with_senders`, the last decisions are omitted. With `refreshes`, the browser reloads the page every half
// minute. For the thread that calls Monitor::end_second(). Throws std::bad_alloc.
std::string status_page(const Monitor& monitor, bool with_senders, bool refreshes);

// What each reason means. Throws std::bad_alloc.
std::string reasons_page();

// The decisions of the last 90 minutes, of the last day and of the last 31 days as pictures, each with its axes. Throws
// std::bad_alloc.
std::string decision_charts(const DecisionHistory& history, std::chrono::sys_seconds now);

}  // namespace bloomgate
