// Figures in Prometheus' text format, read back.
#include "milter/doctor/shown_figures.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("figures are read with their labels, and other lines are ignored") {
  const ShownFigures figures(
      "# HELP bloomgate_hits_total Hits.\n# TYPE bloomgate_hits_total counter\n"
      "bloomgate_hits_total 12\n"
      "bloomgate_deep_checks_total{answer=\"ham\",action=\"tag\"} 3\n"
      "bloomgate_deep_checks_total{answer=\"failed\",action=\"tag\"} 4.5\n"
      "bloomgate_deep_checks_total{answer=\"failed\",action=\"reject\"} 1e2\n"
      "other_hits_total 99\n"
      "bloomgate_no_value\nbloomgate_12\nbloomgate_no_number x\nbloomgate_half 1x\nbloomgate_open{a=\"b\" 1\n"
      "bloomgate_nan NaN\nbloomgate_infinite +Inf\nbloomgate_huge 1e999\n"
      "bloomgate_last 7");
  CHECK(figures.value("hits_total") == 12);
  CHECK(figures.value("last") == 7);
  CHECK(figures.all("12").empty());
  CHECK(figures.value("deep_checks_total", "answer=\"failed\"") == 4.5);
  CHECK(figures.all("deep_checks_total")[0].value == 3);
  CHECK(figures.all("deep_checks_total")[2].value == 100);
  CHECK(figures.all("deep_checks_total").size() == 3);
  CHECK(figures.all("deep_checks_total")[2].labels == "answer=\"failed\",action=\"reject\"");
  for (const char* const none : {"no_value", "no_number", "half", "open", "nan", "infinite", "huge", "hits"}) {
    INFO(none);
    CHECK_FALSE(figures.value(none));
    CHECK(figures.all(none).empty());
  }
}

TEST_CASE("the number and size of the figures that are kept are bounded") {
  std::string many = "bloomgate_" + std::string(ShownFigures::kMostLineBytes, 'x') + " 1\n";
  for (std::size_t i = 0; i <= ShownFigures::kMostFigures; ++i) many += "bloomgate_same 1\n";
  CHECK(ShownFigures(many).all("same").size() == ShownFigures::kMostFigures);
}

TEST_CASE("the value of a label is found at any position") {
  CHECK(label_value("whitelist=\"w\",answer=\"yes\"", "whitelist") == "w");
  CHECK(label_value("whitelist=\"w\",answer=\"yes\"", "answer") == "yes");
  CHECK(label_value("whitelist=\"w\"", "list").empty());
  CHECK(label_value("whitelist=\"w", "whitelist").empty());
  CHECK(label_value("=\"", "").empty());
}

}  // namespace
}  // namespace bloomgate::test
