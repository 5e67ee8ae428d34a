// An answer at the address of the daemon's findings, from any program that listens there, and text that may be figures:
// what is kept is bounded and finite, and a finding is safe for a terminal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "milter/doctor/doctor.hpp"
#include "milter/doctor/shown_figures.hpp"
#include "tests/fuzz/require.hpp"

using namespace bloomgate;
using bloomgate::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ShownFigures figures(text);
  for (const char* const name : {"", "build_info", "hits_total", "whitelist_usable", "deep_checks_total"}) {
    const auto all = figures.all(name);
    require(all.size() <= ShownFigures::kMostFigures);
    for (const ShownFigure& each : all) {
      require(std::isfinite(each.value) && each.labels.size() <= ShownFigures::kMostLineBytes);
      require(label_value(each.labels, "whitelist").size() <= each.labels.size());
      require(figures.value(name, each.labels).has_value());
    }
  }
  std::vector<DoctorFinding> findings;
  examine_daemons_findings(text, findings);
  require(!findings.empty());
  require(std::ranges::all_of(findings_text(findings), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  return 0;
}
