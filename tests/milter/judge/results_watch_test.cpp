#include "milter/judge/results_watch.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr unsigned kLast = ResultsWatch::kMissedUntilWarning;

// Notes that many messages without results, and returns how many of them made a difference.
unsigned miss(ResultsWatch& watch, unsigned count) {
  unsigned changes = 0;
  for (unsigned i = 0; i < count; ++i) changes += watch.note(false) ? 1U : 0U;
  return changes;
}

TEST_CASE("results count as missing after a thousand messages in a row without them, reported once") {
  ResultsWatch watch;
  CHECK(miss(watch, kLast - 1) == 0);
  CHECK_FALSE(watch.missing());
  CHECK(watch.note(false));
  CHECK(watch.missing());
  CHECK(miss(watch, 5 * kLast) == 0);
  CHECK(watch.missing());
}

TEST_CASE("one message with results resets the count, and their return is reported once") {
  ResultsWatch watch;
  miss(watch, kLast - 1);
  CHECK_FALSE(watch.note(true));
  CHECK(miss(watch, kLast - 1) == 0);
  CHECK(miss(watch, 1) == 1);
  CHECK(watch.note(true));
  CHECK_FALSE(watch.missing());
  CHECK_FALSE(watch.note(true));
  CHECK(miss(watch, kLast) == 1);
}

TEST_CASE("after a restart of the watch, results count as missing after a thousand more messages") {
  ResultsWatch watch;
  miss(watch, kLast);
  watch.begin_again();
  CHECK_FALSE(watch.missing());
  CHECK(miss(watch, kLast) == 1);
}

}  // namespace
}  // namespace bloomgate
