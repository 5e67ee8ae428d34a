#include "filter/html/page.hpp"

#include <fmt/format.h>

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

}  // namespace bloomgate
