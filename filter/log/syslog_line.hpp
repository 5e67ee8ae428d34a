// The start of a log's line, in the forms that syslog's files (RFC 3164, 5424) and journalctl have: a date, the host,
// the program. What stands behind them is the program's own. Used for the logs of mail servers and of the daemon. Pure;
// safe from any thread.
#pragma once

#include <optional>
#include <string_view>

namespace bloomgate {

// The texts are parts of the line.
struct SyslogLine {
  std::string_view date =
      {};  // `Nov 20 10:00:00`, `2026-11-20T10:00:00.123456+01:00`: the form, not that there is such a day
  std::string_view host = {};     // empty: the line does not say
  std::string_view program = {};  // `postfix/submission/smtpd`, `sm-mta`
  std::string_view process = {};  // empty: the line does not say
  std::string_view text = {};
};

// Nothing for a line of another form.
std::optional<SyslogLine> read_syslog_line(std::string_view line) noexcept;

// Takes the date and the space behind it off the line.
std::optional<std::string_view> take_log_date(std::string_view& line) noexcept;

// Takes what stands before `end` off the text, and `end` as well. False if it is not there.
bool take_until(std::string_view& text, std::string_view end, std::string_view& taken) noexcept;

// False if the text does not begin so.
bool take(std::string_view& text, std::string_view prefix) noexcept;

}  // namespace bloomgate
