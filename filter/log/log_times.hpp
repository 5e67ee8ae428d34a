// The time and the day of a date in a log. For one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

using LogTime = std::chrono::sys_seconds;

class LogTimes {
 public:
  // A date without a year is in the last year that has such a day not more than a day after `now`.
  explicit LogTimes(LogTime now) : now_(now) {}

  // `2026-11-20T10:00:00+01:00`, also with a fraction of a second, with `Z`, or `+0100`. Without an offset, and for the
  // form `Nov 20 10:00:00`, it is this machine's local time. Nothing if there is no such time.
  std::optional<LogTime> read(std::string_view date);

 private:
  std::optional<LogTime> read_short(std::string_view date);

  LogTime now_;
  std::string hour_;               // of the last short date: `Nov 20 10`
  std::optional<LogTime> begins_;  // the time of that hour
};

// The local time, by `mktime`; nothing if it is out of range. Year, month and day count from 1.
std::optional<LogTime> local_time(int year, int month, int day, int hour, int minute, int second);

// "2026-11-20 06:00", in this machine's own time.
std::string format_local(LogTime time);

// "06:00", "2026-11-20": parts of it.
std::string format_local_clock(LogTime time);
std::string format_local_day(LogTime time);

// The calendar day on which a text was written, as the text itself says, in the time zone of its writer. Pure; safe
// from any thread. This function reads the date of a log's line (SyslogLine::date). `Nov 20 10:00:00` has no year: it
// is the last such day up to `latest`. Nothing if there is no such day.
std::optional<std::chrono::sys_days> day_of_log_date(std::string_view date, std::chrono::sys_days latest) noexcept;

// The same for the value of a Date field (RFC 5322 section 3.3): `Fri, 20 Nov 2026 10:00:00 +0100`. Nothing if it has
// none.
std::optional<std::chrono::sys_days> day_of_mail_date(std::string_view value) noexcept;

}  // namespace bloomgate
