#include "filter/html/stacked_bars.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "filter/html/page.hpp"

namespace bloomgate {
namespace {

// In the picture's own units.
constexpr double kWidth = 480, kHeight = 122, kTop = 1, kBottom = 1;
constexpr double kWidestGap = 1;

// One bar, which grows from its parts.
struct Place {
  double x;
  double width;
  double base;
};

// Adds a part of a bar above its base, and moves that.
void add_part(std::string& svg, char kind, Place& place, std::uint64_t count, double scale) {
  if (count == 0) return;
  const double part = static_cast<double>(count) * scale;
  place.base -= part;
  svg += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\"/>", kind, place.x,
                     place.base, place.width, part);
}

}  // namespace

std::string stacked_bars(std::span<const DecisionBar> bars, std::string_view label) {
  const std::uint64_t most = bars.empty() ? 0 : std::ranges::max(bars, {}, &DecisionBar::height).height();
  const double scale = most == 0 ? 0 : (kHeight - kTop - kBottom) / static_cast<double>(most);
  const double floor = kHeight - kBottom;
  const double step = bars.empty() ? kWidth : kWidth / static_cast<double>(bars.size());
  const double gap = std::min(kWidestGap, step / 5);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\"><line class=\"axis\" x1=\"0\" y1=\"{3}\" "
      "x2=\"{0}\" y2=\"{3}\"/>",
      kWidth, kHeight, escaped(label), floor);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    Place place = {.x = static_cast<double>(i) * step, .width = step - gap, .base = floor};
    add_part(svg, 'd', place, bars[i].delivered, scale);
    add_part(svg, 'c', place, bars[i].checked, scale);
    add_part(svg, 'e', place, bars[i].exempt, scale);
    add_part(svg, 'r', place, bars[i].refused, scale);
  }
  return svg + "</svg>\n";
}

}  // namespace bloomgate
