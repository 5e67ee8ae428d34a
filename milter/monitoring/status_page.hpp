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

}  // namespace bloomgate
