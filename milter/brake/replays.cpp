#include "milter/brake/replays.hpp"

#include <algorithm>
#include <span>

namespace bloomgate {
namespace {

// As the last hour in SenderCounts: the current half hour and the two before it.
constexpr HalfHours kPeriods = 3;

}  // namespace

std::uint32_t Replays::count(KeyHash message, HalfHours now) noexcept {
  const std::span group = std::span(seen_).subspan(message % (kMessages / kGroup) * kGroup, kGroup);
  // After the clock was set back, time stands still until it has caught up.
  const auto is_over = [now](const Seen& each) {
    return each.copies == 0 || (now >= each.first && now - each.first >= kPeriods);
  };
  auto found = std::ranges::find(group, message, &Seen::message);
  if (found == group.end() || is_over(*found)) {
    // Replaces one whose period is over, or else the one with the fewest copies.
    if (found == group.end()) {
      found = std::ranges::min_element(group, {}, [&](const Seen& each) { return is_over(each) ? 0 : each.copies; });
    }
    *found = {.message = message, .first = now};
  }
  if (found->copies != UINT32_MAX) ++found->copies;
  return found->copies;
}

}  // namespace bloomgate
