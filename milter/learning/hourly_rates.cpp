#include "milter/learning/hourly_rates.hpp"

namespace bloomgate {
namespace {

constexpr std::chrono::hours kHour{1};
// A pass over all of them takes a fraction of a millisecond, which outsiders must not be able to cause at will.
constexpr std::chrono::seconds kBetweenLooks{10};

}  // namespace

HourlyRates::Answer HourlyRates::take(std::string_view name, std::uint64_t per_hour, Clock::time_point now) {
  const KeyHash key = hash_key(name, seed_);
  auto found = hours_.find(key);
  if (found == hours_.end()) {
    if (hours_.size() >= kMostNames) forget_past_hours(now);
    if (hours_.size() >= kMostNames) return Answer::over;
    found = hours_.emplace(key, Hour{.begin = now}).first;
  }
  Hour& hour = found->second;
  if (now - hour.begin >= kHour) hour = {.begin = now};
  if (hour.taken < per_hour) {
    ++hour.taken;
    return Answer::granted;
  }
  const Answer answer = hour.was_over ? Answer::over : Answer::first_over;
  hour.was_over = true;
  return answer;
}

void HourlyRates::forget_past_hours(Clock::time_point now) {
  if (looked_at_ != Clock::time_point::min() && now - looked_at_ < kBetweenLooks) return;
  looked_at_ = now;
  std::erase_if(hours_, [now](const auto& each) { return now - each.second.begin >= kHour; });
}

}  // namespace bloomgate
