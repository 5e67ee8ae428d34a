#include "milter/monitoring/decisions_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace bloomgate {
namespace {

constexpr std::size_t kQuarter = 15;  // minutes
constexpr std::size_t kBars = MinuteRing::kMinutes / kQuarter;
// In the picture's own units.
constexpr double kWidth = 480, kHeight = 122, kTop = 1, kBottom = 1;
constexpr double kBarWidth = kWidth / static_cast<double>(kBars);

using Bars = std::array<MessageCounts, kBars>;  // the first is the oldest

Bars bars_of(const MinuteRing& minutes, std::size_t minutes_of_bar) {
  Bars bars = {};
  for (std::size_t ago = 0; ago < minutes.size(); ++ago) bars[kBars - 1 - ago / minutes_of_bar] += minutes.ago(ago);
  return bars;
}

std::uint64_t height(const MessageCounts& bar) noexcept {
  return bar.delivered + bar.checked + bar.refused;
}

// Adds a part of a bar above `base`, and moves that.
void add_part(std::string& svg, char kind, double x, double& base, std::uint64_t count, double scale) {
  if (count == 0) return;
  const double part = static_cast<double>(count) * scale;
  base -= part;
  svg += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\"/>", kind, x, base,
                     kBarWidth - 1, part);
}

}  // namespace

std::string decisions_plot(const MinuteRing& minutes) {
  if (minutes.size() == 0) return "<p class=\"soft\">The picture of the day begins with the first full minute.</p>\n";
  const bool is_young = minutes.size() <= kBars;
  const std::string_view span = is_young ? "96 minutes" : "24 hours";
  const std::string_view of_bar = is_young ? "a minute" : "15 minutes";
  const Bars bars = bars_of(minutes, is_young ? 1 : kQuarter);
  const std::uint64_t most = height(*std::ranges::max_element(bars, {}, height));
  const double scale = most == 0 ? 0 : (kHeight - kTop - kBottom) / static_cast<double>(most);
  const double floor = kHeight - kBottom;
  // The words are no part of the picture, which is small on a telephone.
  std::string svg = fmt::format(
      "<p class=\"soft\">The last {2}, at most {3} in {4}:</p><svg viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"Decisions of the last {2}, at most {3} in {4}\"><line class=\"axis\" x1=\"0\" y1=\"{5}\" "
      "x2=\"{0}\" y2=\"{5}\"/>",
      kWidth, kHeight, span, most, of_bar, floor);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double x = static_cast<double>(i) * kBarWidth;
    double base = floor;
    add_part(svg, 'd', x, base, bars[i].delivered, scale);
    add_part(svg, 'c', x, base, bars[i].checked, scale);
    add_part(svg, 'r', x, base, bars[i].refused, scale);
  }
  return svg + "</svg>\n";
}

}  // namespace bloomgate
