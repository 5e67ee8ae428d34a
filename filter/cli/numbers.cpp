#include "filter/cli/numbers.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "filter/base/usage_error.hpp"

namespace bloomgate::cli {
namespace {

// Takes the number off the start of `text`.
std::optional<double> take_double(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

[[noreturn]] void refuse(const std::string& option, const std::string& expected, const std::string& got) {
  throw UsageError(option + " takes " + expected + ", not '" + got + "'");
}

}  // namespace

std::uint64_t parse_count(const std::string& text, const std::string& option) {
  constexpr auto kExpected = "a whole number such as 1000000 or 1e9";
  std::uint64_t count = 0;
  const char* const text_end = text.data() + text.size();
  // Plain digits are read as an integer, exact to the last one; the rest (1e9) as a floating-point number.
  if (const auto [end, error] = std::from_chars(text.data(), text_end, count);
      end == text_end && error == std::errc{}) {
    if (count > std::uint64_t{1} << 63) refuse(option, kExpected, text);
    return count;
  }
  std::string_view rest = text;
  const std::optional<double> value = take_double(rest);
  if (!value || !rest.empty() || *value < 0 || *value > std::ldexp(1, 63) || *value != std::floor(*value)) {
    refuse(option, kExpected, text);
  }
  return static_cast<std::uint64_t>(*value);
}

std::uint64_t parse_seed(const std::string& text, const std::string& option) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const char* const begin = text.data() + (hexadecimal ? 2 : 0);
  const char* const text_end = text.data() + text.size();
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(begin, text_end, seed, hexadecimal ? 16 : 10);
  if (begin == text_end || end != text_end || error != std::errc{}) {
    refuse(option, "a number below 2^64 such as 42 or 0x2a", text);
  }
  return seed;
}

std::uint64_t parse_bytes(const std::string& text, const std::string& option) {
  constexpr auto kExpected = "a number of bytes such as 1000000, 64M or 1.5G";
  std::string_view rest = text;
  const std::optional<double> value = take_double(rest);
  if (!value) refuse(option, kExpected, text);
  int power = 0;
  constexpr std::string_view kUnits = "KMGTPE";
  if (!rest.empty() && rest != "B") {
    const std::size_t unit = kUnits.find(rest.front());
    const std::string_view tail = rest.substr(1);
    if (unit == std::string_view::npos || !(tail.empty() || tail == "B" || tail == "iB"))
      refuse(option, kExpected, text);
    power = 10 * (static_cast<int>(unit) + 1);
  }
  const double bytes = std::floor(std::ldexp(*value, power));
  if (bytes < 1 || bytes > std::ldexp(1, 63)) refuse(option, kExpected, text);
  return static_cast<std::uint64_t>(bytes);
}

double parse_rate(const std::string& text, const std::string& option) {
  std::string_view rest = text;
  std::optional<double> value = take_double(rest);
  if (value && (rest == "%" || rest == " %")) {
    *value /= 100;
    rest = {};
  }
  if (!value || !rest.empty() || !(*value > 0 && *value < 1)) {
    refuse(option, "a probability such as 0.01 or 1%", text);
  }
  return *value;
}

}  // namespace bloomgate::cli
