// How much each login may have learned in an hour: a hijacked account must not fill the list. Not shared between
// threads without a lock. Bounded: of more logins than that at once, the others have nothing learned.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class LoginRates {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostLogins = 20'000;

  explicit LoginRates(std::uint64_t seed) noexcept : seed_(seed) {}

  enum class Answer {
    granted,
    over,        // and that was said before
    first_over,  // the first refusal of this hour
  };
  // Whether the login may have another entry learned: `per_hour` of them since its first one, and again an hour later.
  // Throws std::bad_alloc.
  Answer take(std::string_view login, std::uint64_t per_hour, Clock::time_point now);

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
