#include "filter/log/syslog_line.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostHostBytes = 255;

// `<22>`
void take_priority(std::string_view& line) noexcept {
  const std::size_t end = line.find_first_not_of("0123456789", 1);
  if (line.starts_with('<') && end > 1 && end <= 4 && line.substr(end).starts_with('>')) line.remove_prefix(end + 1);
}

// RFC 5424 section 6.3: `-`, or one or more of `[name key="value" ...]`.
bool take_structured_data(std::string_view& text) noexcept {
  if (take(text, "-")) return true;
  if (!text.starts_with('[')) return false;
  bool in_quotes = false;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (in_quotes && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      in_quotes = !in_quotes;
    } else if (!in_quotes && text[at] == ']' && !text.substr(at + 1).starts_with('[')) {
      text.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

// RFC 5424 section 6, after `<22>1 `.
std::optional<SyslogLine> read_numbered_line(std::string_view line) noexcept {
  const std::optional<std::string_view> date = take_log_date(line);
  SyslogLine read = {.date = date.value_or(std::string_view())};
  std::string_view message_kind;
  if (!date || !take_until(line, " ", read.host) || !take_until(line, " ", read.program) ||
      !take_until(line, " ", read.process) || !take_until(line, " ", message_kind) || !take_structured_data(line)) {
    return std::nullopt;
  }
  if (read.host.empty() || read.host.size() > kMostHostBytes || read.program.empty()) return std::nullopt;
  take(line, " ");
  take(line, "\xef\xbb\xbf");
  take(line, " ");  // rsyslog's text begins with a space
  read.text = line;
  return read;
}

// `mail.info `, which BusyBox's syslogd writes before the program.
void take_level(std::string_view& line) noexcept {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const std::string_view word = line.substr(0, line.find_first_of(" [:"));
  const std::size_t dot = word.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == word.size()) return;
  if (!line.substr(word.size()).starts_with(' ')) return;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (at != dot && !is_letter(word[at])) return;
  }
  line.remove_prefix(word.size() + 1);
}

// `Fri 2026-11-20 10:00:00 CET `, the form of `journalctl -o short-full`: in local time. The year's hyphen is there.
std::optional<std::string_view> take_full_date(std::string_view& line) noexcept {
  constexpr std::size_t kDayBytes = std::string_view("Fri ").size();
  constexpr std::size_t kDateBytes = std::string_view("2026-11-20 10:00:00").size();
  const std::string_view date = line.substr(std::min(kDayBytes, line.size()), kDateBytes);
  if (date.size() < kDateBytes || line[kDayBytes - 1] != ' ' || date[7] != '-' || date[10] != ' ' || date[13] != ':' ||
      date[16] != ':') {
    return std::nullopt;
  }
  std::string_view rest = line.substr(kDayBytes + kDateBytes);
  std::string_view zone;
  if (!take(rest, " ") || !take_until(rest, " ", zone) || zone.empty() || zone.size() > 6) return std::nullopt;
  line = rest;
  return date;
}

}  // namespace

bool take_until(std::string_view& text, std::string_view end, std::string_view& taken) noexcept {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return false;
  taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return true;
}

bool take(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::string_view> take_log_date(std::string_view& line) noexcept {
  constexpr std::string_view kShort = "Nov 20 10:00:00 ";
  constexpr std::size_t kLongest = 40;
  if (line.size() < kShort.size()) return std::nullopt;
  if (!ascii::is_digit(line.front())) {
    if (line[8] == '-') return take_full_date(line);
    if (line[3] != ' ' || line[6] != ' ' || line[9] != ':' || line[12] != ':') return std::nullopt;
    const std::string_view date = line.substr(0, kShort.size() - 1);
    // `Nov 20 10:00:00.123456 `
    const std::size_t part = line[15] == '.' ? 16 : 15;
    const std::size_t end = std::min(line.find_first_not_of("0123456789", part), line.size());
    if ((part == 16) == (end == part) || !line.substr(end).starts_with(' ')) return std::nullopt;
    line.remove_prefix(end + 1);
    return date;
  }
  if (line[4] != '-' || line[7] != '-' || line[10] != 'T' || line[13] != ':') return std::nullopt;
  std::string_view date;
  if (!take_until(line, " ", date) || date.size() > kLongest) return std::nullopt;
  return date;
}

std::optional<SyslogLine> read_syslog_line(std::string_view line) noexcept {
  take_priority(line);
  if (take(line, "1 ")) return read_numbered_line(line);
  const std::optional<std::string_view> date = take_log_date(line);
  SyslogLine read = {.date = date.value_or(std::string_view())};
  const std::string_view behind_date = line;
  if (!date || !take_until(line, " ", read.host)) return std::nullopt;
  if (read.host.empty() || read.host.size() > kMostHostBytes) return std::nullopt;
  if (read.host.ends_with(':')) {  // `journalctl --no-hostname` begins with the program
    read.host = {};
    line = behind_date;
  } else {
    line = ascii::trimmed_front(line, " ");
    take_level(line);
  }
  const std::size_t end = line.find_first_of(" [:");
  if (end == std::string_view::npos || end == 0 || line[end] == ' ') return std::nullopt;
  read.program = line.substr(0, end);
  line.remove_prefix(end);
  if (take(line, "[") && !take_until(line, "]", read.process)) return std::nullopt;
  if (!take(line, ": ")) return std::nullopt;
  read.text = line;
  return read;
}

}  // namespace bloomgate
