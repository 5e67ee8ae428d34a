#include "filter/log/daemon_line.hpp"

#include "filter/log/syslog_line.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kProgram = "bloomgate-milter";

bool take_level(std::string_view& text, DaemonLevel& level) noexcept {
  if (take(text, "warning: ")) {
    level = DaemonLevel::warning;
  } else if (take(text, "error: ") || take(text, "critical: ")) {
    level = DaemonLevel::error;
  } else if (take(text, "info: ") || take(text, "debug: ")) {
    level = DaemonLevel::info;
  } else {
    return false;
  }
  return true;
}

// `2026-11-20T10:00:00.123+01:00 info: …`
std::optional<DaemonLine> read_own_line(std::string_view line) noexcept {
  const std::optional<std::string_view> date = take_log_date(line);
  DaemonLine read;
  if (!date || !take_level(line, read.level)) return std::nullopt;
  read.date = *date;
  read.text = line;
  return read;
}

}  // namespace

std::optional<DaemonLine> read_daemon_line(std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (const std::optional<DaemonLine> own = read_own_line(line)) return own;
  const std::optional<SyslogLine> read = read_syslog_line(line);
  if (!read || read->program != kProgram) return std::nullopt;
  // What a service writes to its standard error comes to the journal as it is.
  if (const std::optional<DaemonLine> own = read_own_line(read->text)) return own;
  DaemonLine daemon = {.date = read->date, .text = read->text};
  take_level(daemon.text, daemon.level);
  return daemon;
}

}  // namespace bloomgate
