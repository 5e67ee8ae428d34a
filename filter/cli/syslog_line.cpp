#include "filter/cli/syslog_line.hpp"

#include "filter/base/ascii.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::size_t kMostHostBytes = 255;

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
    if (line[3] != ' ' || line[6] != ' ' || line[9] != ':' || line[12] != ':' || line[15] != ' ') return std::nullopt;
    const std::string_view date = line.substr(0, kShort.size() - 1);
    line.remove_prefix(kShort.size());
    return date;
  }
  if (line[4] != '-' || line[7] != '-' || line[10] != 'T' || line[13] != ':') return std::nullopt;
  std::string_view date;
  if (!take_until(line, " ", date) || date.size() > kLongest) return std::nullopt;
  return date;
}

std::optional<SyslogLine> read_syslog_line(std::string_view line) noexcept {
  const std::optional<std::string_view> date = take_log_date(line);
  SyslogLine read = {.date = date.value_or(std::string_view())};
  if (!date || !take_until(line, " ", read.host)) return std::nullopt;
  if (read.host.empty() || read.host.size() > kMostHostBytes) return std::nullopt;
  const std::size_t end = line.find_first_of(" [:");
  if (end == std::string_view::npos || end == 0 || line[end] == ' ') return std::nullopt;
  read.program = line.substr(0, end);
  line.remove_prefix(end);
  if (take(line, "[") && !take_until(line, "]", read.process)) return std::nullopt;
  if (!take(line, ": ")) return std::nullopt;
  read.text = line;
  return read;
}

}  // namespace bloomgate::cli
