// A share that is known from a sample, and how sure it is. Pure; safe from any thread.
#pragma once

#include <cstdint>

namespace bloomgate {

// From 0 to 1.
struct Interval {
  double lower = 0;
  double upper = 1;
};

// Where the share lies, with 95 % confidence, of which `hits` in `tries` were seen: Wilson's score interval (E. B.
// Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927). It holds for few
// tries too, and for none or all of them hits. All of [0, 1] without a try. `hits` is at most `tries`.
Interval wilson_interval(std::uint64_t hits, std::uint64_t tries) noexcept;

}  // namespace bloomgate
