#include "milter/doctor/run_program.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kShort{200};

TEST_CASE("a program's output and exit status are returned") {
  const ProgramResult result = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(result.started);
  CHECK_FALSE(result.timed_out);
  CHECK(result.status == 3);
  CHECK(result.output == "out\n");
  CHECK_FALSE(run_program({"/nonexistent/program"}).started);
}

TEST_CASE("the first part of a very long output is kept, and the call waits for the program to end") {
  const ProgramResult result = run_program({"sh", "-c", "head -c 5000000 /dev/zero; exit 4"});
  CHECK(result.status == 4);
  CHECK(result.output.size() >= std::size_t{1} << 20);
  CHECK(result.output.size() < (std::size_t{1} << 20) + 4096);
}

TEST_CASE("a program that does not end in time is killed with its children, and its output is dropped") {
  const char* const scripts[] = {
      "echo out; exec sleep 1000",            // says something, and goes on
      "exec >/dev/null; exec sleep 1000",     // has closed its output
      "sleep 1000 & echo out",                // has ended, and what it has started holds its output
      "trap '' TERM; while :; do :; done",    // does not listen to signals
      "while :; do echo more; done; exit 0",  // never stops talking
  };
  for (const char* const script : scripts) {
    INFO(script);
    const steady_clock::time_point start = steady_clock::now();
    const ProgramResult result = run_program({"sh", "-c", script}, kShort);
    CHECK(steady_clock::now() - start >= kShort);
    CHECK(result.started);
    CHECK(result.timed_out);
    CHECK(result.output.empty());
  }
}

}  // namespace
}  // namespace bloomgate
