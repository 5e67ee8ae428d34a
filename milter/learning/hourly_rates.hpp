// Limits how many entries may be learned for each name in an hour: a hijacked account, or a form on a web server, must
// not fill the list. Not safe to share between threads without a lock. Memory is bounded: if there are more names at
// once, nothing is learned for the further ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class HourlyRates {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostNames = 20'000;

  explicit HourlyRates(std::uint64_t seed) noexcept : seed_(seed) {}

  enum class Answer {
    granted,
    over,        // refused, and a refusal was already reported
    first_over,  // the first refusal of this hour
  };
  // Whether another entry may be learned for that name: `per_hour` entries within an hour of the first one, and then
  // again. Throws std::bad_alloc.
  Answer take(std::string_view name, std::uint64_t per_hour, Clock::time_point now);

 private:
  struct Hour {
    Clock::time_point begin;
    std::uint64_t taken = 0;
    bool was_over = false;
  };

  void forget_past_hours(Clock::time_point now);

  std::uint64_t seed_;
  std::unordered_map<KeyHash, Hour> hours_;
  Clock::time_point looked_at_ = Clock::time_point::min();
};

}  // namespace bloomgate
