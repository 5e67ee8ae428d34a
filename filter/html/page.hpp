// The parts of an HTML page for a person: a single page that loads nothing from elsewhere and has no script. It follows
// the reader's choice of light or dark, and fits a telephone's screen. Its colours have the contrast that WCAG 2.2
// requires at level AA, and no difference is shown by colour alone. The daemon's status page and the page of
// `bloomgate report` are made of these parts. Every text that is not the page's own goes through escaped(). Pure; safe
// from any thread. All throw std::bad_alloc.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// Text for HTML, between tags and in quoted attributes.
std::string escaped(std::string_view text);

// The start of a page with that title, up to its body; end the page with `</body></html>`. The browser reloads it after
// `refresh`; 0: never.
std::string page_head(std::string_view title, std::chrono::seconds refresh = std::chrono::seconds(0));

// A figure with its caption, for a `<div class="row">`. `text` must be HTML.
std::string fact(std::string_view text, std::string_view caption);

// A table that may be wider than a telephone's screen: it then scrolls sideways by itself, also by keyboard. `rows` are
// its rows in HTML, the first of them with the headings of the columns.
std::string table(std::string_view caption, std::string_view rows);

// A row of headings: those that end with '#' are for columns of numbers.
std::string head_row(std::span<const std::string_view> names);

// The messages of a span of time.
struct DecisionBar {
  std::uint64_t delivered = 0;
  std::uint64_t checked = 0;
  std::uint64_t exempt = 0;  // not incoming
  std::uint64_t refused = 0;

  std::uint64_t height() const noexcept { return delivered + checked + exempt + refused; }
};

// A picture of decisions in SVG: a bar for each span of time, with a part for each decision. `label` describes the
// picture to readers who cannot see it. The picture has no words, which would be small on a telephone.
std::string stacked_bars(std::span<const DecisionBar> bars, std::string_view label);

// Such a picture with its axes: above it the label, which gives the value of the highest bar, and below it the times,
// from left to right.
std::string chart(std::span<const DecisionBar> bars, std::string_view label, std::span<const std::string> times);

// The legend for the parts of the bars.
std::string chart_legend();

}  // namespace bloomgate
