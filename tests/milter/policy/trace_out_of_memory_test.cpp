// A trace that runs out of memory says so, and the decision goes on.
#include <nlohmann/json.hpp>
#include <string>

#include "milter/policy/explain.hpp"
#include "milter/policy/trace.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_budget.hpp"

namespace bloomgate {
namespace {

TEST_CASE("the explanation says if steps are missing for lack of memory") {
  Trace trace;
  trace.add("exemption", {}, {}, "no");
  CHECK_THAT(explanation_text(trace, {}, "mx", CheckMark::plain), !Catch::Contains("steps are missing"));
  const std::string long_outcome(100, 'x');
  test::memory_budget.start(0, true);
  {
    const test::BudgetInForce in_force;
    trace.add("header-from", {}, {}, long_outcome);
  }
  test::memory_budget.stop();
  CHECK(trace.steps().size() == 1);
  CHECK_THAT(explanation_text(trace, {}, "mx", CheckMark::plain),
             Catch::Contains("\n(steps are missing: there was no memory for them)\n"));
  CHECK(nlohmann::json::parse(explanation_json(trace, {}, "mx", CheckMark::plain)).at("complete") == false);
}

}  // namespace
}  // namespace bloomgate
