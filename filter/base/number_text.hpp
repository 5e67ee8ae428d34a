// Numbers as people read them. Pure functions. On an HTML page kNarrowSpace stands for the space, so that a number and
// its unit stay on one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace bloomgate {

inline constexpr std::string_view kNarrowSpace = "\u202f";

// The word after a number: "entry" or "entries".
constexpr std::string_view word_for(std::uint64_t count, std::string_view one, std::string_view several) noexcept {
  return count == 1 ? one : several;
}
std::string format_count(std::uint64_t count);  // "1,234,567"
std::string format_count(double count);         // rounded; "unknown" for infinity
// "1 entry", "1,234 entries".
std::string format_counted(std::uint64_t count, std::string_view one, std::string_view several);
std::string format_bytes(std::uint64_t bytes);                                      // "1.00 GiB (1,073,741,824 bytes)"
std::string format_short_bytes(std::uint64_t bytes, std::string_view space = " ");  // "1.00 GiB"
// "2.16 %", with three significant digits; a rare one as "1 in 910,000", or "below 1 in 10^12".
std::string format_rate(double probability);
// The same without zeros at its end: "5 %".
std::string format_percent(double share, std::string_view space = " ");
// "12.5 %"; a dash if `whole` is 0.
std::string format_share(std::uint64_t part, std::uint64_t whole, std::string_view space = " ");
std::string format_decimal(double value, int decimals);
std::string format_ratio(double value);               // "8", "9.554", "32,768": four significant digits, or the whole
std::string format_duration(double seconds);          // "12.3 us", "4.0 s", "2 days 7 h"
std::string format_age(std::chrono::seconds passed);  // "90 s", "5 min", "3 days"; "0 s" for a negative one
std::string format_clock(double seconds);             // "0:07", "1:02:03"
std::string format_time(std::time_t time);            // "2026-11-21 10:15:00 UTC"
std::string format_time_of_day(std::time_t time);     // "10:15:00", in UTC
std::string format_seed(std::uint64_t seed);          // "0x00000000075bcd15"

}  // namespace bloomgate
