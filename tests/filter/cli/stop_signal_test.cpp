#include "filter/cli/stop_signal.hpp"

#include <signal.h>

#include "tests/support/catch.hpp"
#include "tests/support/own_process.hpp"

namespace bloomgate::cli {
namespace {

TEST_CASE("a first signal sets the flag, and a second one ends the program") {
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const int status = test::status_of([number] {
    const std::atomic<bool>& stop = stop_flag();
    if (stop || stop_signal() != 0) return 3;
    raise(number);
    if (!stop || stop_signal() != number || !stop_flag()) return 1;
    raise(number);
    return 2;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == number);
}

TEST_CASE("a lost terminal stops nothing that was started to outlive it") {
  CHECK(test::status_of([] {
          signal(SIGHUP, SIG_IGN);
          const std::atomic<bool>& stop = stop_flag();
          raise(SIGHUP);
          return stop ? 1 : 0;
        }) == 0);
}

}  // namespace
}  // namespace bloomgate::cli
