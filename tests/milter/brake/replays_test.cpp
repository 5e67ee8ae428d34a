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

TEST_CASE("where there is no room, the oldest message is forgotten") {
  Replays replays;
  constexpr KeyHash kSameGroup = KeyHash{1} << 32;
  for (KeyHash i = 0; i < 4; ++i) CHECK(replays.count(1 + i * kSameGroup, static_cast<HalfHours>(1000 + i % 2)) == 1);
  CHECK(replays.count(1 + 4 * kSameGroup, 1002) == 1);
  CHECK(replays.count(1 + 1 * kSameGroup, 1002) == 2);
  CHECK(replays.count(1 + 3 * kSameGroup, 1002) == 2);
  CHECK(replays.count(1 + 4 * kSameGroup, 1002) == 2);
}

}  // namespace
}  // namespace bloomgate
