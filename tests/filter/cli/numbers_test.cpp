#include "filter/cli/numbers.hpp"

#include <limits>
#include <string>

#include "filter/base/usage_error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 63;

template <typename Number>
struct Reading {
  std::string text;
  Number want;
};

// Every text that is refused is in the message, after the option.
template <typename Parse>
void check_refused(Parse parse, std::initializer_list<const char*> texts) {
  for (const std::string text : texts) {
    CAPTURE(text);
    const auto error = test::error_of<UsageError>([&] { parse(text, "--option"); });
    CHECK_THAT(error.what(), Catch::StartsWith("--option takes "));
    CHECK_THAT(error.what(), Catch::EndsWith(", not '" + text + "'"));
  }
}

TEST_CASE("a count is a whole number of digits, or one with an exponent") {
  for (const auto& [text, want] : {Reading<std::uint64_t>{"0", 0},
                                   {"0e5", 0},
                                   {"18", 18},
                                   {"9007199254740993", 9'007'199'254'740'993},
                                   {"1e9", 1'000'000'000},
                                   {"2.5e1", 25},
                                   {"9223372036854775808", kMostNumber},
                                   {"9.223372036854775808e18", kMostNumber}}) {
    CAPTURE(text);
    CHECK(parse_count(text, "--option") == want);
  }
  check_refused(parse_count,
                {"", "-1", "1.5", "8G", "1e9x", "9223372036854775809", "1e19", "1e999", "inf", "nan", " 1"});
}

TEST_CASE("a seed is any number of 64 bits, decimal or hexadecimal") {
  for (const auto& [text, want] : {Reading<std::uint64_t>{"0", 0},
                                   {"42", 42},
                                   {"0x2a", 42},
                                   {"0X2A", 42},
                                   {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()}}) {
    CAPTURE(text);
    CHECK(parse_seed(text, "--option") == want);
  }
  check_refused(parse_seed, {"", "0x", "2a", "0x2g", "-1", "1.0", "18446744073709551616"});
}

TEST_CASE("a number of bytes has a unit or none, and is at least one byte") {
  for (const auto& [text, want] : {Reading<std::uint64_t>{"1", 1},
                                   {"1.9", 1},
                                   {"7B", 7},
                                   {"3K", 3 << 10},
                                   {"3KB", 3 << 10},
                                   {"3KiB", 3 << 10},
                                   {"64M", 64 << 20},
                                   {"1.5G", std::uint64_t{3} << 29},
                                   {"2T", std::uint64_t{2} << 40},
                                   {"2P", std::uint64_t{2} << 50},
                                   {"8E", kMostNumber}}) {
    CAPTURE(text);
    CHECK(parse_bytes(text, "--option") == want);
  }
  check_refused(parse_bytes, {"", "M", "0", "0.9", "-1M", "1X", "1k", "1Mb", "1MiBx", "1BB", "9E", "inf", "nan"});
}

TEST_CASE("a rate is between 0 and 1, or a percentage") {
  for (const auto& [text, want] : {Reading<double>{"0.25", 0.25}, {"25%", 0.25}, {"25 %", 0.25}, {"99.5%", 0.995}}) {
    CAPTURE(text);
    CHECK(parse_rate(text, "--option") == Approx(want));
  }
  check_refused(parse_rate, {"", "%", "0", "1", "100%", "-0.1", "0.5x", "25%%", "nan"});
}

}  // namespace
}  // namespace bloomgate::cli
