#include "milter/fields/mail_date.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

using std::chrono::minutes;

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};

// A number with `least` to `most` digits; -1 if there is none.
int number(StructuredReader& reader, std::size_t least, std::size_t most) {
  reader.skip_cfws();
  const std::string_view digits = reader.take_while(ascii::is_digit);
  reader.skip_cfws();
  if (digits.size() < least || digits.size() > most) return -1;
  int value = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string word(StructuredReader& reader) {
  reader.skip_cfws();
  std::string text = ascii::lower_case(reader.take_while(ascii::is_letter));
  reader.skip_cfws();
  return text;
}

// Years of two or three digits are an obsolete form (RFC 5322 section 4.3).
int whole_year(int year) {
  if (year < 0 || year >= 1000) return year;
  return year < 50 ? year + 2000 : year + 1900;
}

// `+0100`, or the name of a zone: one of North America, or else UTC.
std::optional<minutes> zone(StructuredReader& reader) {
  const bool is_west = reader.peek() == '-';
  if (reader.take('+') || reader.take('-')) {
    const int value = number(reader, 4, 4);
    if (value < 0 || value % 100 > 59) return std::nullopt;
    const minutes offset(value / 100 * 60 + value % 100);
    return is_west ? -offset : offset;
  }
  const std::string name = word(reader);
  if (name.empty()) return std::nullopt;
  constexpr std::string_view kNames[] = {"edt", "est", "cdt", "cst", "mdt", "mst", "pdt", "pst"};
  const auto* const found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return minutes(0);
  constexpr int kHours[] = {-4, -5, -5, -6, -6, -7, -7, -8};
  return minutes(60 * kHours[found - std::begin(kNames)]);
}

struct TimeOfDay {
  int hour = -1, minute = -1, second = 0;

  bool is_valid() const noexcept {
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  }
};

TimeOfDay time_of_day(StructuredReader& reader) {
  TimeOfDay time;
  time.hour = number(reader, 1, 2);
  if (!reader.take(':')) return {};
  time.minute = number(reader, 1, 2);
  if (reader.take(':')) time.second = number(reader, 1, 2);
  return time;
}

}  // namespace

std::optional<std::chrono::sys_seconds> read_mail_date(std::string_view value) {
  const std::optional<std::string> line = unfold(value);
  if (!line) return std::nullopt;
  StructuredReader reader(*line);
  if (!word(reader).empty()) reader.take(',');
  const int day = number(reader, 1, 2);
  const std::string month_name = word(reader);
  const auto* const month = std::ranges::find(kMonths, month_name);
  const int year = whole_year(number(reader, 2, 4));
  const TimeOfDay time = time_of_day(reader);
  const std::optional<minutes> offset = zone(reader);
  reader.skip_cfws();
  if (reader.failed() || !reader.at_end() || !offset || !time.is_valid() || month == std::end(kMonths)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month - std::begin(kMonths) + 1)),
                                         std::chrono::day(static_cast<unsigned>(std::max(day, 0))));
  if (year < 0 || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(time.hour) + minutes(time.minute) +
         std::chrono::seconds(time.second) - *offset;
}

}  // namespace bloomgate
