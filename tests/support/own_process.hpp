// Runs a deed in a process of its own, which this test's own handlers and flag do not concern.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace bloomgate::test {

// Its exit status, of what the deed returns.
template <typename Deed>
int status_of(Deed deed) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(deed());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace bloomgate::test
