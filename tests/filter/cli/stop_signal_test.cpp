#include "filter/cli/stop_signal.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace bloomgate::cli {
namespace {

// In a process of its own, which this test's own handlers and flag do not concern. Its exit status.
template <typename Deed>
int status_of(Deed deed) {
  const pid_t child = fork();
  if (child == 0) _exit(deed());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("a first signal sets the flag, and a second one ends the program") {
  const int status = status_of([] {
    const std::atomic<bool>& stop = stop_flag();
    raise(SIGTERM);
    if (!stop || stop_signal() != SIGTERM || !stop_flag()) return 1;
    raise(SIGTERM);
    return 2;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

}  // namespace
}  // namespace bloomgate::cli
