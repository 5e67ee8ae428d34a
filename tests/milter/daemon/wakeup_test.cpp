#include "milter/daemon/wakeup.hpp"

#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("posted events are returned together, and only once") {
  Wakeup wakeup;
  wakeup.post(Wakeup::kReload);
  wakeup.post(Wakeup::kReload);
  wakeup.post(Wakeup::kDamage);
  CHECK(wakeup.wait() == (Wakeup::kReload | Wakeup::kDamage));
  wakeup.post(Wakeup::kStop);
  CHECK(wakeup.wait() == Wakeup::kStop);
}

TEST_CASE("a waiting thread is woken by another thread") {
  Wakeup wakeup;
  for (int i = 0; i < 100; ++i) {
    const std::jthread other([&] { wakeup.post(Wakeup::kStop); });
    CHECK(wakeup.wait() == Wakeup::kStop);
  }
}

TEST_CASE("a wait ends without an event at its time-out, or if its descriptor is readable") {
  using namespace std::chrono_literals;
  Wakeup wakeup;
  CHECK(wakeup.wait(-1, 0ms) == 0);
  CHECK(wakeup.wait(-1, 5ms) == 0);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], "x", 1) == 1);
  CHECK(wakeup.wait(ends[0]) == 0);
  wakeup.post(Wakeup::kDamage);
  CHECK(wakeup.wait(ends[0], 0ms) == Wakeup::kDamage);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("SIGUSR1 asks for a reload, and SIGTERM, SIGINT and SIGHUP for a stop") {
  // For the process's life, as route_signals() wants it.
  static Wakeup wakeup;
  route_signals(wakeup);
  for (const auto& [signal, event] : {std::pair{SIGUSR1, Wakeup::kReload},
                                      {SIGTERM, Wakeup::kStop},
                                      {SIGINT, Wakeup::kStop},
                                      {SIGHUP, Wakeup::kStop}}) {
    INFO(signal);
    hold_signals();
    std::raise(signal);
    wakeup.post(Wakeup::kMilterEnded);
    CHECK(wakeup.wait() == Wakeup::kMilterEnded);  // held back
    release_signals();
    CHECK(wakeup.wait() == event);
  }
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
}

}  // namespace
}  // namespace bloomgate
