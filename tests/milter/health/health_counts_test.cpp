#include "milter/health/health_counts.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("counts are those of the last hour, day and week, or of all the time that a young daemon has run") {
  RecentCounts recent;
  HealthCounts now;
  const auto run = [&](int minutes, std::uint64_t messages_each) {
    for (int i = 0; i < minutes; ++i) {
      now.messages += messages_each;
      now.signatures[0] += 1;
      recent.close_minute(now);
    }
  };
  run(59, 1);
  CHECK(recent.last_hour(now).messages == 59);
  CHECK_FALSE(recent.knows_a_week());
  run(61, 2);
  CHECK(recent.last_hour(now).messages == 120);
  CHECK(recent.last_hour(now).signatures[0] == 60);
  CHECK(recent.last_day(now).messages == now.messages);
  run(24 * 60, 3);
  CHECK(recent.last_hour(now).messages == 180);
  CHECK(recent.last_day(now).messages == 3 * 24 * 60);
  CHECK(recent.last_week(now).messages == now.messages);
  run(7 * 24 * 60, 0);
  CHECK(recent.knows_a_week());
  CHECK(recent.last_day(now).messages == 0);
  CHECK(recent.last_week(now).messages <= 3 * 24 * 60);
  now.messages += 5;  // of the minute that is not over
  CHECK(recent.last_hour(now).messages == 5);
}

}  // namespace
}  // namespace bloomgate::test
