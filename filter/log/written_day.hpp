// The calendar day on which something was written, as it says itself, in the time zone of its writer. Pure; safe from
// any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace bloomgate {

// Of the date of a log's line (SyslogLine::date). `Nov 20 10:00:00` has no year: it is the last such day up to
// `latest`. Nothing if there is no such day.
std::optional<std::chrono::sys_days> day_of_log_date(std::string_view date, std::chrono::sys_days latest) noexcept;

// Of the value of a Date field (RFC 5322 section 3.3): `Fri, 20 Nov 2026 10:00:00 +0100`. Nothing if it has none.
std::optional<std::chrono::sys_days> day_of_mail_date(std::string_view value) noexcept;

}  // namespace bloomgate
