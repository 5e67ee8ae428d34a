// The parts of an HTML page for a person: one page without a part from elsewhere and without a script, light or dark as
// the reader's machine is, and as wide as a telephone's screen at least. Its colours have the contrast that WCAG 2.2
// asks for at level AA, and no difference is told by a colour alone. The daemon's status page and the page of
// `bloomgate report` are made of them. Every text that is not the page's own goes through escaped(). Pure; safe from
// any thread. All throw std::bad_alloc.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// Text for HTML, between tags and in quoted attributes.
std::string escaped(std::string_view text);

// The start of a page with that title, up to its body: `</body></html>` ends it. The browser loads it again after that
// time; 0: never.
std::string page_head(std::string_view title, std::chrono::seconds refresh = std::chrono::seconds(0));

// A figure with its caption, for a `<div class="row">`. `text` must be HTML.
std::string fact(std::string_view text, std::string_view caption);

// A table that may be wider than a telephone's screen: it is then moved sideways by itself, also by keyboard. `rows`
// are its rows in HTML, the first of them with the heads of the columns.
std::string table(std::string_view caption, std::string_view rows);

// A row of heads of columns: those that end with '#' are of numbers.
std::string head_row(std::span<const std::string_view> names);

// The messages of a span of time.
struct DecisionBar {
  std::uint64_t delivered = 0;
  std::uint64_t checked = 0;
  std::uint64_t exempt = 0;  // not incoming
  std::uint64_t refused = 0;

  std::uint64_t height() const noexcept { return delivered + checked + exempt + refused; }
};

// Decisions as a picture in SVG: a bar for each span of time, with a part for each decision. `label` says what the
// picture shows, to those who do not see it. The picture has no words, which would be small on a
// telephone.
std::string stacked_bars(std::span<const DecisionBar> bars, std::string_view label);

// Such a picture with its axes: above it the label, which says how much the highest bar is, and under it the times,
// from its left end to its right one.
std::string chart(std::span<const DecisionBar> bars, std::string_view label, std::span<const std::string> times);

// What the parts of the bars are.
std::string chart_legend();

}  // namespace bloomgate
