#include "milter/deep_check/server_order.hpp"

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Order = std::vector<std::size_t>;
using std::chrono::seconds;

const ServerOrder::Time kStart = ServerOrder::Time(seconds(1000));

TEST_CASE("servers are tried in their order, and one that failed is tried last until it has rested") {
  ServerOrder order(3);
  CHECK(order.next(kStart) == Order{0, 1, 2});
  order.failed(0, kStart);
  CHECK(order.next(kStart) == Order{1, 2, 0});
  CHECK(order.next(kStart + ServerOrder::kRest - seconds(1)) == Order{1, 2, 0});
  CHECK(order.next(kStart + ServerOrder::kRest) == Order{0, 1, 2});
}

TEST_CASE("when a server has rested, one message tries it, and the others wait for the result") {
  ServerOrder order(2);
  order.failed(0, kStart);
  const ServerOrder::Time rested = kStart + ServerOrder::kRest;
  CHECK(order.next(rested) == Order{0, 1});
  CHECK(order.next(rested) == Order{1, 0});
  SECTION("it answers") {
    order.answered(0);
    CHECK(order.next(rested) == Order{0, 1});
    CHECK(order.next(rested) == Order{0, 1});
  }
  SECTION("it fails again") {
    order.failed(0, rested + seconds(5));
    CHECK(order.next(rested + ServerOrder::kRest) == Order{1, 0});
    CHECK(order.next(rested + seconds(5) + ServerOrder::kRest) == Order{0, 1});
  }
}

TEST_CASE("if all servers have failed, the one that failed first is tried first") {
  ServerOrder order(3);
  order.failed(1, kStart);
  order.failed(0, kStart + seconds(1));
  order.failed(2, kStart + seconds(2));
  CHECK(order.next(kStart + seconds(3)) == Order{1, 0, 2});
  order.answered(2);
  CHECK(order.next(kStart + seconds(3)).front() == 2);
}

TEST_CASE("the only server is always tried") {
  ServerOrder order(1);
  order.failed(0, kStart);
  CHECK(order.next(kStart) == Order{0});
  CHECK(order.next(kStart) == Order{0});
}

TEST_CASE("every message gets each server once while others report answers and failures") {
  ServerOrder order(4);
  std::atomic<int> wrong = 0;
  test::at_once(4, [&](int thread) {
    const auto server = static_cast<std::size_t>(thread);
    for (int round = 0; round < 500; ++round) {
      const ServerOrder::Time now = kStart + seconds(round);
      Order got = order.next(now);
      std::ranges::sort(got);
      wrong += got == Order{0, 1, 2, 3} ? 0 : 1;
      round % 2 == 0 ? order.failed(server, now) : order.answered(server);
    }
  });
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace bloomgate
