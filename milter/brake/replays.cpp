#include "milter/brake/replays.hpp"

#include <algorithm>
#include <span>

namespace bloomgate {
namespace {

// As the last hour of SenderCounts: this half of an hour and the two before it.
constexpr HalfHours kPeriods = 3;

}  // namespace

std::uint32_t Replays::count(KeyHash message, HalfHours now) noexcept {
  const std::span group = std::span(seen_).subspan(message % (kMessages / kGroup) * kGroup, kGroup);
  // A clock that was put back stands still.
  const auto is_over = [now](const Seen& each) {
    return each.copies == 0 || (now >= each.first && now - each.first >= kPeriods);
  };
  auto found = std::ranges::find(group, message, &Seen::message);
  if (found == group.end() || is_over(*found)) {
    // In the place of one that is over, or else of the one that has come least.
    if (found == group.end()) {
      found = std::ranges::min_element(group, {}, [&](const Seen& each) { return is_over(each) ? 0 : each.copies; });
    }
    *found = {.message = message, .first = now};
  }
  if (found->copies != UINT32_MAX) ++found->copies;
  return found->copies;
}

}  // namespace bloomgate
