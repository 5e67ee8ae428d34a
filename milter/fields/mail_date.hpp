// Reads the date of a header field (RFC 5322 section 3.3), including the old forms of years and zones. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace bloomgate {

// Reads `Wed, 25 Nov 2026 19:25:04 +0100`. Nothing if the text is not such a date. Throws std::bad_alloc.
std::optional<std::chrono::sys_seconds> read_mail_date(std::string_view value);

}  // namespace bloomgate
