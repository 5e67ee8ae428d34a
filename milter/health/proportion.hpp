// A share that was estimated from a sample, with its confidence interval. Pure; safe from any thread.
#pragma once

#include <cstdint>

namespace bloomgate {

// From 0 to 1.
struct Interval {
  double lower = 0;
  double upper = 1;
};

// The interval that contains the share with 95 % confidence, if `hits` in `tries` were seen: Wilson's score interval
// (E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927). It is also
// valid for few tries, and if none or all of them are hits. The whole of [0, 1] if there are no tries. `hits` is at
// most `tries`.
Interval wilson_interval(std::uint64_t hits, std::uint64_t tries) noexcept;

}  // namespace bloomgate
