#include "filter/html/page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomgate {
namespace {

constexpr std::string_view kHeadStart = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
)";

constexpr std::string_view kStyle = R"html(</title><link rel="icon" href="data:,"><style>
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b2430;--soft:#556070;--line:#dde2e8;--deliver:#17734f;
--check:#8a5a00;--refuse:#b3261e;--link:#0b57a4;--warn:#fff4e0;--warn-line:#e0a030}
@media(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b212a;--text:#e6eaf0;--soft:#9aa6b5;--line:#2e3743;
--deliver:#43c08f;--check:#e5a93d;--refuse:#f2857d;--link:#8ab8f0;--warn:#33290f;--warn-line:#a87a1c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}a:focus-visible,[tabindex]:focus-visible{outline:.2rem solid var(--link)}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:0 0 .6rem}h3{font-size:.95rem;margin:.9rem 0 .2rem}p{margin:.2rem 0}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem 1rem;margin:.9rem 0}
.soft{color:var(--soft);font-size:.88rem}.act{background:var(--warn);border-color:var(--warn-line)}
.act li{margin:.4rem 0}.act ul{margin:0;padding-left:1.1rem}
.row{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem}.fact b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
table{width:100%;border-collapse:collapse;overflow-wrap:normal}td,th{padding:.25rem .3rem;text-align:left;font-weight:400;vertical-align:top}
caption{text-align:left;color:var(--soft);font-size:.88rem;padding:.2rem .3rem}td.w,th.w{overflow-wrap:anywhere;width:75%}tbody th:not(.w){white-space:nowrap}
thead th{color:var(--soft);font-size:.88rem}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
tbody tr+tr>*{border-top:1px solid var(--line)}
.deliver{color:var(--deliver)}.check{color:var(--check)}.refuse{color:var(--refuse)}
svg{display:block;width:100%;height:auto}svg .d{fill:var(--deliver)}svg .c{fill:url(#check)}svg .r{fill:var(--refuse)}
svg .e{fill:url(#exempt)}svg.defs{position:absolute;width:0;height:0}svg.key{display:inline;width:1.2rem;height:.8rem}
svg .axis{stroke:var(--soft)}svg .ink-c{stroke:var(--check);fill:var(--check)}svg .ink-e{fill:var(--soft)}
figure{margin:.3rem 0 1rem}.ends{display:flex}.ends span{flex:1;text-align:center}.ends span:first-child{text-align:left}.ends span:last-child{text-align:right}
.part{white-space:nowrap}
</style></head><body>
<svg class="defs" aria-hidden="true"><defs><pattern id="check" width="4" height="4" patternUnits="userSpaceOnUse"
patternTransform="rotate(45)"><rect class="ink-c" fill-opacity=".3" width="4" height="4" stroke="none"/><line class="ink-c" x1="0"
y1="0" x2="0" y2="4" stroke-width="3"/></pattern><pattern id="exempt" width="3" height="3" patternUnits="userSpaceOnUse"><rect
class="ink-e" width="2" height="2"/></pattern></defs></svg>
)html";

// In the picture's own units.
constexpr double kWidth = 480, kHeight = 122, kTop = 1, kBottom = 1;
constexpr double kWidestGap = 1;

// The position of a bar, which grows with its parts.
struct Place {
  double x;
  double width;
  double base;
};

// Adds a part of a bar above its base, and moves the base.
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

std::string page_head(std::string_view title, std::chrono::seconds refresh) {
  std::string html(kHeadStart);
  if (refresh.count() != 0) html += fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", refresh.count());
  return html.append("<title>").append(escaped(title)).append(kStyle);
}

std::string fact(std::string_view text, std::string_view caption) {
  return fmt::format("<div class=\"fact\"><b>{}</b><span class=\"soft\">{}</span></div>\n", text, caption);
}

std::string table(std::string_view caption, std::string_view rows) {
  return fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}</caption>\n{1}</tbody>"
      "</table></div>\n",
      escaped(caption), rows);
}

std::string head_row(std::span<const std::string_view> names) {
  std::string html = "<thead><tr>";
  for (std::string_view name : names) {
    const bool is_number = name.ends_with('#');
    if (is_number) name.remove_suffix(1);
    html += fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"n\"" : "", escaped(name));
  }
  return html + "</tr></thead><tbody>\n";
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

std::string chart(std::span<const DecisionBar> bars, std::string_view label, std::span<const std::string> times) {
  DecisionBar all;
  for (const DecisionBar& each : bars) {
    all.delivered += each.delivered;
    all.checked += each.checked;
    all.exempt += each.exempt;
    all.refused += each.refused;
  }
  const std::string said = fmt::format("{}; {} delivered, {} checked, {} not incoming, {} refused", label,
                                       all.delivered, all.checked, all.exempt, all.refused);
  std::string html = fmt::format("<figure><figcaption class=\"soft\">{}</figcaption>\n", escaped(label));
  html += stacked_bars(bars, said) + "<div class=\"ends soft\">";
  for (const std::string& time : times) html += "<span>" + escaped(time) + "</span>";
  return html + "</div></figure>\n";
}

std::string chart_legend() {
  struct Part {
    char kind;
    std::string_view name;
  };
  constexpr Part kParts[] = {{'d', "delivered"}, {'c', "checked"}, {'e', "not incoming"}, {'r', "refused"}};
  std::string html = "<p class=\"soft\">";
  for (const Part& part : kParts) {
    html += fmt::format(
        "<span class=\"part\"><svg class=\"key\" viewBox=\"0 0 12 8\" aria-hidden=\"true\"><rect class=\"{}\" "
        "width=\"12\" "
        "height=\"8\"/></svg> {}</span> ",
        part.kind, part.name);
  }
  return html + "</p>\n";
}

}  // namespace bloomgate
