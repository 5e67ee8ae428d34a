#include "filter/ingest/dated_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kDayBytes = 10;  // 2026-11-20

std::optional<unsigned> parse_digits(std::string_view text) noexcept {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (stopped != end || error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Day> parse_day(std::string_view text) noexcept {
  if (text.size() != kDayBytes || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::optional<unsigned> year = parse_digits(text.substr(0, 4));
  const std::optional<unsigned> month = parse_digits(text.substr(5, 2));
  const std::optional<unsigned> day = parse_digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return Day(date);
}

std::string format_day(Day day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

Day today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::chrono::days parse_age(const std::string& text, const std::string& option) {
  constexpr unsigned kMostDays = 36'500;
  const std::optional<unsigned> count = parse_digits(std::string_view(text).substr(0, text.size() - !text.empty()));
  const char unit = text.empty() ? ' ' : text.back();
  const unsigned days = unit == 'd' ? 1 : unit == 'w' ? 7 : unit == 'y' ? 365 : 0;
  if (!count || days == 0 || *count == 0 || *count > kMostDays / days) {
    throw UsageError(option + " takes a time such as 180d, 26w or 1y, not '" + text + "'");
  }
  return std::chrono::days(*count * days);
}

std::optional<Day> day_of_list(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.size() > kDayBytes && ascii::is_letter_or_digit(name[kDayBytes])) return std::nullopt;
  return parse_day(name.substr(0, kDayBytes));
}

std::vector<std::string> newest_lists(std::vector<std::string> files, std::chrono::days age, Day now) {
  std::optional<Day> newest;
  std::erase_if(files, [&](const std::string& file) {
    const std::optional<Day> day = day_of_list(file);
    if (day) newest = std::max(newest.value_or(*day), *day);
    return day && *day <= now - age;
  });
  if (files.empty()) {
    throw BloomgateError(ErrorCode::bad_input,
                         "no list is newer than " + format_day(now - age) +
                             (newest ? ": the newest is of " + format_day(*newest) + ", and today is " +
                                           format_day(now) + " by this machine's clock"
                                     : "") +
                             "; run 'bloomgate harvest', or give --newest a longer time");
  }
  return files;
}

}  // namespace bloomgate
