#include "filter/base/number_text.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace bloomgate {

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string format_count(double count) {
  if (!std::isfinite(count) || count > std::ldexp(1, 63)) return "unknown";
  return format_count(static_cast<std::uint64_t>(std::llround(count)));
}

std::string format_short_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  std::size_t unit = 0;
  double scaled = static_cast<double>(bytes) / 1024;
  for (; scaled >= 1024 && unit + 1 < kUnits.size(); ++unit) scaled /= 1024;
  return fmt::format("{:.2f} {}", scaled, kUnits[unit]);
}

std::string format_bytes(std::uint64_t bytes) {
  const std::string text = format_short_bytes(bytes);
  return bytes < 1024 ? text : text + " (" + format_count(bytes) + " bytes)";
}

std::string format_rate(double probability) {
  const double percent = probability * 100;
  if (percent == 0) return "0 %";
  if (percent < 0.001) return fmt::format("{:.2e} %", percent);
  // fmt 9 and 10 differ in what they write of `{:#.3g}` where all digits are before the point.
  if (percent >= 99.95) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:#.3g} %", percent);
}

std::string format_decimal(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_time(std::time_t time) {
  std::tm parts = {};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string format_seed(std::uint64_t seed) {
  return fmt::format("{:#018x}", seed);
}

}  // namespace bloomgate
