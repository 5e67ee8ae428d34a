#include "filter/html/page.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("text for HTML has no byte that ends a text or an attribute") {
  CHECK(escaped("<a href=\"x\" b='y'>&amp;") == "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  CHECK(escaped("plain, \u00fc").size() == 9);
}

TEST_CASE("a bar has a part for each decision, and the highest one fills the picture") {
  const std::vector<DecisionBar> bars = {
      {.delivered = 30, .checked = 20, .exempt = 7, .refused = 3}, {}, {.delivered = 60}};
  const std::string svg = stacked_bars(bars, "\"all\"");
  CHECK_THAT(svg, Contains("aria-label=\"&quot;all&quot;\""));
  for (const char* part : {"class=\"d\" x=\"0.0\" y=\"61.00\" width=\"159.0\" height=\"60.00\"",
                           "class=\"c\" x=\"0.0\" y=\"21.00\" width=\"159.0\" height=\"40.00\"",
                           "class=\"e\" x=\"0.0\" y=\"7.00\" width=\"159.0\" height=\"14.00\"",
                           "class=\"r\" x=\"0.0\" y=\"1.00\" width=\"159.0\" height=\"6.00\"",
                           "class=\"d\" x=\"320.0\" y=\"1.00\" width=\"159.0\" height=\"120.00\""}) {
    CHECK_THAT(svg, Contains(part));
  }
  CHECK_THAT(svg, !Contains("x=\"160.0\""));
  CHECK_THAT(stacked_bars({}, "none"), Contains("<svg") && !Contains("nan"));
}

}  // namespace
}  // namespace bloomgate::test
