#include "filter/base/number_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bloomgate {
namespace {

std::tm utc_parts(std::time_t time) noexcept {
  std::tm parts = {};
  gmtime_r(&time, &parts);
  return parts;
}

constexpr double kRare = 1e-5;  // below this, percent have too many zeros to be read

// Of a probability below kRare: "1 in 910,000", with two significant digits.
std::string rare_rate(double probability) {
  constexpr double kLeast = 1e-12;
  if (probability < kLeast) return "below 1 in 10^12";
  const double scale = std::pow(10, std::floor(-std::log10(probability)) - 1);
  return "1 in " + format_count(std::round(1 / probability / scale) * scale);
}

}  // namespace

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string format_count(double count) {
  if (!std::isfinite(count) || count >= std::ldexp(1, 63)) return "unknown";
  return format_count(static_cast<std::uint64_t>(std::llround(count)));
}

std::string format_counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return format_count(count).append(" ").append(word_for(count, one, several));
}

std::string format_short_bytes(std::uint64_t bytes, std::string_view space) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{}{}bytes", bytes, space);
  std::size_t unit = 0;
  double scaled = static_cast<double>(bytes) / 1024;
  for (; scaled >= 1024; ++unit) scaled /= 1024;  // the largest number has 16 EiB
  return fmt::format("{:.2f}{}{}", scaled, space, kUnits[unit]);
}

std::string format_bytes(std::uint64_t bytes) {
  const std::string text = format_short_bytes(bytes);
  return bytes < 1024 ? text : text + " (" + format_count(bytes) + " bytes)";
}

std::string format_rate(double probability) {
  const double percent = probability * 100;
  if (percent == 0) return "0 %";
  if (probability < kRare) return rare_rate(probability);
  // fmt 9 and 10 differ in what they write of `{:#.3g}` where all digits are before the point.
  if (percent >= 99.95) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:#.3g} %", percent);
}

std::string format_percent(double share, std::string_view space) {
  if (share > 0 && share < kRare) return rare_rate(share);
  return fmt::format("{:.3g}{}%", 100 * share, space);
}

std::string format_share(std::uint64_t part, std::uint64_t whole, std::string_view space) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}{}%", 100 * static_cast<double>(part) / static_cast<double>(whole), space);
}

std::string format_ratio(double value) {
  return value < 9999.5 ? fmt::format("{:.4g}", value) : format_count(value);
}

std::string format_decimal(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_duration(double seconds) {
  if (seconds < 0.00099995) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 0.99995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 2 * 86'400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} days {} h", whole / 86'400, whole % 86'400 / 3600);
}

std::string format_age(std::chrono::seconds passed) {
  const std::int64_t seconds = std::max<std::int64_t>(0, passed.count());
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86'400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / 86'400);
}

std::string format_clock(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  const std::uint64_t hours = whole / 3600;
  return hours == 0 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                    : fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60);
}

std::string format_time(std::time_t time) {
  const std::tm parts = utc_parts(time);
  return fmt::format("{:04}-{:02}-{:02} {} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     format_time_of_day(time));
}

std::string format_time_of_day(std::time_t time) {
  const std::tm parts = utc_parts(time);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string format_seed(std::uint64_t seed) {
  return fmt::format("{:#018x}", seed);
}

}  // namespace bloomgate
