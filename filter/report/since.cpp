#include "filter/report/since.hpp"

#include <charconv>
#include <optional>

#include "filter/base/usage_error.hpp"

namespace bloomgate {
namespace {

std::optional<std::chrono::seconds> age_of(std::string_view text) noexcept {
  constexpr unsigned kMostDays = 36'500;
  constexpr unsigned kDaySeconds = 86'400;
  if (text.size() < 2) return std::nullopt;
  unsigned unit = 0;
  switch (text.back()) {
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = kDaySeconds;
      break;
    case 'w':
      unit = 7 * kDaySeconds;
      break;
    default:
      return std::nullopt;
  }
  unsigned count = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  if (stopped != end || error != std::errc{} || count == 0) return std::nullopt;
  const std::chrono::seconds age = std::chrono::seconds(unit) * count;
  if (age > std::chrono::seconds(kDaySeconds) * kMostDays) return std::nullopt;
  return age;
}

// A date of a log, with `T` between day and time, and the parts of it that are not given.
std::optional<LogTime> moment_of(std::string text, LogTime now) {
  constexpr std::size_t kDay = 10, kMinute = 16, kSecond = 19;
  if (text.size() == kDay) text += "T00:00:00";
  if (text.size() == kMinute) text += ":00";
  if (text.size() != kSecond || (text[kDay] != ' ' && text[kDay] != 'T')) return std::nullopt;
  return LogTimes(now).read(text);
}

}  // namespace

LogTime parse_since(const std::string& text, LogTime now) {
  if (const auto age = age_of(text)) return now - *age;
  if (const auto moment = moment_of(text, now)) return *moment;
  throw UsageError("--since takes a time such as 24h, 7d, 2026-11-20 or '2026-11-20 06:00', not '" + text + "'");
}

}  // namespace bloomgate
