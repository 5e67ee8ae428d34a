#include "milter/monitoring/decisions_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "filter/html/stacked_bars.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kQuarter = 15;  // minutes
constexpr std::size_t kBars = MinuteRing::kMinutes / kQuarter;
using Bars = std::array<DecisionBar, kBars>;  // the first is the oldest

Bars bars_of(const MinuteRing& minutes, std::size_t minutes_of_bar) {
  Bars bars = {};
  for (std::size_t ago = 0; ago < minutes.size(); ++ago) {
    const MessageCounts& minute = minutes.ago(ago);
    DecisionBar& bar = bars[kBars - 1 - ago / minutes_of_bar];
    bar.delivered += minute.delivered;
    bar.checked += minute.checked;
    bar.exempt += minute.exempt;
    bar.refused += minute.refused;
  }
  return bars;
}

}  // namespace

std::string decisions_plot(const MinuteRing& minutes) {
  if (minutes.size() == 0) return "<p class=\"soft\">The picture of the day begins with the first full minute.</p>\n";
  const bool is_young = minutes.size() <= kBars;
  const std::string_view span = is_young ? "96 minutes" : "24 hours";
  const std::string_view of_bar = is_young ? "a minute" : "15 minutes";
  const Bars bars = bars_of(minutes, is_young ? 1 : kQuarter);
  const std::string label = fmt::format("The last {}, at most {} in {}", span,
                                        std::ranges::max(bars, {}, &DecisionBar::height).height(), of_bar);
  // The words are no part of the picture, which is small on a telephone.
  return "<p class=\"soft\">" + label + ":</p>" + stacked_bars(bars, label);
}

}  // namespace bloomgate
