#include "filter/cli/watch.hpp"

#include <signal.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "filter/base/usage_error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/own_process.hpp"

namespace bloomgate::cli {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

class Noted : public JobObserver {
 public:
  void begin(std::function<WorkState()> /*look*/) override {}
  void end() noexcept override {}
  void warn(std::string_view line) override { lines.emplace_back(line); }
  void note(std::string_view line) override { lines.push_back("note: " + std::string(line)); }

  Lines lines;
};

// Watches without a pause, in a process of its own, which the signal of the last look stops. A look with a text fails
// with it. Exits with 0 if `want` was told.
int watched(const Lines& looks, const Lines& want) {
  Noted noted;
  std::size_t look = 0;
  watch(0s, noted, "all is well", [&] {
    const std::string& fault = looks.at(look++);
    if (look == looks.size()) raise(SIGTERM);
    if (!fault.empty()) throw std::runtime_error(fault);
  });
  return look == looks.size() && noted.lines == want ? 0 : 1;
}

TEST_CASE("each fault is told once, and so is its end; a fault after the stop is not told") {
  CHECK(test::status_of([] {
          return watched({"", "a", "a", "b", "", "", "a", ""},
                         {"a", "b", "note: all is well", "a", "note: all is well"});
        }) == 0);
  CHECK(test::status_of([] { return watched({"a", "stopped"}, {"a"}); }) == 0);
}

TEST_CASE("no memory ends what watches") {
  Noted noted;
  CHECK_THROWS_AS(watch(0s, noted, "", [] { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(noted.lines.empty());
}

TEST_CASE("what watches looks every second at most, and every day at least") {
  CHECK(watch_interval(1) == 1s);
  CHECK(watch_interval(86'400) == 24h);
  for (const unsigned seconds : {0U, 86'401U}) {
    CHECK_THROWS_WITH(watch_interval(seconds), "--watch takes from 1 to 86400 seconds");
  }
}

}  // namespace
}  // namespace bloomgate::cli
