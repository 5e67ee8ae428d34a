// Reads the start of a log's line, in the forms of syslog's files (RFC 3164, 5424) and of journalctl: a date, the host,
// the program. The rest is the program's own text. Used for the logs of mail servers and of the daemon. Pure; safe from
// any thread.
#pragma once

#include <optional>
#include <string_view>

namespace bloomgate {

// The texts are parts of the line.
struct SyslogLine {
  std::string_view date =
      {};  // `Nov 20 10:00:00`, `2026-11-20T10:00:00.123456+01:00`: only the form is checked, not that the day exists
  std::string_view host = {};     // empty: the line does not have it
  std::string_view program = {};  // `postfix/submission/smtpd`, `sm-mta`
  std::string_view process = {};  // empty: the line does not have it
  std::string_view text = {};
};

// Nothing for a line of another form.
std::optional<SyslogLine> read_syslog_line(std::string_view line) noexcept;

// Removes the date and the space after it from the front of the line, and returns the date.
std::optional<std::string_view> take_log_date(std::string_view& line) noexcept;

// Moves the text before `end` from `text` to `taken`, and removes `end` as well. False if `end` is not there.
bool take_until(std::string_view& text, std::string_view end, std::string_view& taken) noexcept;

// Removes the prefix from the front of the text. False if the text does not begin with it.
bool take(std::string_view& text, std::string_view prefix) noexcept;

}  // namespace bloomgate
