#include "milter/deep_check/free_places.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

TEST_CASE("all slots are given out, and none twice") {
  FreePlaces places(2);
  const FreePlaces::Place one = places.take(Clock::now());
  CHECK(one);
  {
    const FreePlaces::Place two = places.take(Clock::now());
    CHECK(two);
    CHECK_FALSE(places.take(Clock::now() + milliseconds(20)));
  }
  CHECK(places.take(Clock::now()));
  CHECK(places.take(Clock::now()));
}

TEST_CASE("slots that are returned while no thread waits are free again") {
  FreePlaces places(3);
  for (int round = 0; round < 2; ++round) {
    const FreePlaces::Place one = places.take(Clock::now());
    const FreePlaces::Place two = places.take(Clock::now());
    const FreePlaces::Place three = places.take(Clock::now());
    CHECK((one && two && three));
    CHECK_FALSE(places.take(Clock::now()));
  }
}

TEST_CASE("a waiting thread gets a slot when one is returned") {
  FreePlaces places(1);
  auto held = std::make_unique<FreePlaces::Place>(places.take(Clock::now()));
  std::atomic<bool> got = false;
  std::thread waiting([&] { got = static_cast<bool>(places.take(Clock::now() + seconds(60))); });
  held.reset();
  waiting.join();
  CHECK(got);
}

TEST_CASE("never more threads work than there are slots") {
  FreePlaces places(3);
  std::atomic<int> working = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  test::at_once(8, [&](int) {
    for (int round = 0; round < 200; ++round) {
      const FreePlaces::Place place = places.take(Clock::now() + seconds(60));
      if (!place) continue;
      const int now = ++working;
      for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
      }
      std::this_thread::yield();
      --working;
      ++done;
    }
  });
  CHECK(done == 1600);
  CHECK(most <= 3);
}

}  // namespace
}  // namespace bloomgate
