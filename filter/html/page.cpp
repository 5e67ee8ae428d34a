#include "filter/html/page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomgate {
namespace {

constexpr std::string_view kHeadStart = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>)";

constexpr std::string_view kStyle = R"(</title><link rel="icon" href="data:,"><style>
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b2430;--soft:#5b6675;--line:#dde2e8;--deliver:#1a7f5a;
--check:#b9770e;--refuse:#b3261e;--warn:#fff4e0;--warn-line:#e0a030}
@media(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b212a;--text:#e6eaf0;--soft:#9aa6b5;--line:#2e3743;
--deliver:#43c08f;--check:#e5a93d;--refuse:#f2726a;--warn:#33290f;--warn-line:#a87a1c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:0 0 .6rem}p{margin:.2rem 0}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem 1rem;margin:.9rem 0}
.soft{color:var(--soft);font-size:.88rem}.act{background:var(--warn);border-color:var(--warn-line)}
.act li{margin:.4rem 0}.act ul{margin:0;padding-left:1.1rem}
.row{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem}.fact b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}
table{width:100%;border-collapse:collapse}td,th{padding:.25rem .3rem;text-align:left;font-weight:400;vertical-align:top;
overflow-wrap:normal}td.w{overflow-wrap:anywhere}
th{color:var(--soft);font-size:.88rem}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
tr+tr td{border-top:1px solid var(--line)}
.deliver{color:var(--deliver)}.check{color:var(--check)}.refuse{color:var(--refuse)}
svg{display:block;width:100%;height:auto}svg .d{fill:var(--deliver)}svg .c{fill:var(--check)}svg .r{fill:var(--refuse)}svg .e{fill:var(--soft)}
svg .axis{stroke:var(--line)}
.ends{display:flex;justify-content:space-between}
.one{padding:.35rem 0;border-top:1px solid var(--line)}.one:first-of-type{border-top:0}
</style></head><body>
)";

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

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char byte : text) {
    switch (byte) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += byte;
    }
  }
  return html;
}

std::string page_head(std::string_view title) {
  return std::string(kHeadStart).append(escaped(title)).append(kStyle);
}

std::string fact(std::string_view text, std::string_view caption) {
  return fmt::format("<div class=\"fact\"><b>{}</b><span class=\"soft\">{}</span></div>\n", text, caption);
}

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
