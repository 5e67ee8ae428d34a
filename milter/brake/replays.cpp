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
  auto found = std::ranges::find_if(group, [&](const Seen& each) {
    return each.copies != 0 && each.message == message && now - each.first < kPeriods;
  });
  if (found == group.end()) {
    found = std::ranges::min_element(group, {}, &Seen::first);
    *found = {.message = message, .first = now};
  }
  if (found->copies != UINT32_MAX) ++found->copies;
  return found->copies;
}

}  // namespace bloomgate
