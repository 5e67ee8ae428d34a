// Lines of a log that strangers have a part in: what is counted adds up, room stays bounded, and no page has a byte
// that a terminal or a browser would take for more than text.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "filter/report/figures_json.hpp"
#include "filter/report/report_pages.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using bloomgate::test::require;

using namespace bloomgate;

constexpr std::size_t kMostRows = 5;

bool is_plain(std::string_view page) {
  return std::ranges::all_of(page, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Figures figures;
  ReadCounts counts;
  LogTimes times(LogTime(std::chrono::seconds(1'790'000'000)));
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++counts.lines;
    const auto daemon = read_daemon_line(line);
    if (const auto unasked = read_unasked_line(line)) {
      if (const auto time = times.read(unasked->date)) figures.add({.time = *time, .unasked = unasked});
    }
    if (!daemon) continue;
    ++counts.daemon_lines;
    const auto time = times.read(daemon->date);
    if (!time) continue;
    figures.add(event_of(*daemon, *time));
  }
  std::uint64_t all = 0;
  for (const std::uint64_t each : figures.outcomes) all += each;
  require(all == figures.messages && figures.reasons.total() == all);
  require(figures.slowest.size() <= Figures::kMostSlow && figures.hours.size() <= Figures::kMostHours);
  require(figures.listing_recipients <= figures.recipients);
  const ReportContent content = {
      .scope = scope_of(figures, counts), .bars = bars_of(figures), .sections = sections_of(figures, kMostRows)};
  std::uint64_t in_bars = content.bars.left_out;
  for (const DecisionBar& bar : content.bars.bars) in_bars += bar.height();
  require(in_bars == all && content.bars.bars.size() <= kMostDays);
  require(is_plain(report_text(content)));
  const std::string html = report_html(content);
  require(is_plain(html) && html.find("<script") == std::string::npos);
  require(is_plain(figures_json(figures, counts, kMostRows)));
  return 0;
}
