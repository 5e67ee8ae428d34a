#include "filter/log/log_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::chrono::hours kADay{24};
constexpr int kMostYearsBetweenLeapYears = 8;  // 1896 and 1904, 2096 and 2104

// A number of exactly that many digits at `at`; the text must be long enough.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) noexcept {
  int value = 0;
  const char* const begin = text.data() + at;
  if (std::from_chars(begin, begin + count, value).ptr != begin + count || *begin == '-') return std::nullopt;
  return value;
}

// The number of a month such as `Nov`, from 1; 0, which is in no year, if it is none.
int month_of(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const month = std::ranges::find(kMonths, name);
  return month == kMonths.end() ? 0 : static_cast<int>(month - kMonths.begin()) + 1;
}

// `Z`, `+01:00`, `+0100`: seconds east of Greenwich. A fraction of a second may come before it.
std::optional<std::chrono::seconds> offset_of(std::string_view zone) noexcept {
  if (zone == "Z") return std::chrono::seconds(0);
  const bool has_colon = zone.size() == 6 && zone[3] == ':';
  if ((zone.size() != 5 && !has_colon) || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const std::optional<int> hours = digits(zone, 1, 2);
  const std::optional<int> minutes = digits(zone, has_colon ? 4 : 3, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::seconds offset = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  return zone[0] == '+' ? offset : -offset;
}

struct Clock {
  int hour, minute, second;
};

// The time at the start of the text, which must be long enough: `10:00:00`.
std::optional<Clock> clock_of(std::string_view text) noexcept {
  if (text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hour = digits(text, 0, 2), minute = digits(text, 3, 2), second = digits(text, 6, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return Clock{*hour, *minute, *second};
}

// The day at the start of the text, which must be long enough: `2026-11-20`.
std::optional<std::chrono::sys_days> day_of(std::string_view text) noexcept {
  if (text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

std::optional<LogTime> read_long(std::string_view date) noexcept {
  constexpr std::size_t kClockAt = 11;
  constexpr std::size_t kClockBytes = 8;
  if (date.size() < kClockAt + kClockBytes) return std::nullopt;
  const std::optional<std::chrono::sys_days> day = day_of(date);
  const std::optional<Clock> clock = clock_of(date.substr(kClockAt));
  if (!day || !clock) return std::nullopt;
  std::string_view zone = date.substr(kClockAt + kClockBytes);
  if (zone.starts_with('.') || zone.starts_with(',')) {
    zone.remove_prefix(1);
    zone.remove_prefix(std::min(zone.find_first_not_of("0123456789"), zone.size()));
  }
  if (zone.empty()) {
    const std::chrono::year_month_day parts(*day);
    return local_time(static_cast<int>(parts.year()), static_cast<int>(static_cast<unsigned>(parts.month())),
                      static_cast<int>(static_cast<unsigned>(parts.day())), clock->hour, clock->minute, clock->second);
  }
  const std::optional<std::chrono::seconds> offset = offset_of(zone);
  if (!offset) return std::nullopt;
  return *day + std::chrono::hours(clock->hour) + std::chrono::minutes(clock->minute) +
         std::chrono::seconds(clock->second) - *offset;
}

std::tm local_parts(LogTime time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts = {};
  localtime_r(&seconds, &parts);
  return parts;
}

using Days = std::chrono::sys_days;

std::optional<unsigned> take_number(std::string_view& text) noexcept {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

void skip(std::string_view& text, std::string_view what) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
}

// Removes `Nov` from the front of the text; 0 if there is no month.
unsigned take_month(std::string_view& text) noexcept {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::size_t kBytes = 3;
  const std::string_view name = text.substr(0, kBytes);
  for (std::size_t at = 0; at < kMonths.size(); at += kBytes) {
    if (!ascii::equal_ignoring_case(name, kMonths.substr(at, kBytes))) continue;
    text.remove_prefix(kBytes);
    return static_cast<unsigned>(at / kBytes) + 1;
  }
  return 0;
}

std::optional<Days> valid_day(std::optional<unsigned> year, unsigned month, std::optional<unsigned> day) noexcept {
  constexpr unsigned kLastYear = 9999;
  if (!year || !day || *year > kLastYear || month > 12 || *day > 31) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(month),
                                         std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return Days(date);
}

}  // namespace

std::optional<LogTime> local_time(int year, int month, int day, int hour, int minute, int second) {
  std::tm parts = {};
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  parts.tm_isdst = -1;
  const std::time_t time = std::mktime(&parts);
  // mktime turns a day that does not exist, such as 31 February, into another one.
  if (parts.tm_mon != month - 1 && second != 60) return std::nullopt;
  return LogTime(std::chrono::seconds(time));
}

std::optional<LogTime> LogTimes::read(std::string_view date) {
  if (date.empty()) return std::nullopt;
  return ascii::is_digit(date.front()) ? read_long(date) : read_short(date);
}

// mktime is slow, and consecutive lines are mostly of the same hour.
std::optional<LogTime> LogTimes::read_short(std::string_view date) {
  constexpr std::string_view kForm = "Nov 20 10:00:00";
  constexpr std::size_t kHourBytes = 9;
  if (date.size() != kForm.size()) return std::nullopt;
  const std::optional<Clock> clock = clock_of(date.substr(7));
  if (!clock) return std::nullopt;
  if (date.substr(0, kHourBytes) != hour_) {
    const int month = month_of(date.substr(0, 3));
    const std::optional<int> day = date[4] == ' ' ? digits(date, 5, 1) : digits(date, 4, 2);
    if (!day) return std::nullopt;
    const int year = local_parts(now_).tm_year + 1900;
    hour_ = date.substr(0, kHourBytes);
    begins_.reset();
    // 29 February is a day of the last leap year.
    for (int back = 0; !begins_ && back <= kMostYearsBetweenLeapYears; ++back) {
      begins_ = local_time(year - back, month, *day, clock->hour, 0, 0);
      if (begins_ && *begins_ > now_ + kADay) begins_.reset();
    }
  }
  if (!begins_) return std::nullopt;
  return *begins_ + std::chrono::minutes(clock->minute) + std::chrono::seconds(clock->second);
}

std::string format_local(LogTime time) {
  return format_local_day(time) + ' ' + format_local_clock(time);
}

std::string format_local_clock(LogTime time) {
  const std::tm parts = local_parts(time);
  return fmt::format("{:02}:{:02}", parts.tm_hour, parts.tm_min);
}

std::string format_local_day(LogTime time) {
  const std::tm parts = local_parts(time);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::optional<Days> day_of_log_date(std::string_view date, Days latest) noexcept {
  if (!date.empty() && ascii::is_digit(date.front())) {
    const std::optional<unsigned> year = take_number(date);
    skip(date, "-");
    const std::optional<unsigned> month = take_number(date);
    skip(date, "-");
    return valid_day(year, month.value_or(0), take_number(date));
  }
  const unsigned month = take_month(date);
  skip(date, " ");
  const std::optional<unsigned> day = take_number(date);
  const int last = static_cast<int>(std::chrono::year_month_day(latest).year());
  for (int year = last; year >= last - kMostYearsBetweenLeapYears; --year) {
    const std::optional<Days> found = valid_day(static_cast<unsigned>(year), month, day);
    if (found && *found <= latest) return found;
  }
  return std::nullopt;
}

std::optional<Days> day_of_mail_date(std::string_view value) noexcept {
  constexpr std::string_view kBlanks = " \t";
  if (const std::size_t comma = value.find(','); comma != std::string_view::npos) value.remove_prefix(comma + 1);
  skip(value, kBlanks);
  const std::optional<unsigned> day = take_number(value);
  skip(value, kBlanks);
  const unsigned month = take_month(value);
  skip(value, kBlanks);
  const std::string_view before = value;
  const std::optional<unsigned> year = take_number(value);
  constexpr std::size_t kYearDigits = 4;
  if (before.size() - value.size() != kYearDigits) return std::nullopt;  // RFC 822 had two
  return valid_day(year, month, day);
}

}  // namespace bloomgate
