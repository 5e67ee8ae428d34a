// Lists whose names begin with the day on which they were made: `2026-11-20.txt.zst`. `bloomgate harvest` writes them,
// and `bloomgate build --newest` reads the recent ones, so that an entry lives as long as a recent list has it. Pure
// functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

using Day = std::chrono::sys_days;

// "2026-11-20", if there is such a day.
std::optional<Day> parse_day(std::string_view text) noexcept;
std::string format_day(Day day);
Day today();  // in UTC

// "180d", "26w", "1y" (of 365 days): days, at least 1 and at most 100 years. Throws UsageError that names `option`.
std::chrono::days parse_age(const std::string& text, const std::string& option);

// The day with which the file's name starts. Nothing if it does not start with a day.
std::optional<Day> day_of_list(std::string_view path) noexcept;

// The lists of less than `age` before `now`, and those without a day in their name, which operators keep by hand. The
// order stays. Throws BloomgateError{bad_input} if none is left, since an empty list is rarely intended.
std::vector<std::string> newest_lists(std::vector<std::string> files, std::chrono::days age, Day now);

}  // namespace bloomgate
