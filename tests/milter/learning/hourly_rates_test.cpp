#include "milter/learning/hourly_rates.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Answer = HourlyRates::Answer;

TEST_CASE("a login has a limit for each hour, and reaching it is reported once") {
  HourlyRates rates(1);
  const HourlyRates::Clock::time_point start{1000h};
  for (int i = 0; i < 3; ++i) CHECK(rates.take("ann", 3, start + i * 1s) == Answer::granted);
  CHECK(rates.take("ann", 3, start + 3s) == Answer::first_over);
  CHECK(rates.take("ann", 3, start + 59min) == Answer::over);
  CHECK(rates.take("bob", 3, start + 59min) == Answer::granted);
  CHECK(rates.take("ann", 3, start + 60min - 1ns) == Answer::over);
  CHECK(rates.take("ann", 3, start + 60min) == Answer::granted);
  for (int i = 0; i < 2; ++i) CHECK(rates.take("ann", 3, start + 61min) == Answer::granted);
  CHECK(rates.take("ann", 3, start + 61min) == Answer::first_over);
}

TEST_CASE("beyond the limit of logins, nothing is learned for new ones until others' hours are over") {
  HourlyRates rates(1);
  const HourlyRates::Clock::time_point start{1000h};
  for (std::size_t i = 0; i < HourlyRates::kMostNames; ++i) {
    REQUIRE(rates.take("login" + std::to_string(i), 1, start) == Answer::granted);
  }
  CHECK(rates.take("another", 1, start + 1min) == Answer::over);
  CHECK(rates.take("login0", 2, start + 1min) == Answer::granted);
  CHECK(rates.take("another", 1, start + 60min) == Answer::granted);
}

}  // namespace
}  // namespace bloomgate
