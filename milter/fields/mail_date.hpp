// Reads the date of a header field (RFC 5322 section 3.3), the old forms of years and zones too. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace bloomgate {

// `Wed, 25 Nov 2026 19:25:04 +0100`. Nothing if the text is no such date. Throws std::bad_alloc.
std::optional<std::chrono::sys_seconds> read_mail_date(std::string_view value);

}  // namespace bloomgate
