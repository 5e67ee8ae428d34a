// The status page: one HTML page for a person with a browser, without a part from elsewhere and without a script. It
// says what needs action and how, what is decided, what is loaded, and what was decided last. Every text that is not
// the page's own goes through escaped().
#pragma once

#include <string>
#include <string_view>

#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

inline constexpr const char* kPageContentType = "text/html; charset=utf-8";

// If not `with_senders`, the last decisions are left out. For the thread that calls Monitor::end_second(). Throws
// std::bad_alloc.
std::string status_page(const Monitor& monitor, bool with_senders);

// The decisions of the last day as a picture for that page, in SVG: a bar for each quarter of an hour, or for each
// minute as long as the daemon runs for an hour and a half. A sentence instead, where no minute is over yet. Throws
// std::bad_alloc.
std::string decisions_plot(const MinuteRing& minutes);

}  // namespace bloomgate
