#include "milter/brake/replays.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("copies of a message are counted for an hour and a half since the first") {
  Replays replays;
  for (std::uint32_t copy = 1; copy <= 5; ++copy) CHECK(replays.count(7, 1000) == copy);
  CHECK(replays.count(8, 1000) == 1);
  CHECK(replays.count(7, 1002) == 6);
  CHECK(replays.count(7, 1003) == 1);
  CHECK(replays.count(7, 1003) == 2);
}

TEST_CASE("without room, a new message replaces one whose hour is over, or else the one with the fewest copies") {
  Replays replays;
  constexpr KeyHash kSameGroup = KeyHash{1} << 32;
  const auto count = [&](KeyHash i, HalfHours now) { return replays.count(1 + i * kSameGroup, now); };
  for (KeyHash i = 0; i < 4; ++i) CHECK(count(i, 1000) == 1);
  for (const KeyHash i : {0U, 1U, 3U}) CHECK(count(i, 1000) == 2);
  CHECK(count(4, 1001) == 1);
  for (const KeyHash i : {0U, 1U, 3U}) CHECK(count(i, 1001) == 3);
  CHECK(count(4, 1003) == 2);
  CHECK(count(5, 1003) == 1);
  CHECK(count(4, 1002) == 3);
}

}  // namespace
}  // namespace bloomgate
