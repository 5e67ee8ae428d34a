// Decisions as a picture, SVG for a page of page.hpp: a bar for each span of time, with a part for each decision.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// Messages.
struct DecisionBar {
  std::uint64_t delivered = 0;
  std::uint64_t checked = 0;
  std::uint64_t exempt = 0;  // not incoming
  std::uint64_t refused = 0;

  std::uint64_t height() const noexcept { return delivered + checked + exempt + refused; }
};

// `label` says what the picture shows, to those who do not see it. The picture has no words, which would be small on a
// telephone. Throws std::bad_alloc.
std::string stacked_bars(std::span<const DecisionBar> bars, std::string_view label);

}  // namespace bloomgate
