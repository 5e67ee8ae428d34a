#include "filter/log/written_day.hpp"

#include <algorithm>
#include <charconv>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

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

// `Nov`; 0: there is none.
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
  constexpr int kBetweenLeapYears = 8;  // from 1896 to 1904, say
  const int last = static_cast<int>(std::chrono::year_month_day(latest).year());
  for (int year = last; year > std::max(last - kBetweenLeapYears - 1, 0); --year) {
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
