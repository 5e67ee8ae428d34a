#pragma once

namespace bloomgate::test {

// A sanitized program takes ten times as long, and sees in a few repetitions what it sees in many: the figures are
// those of the program without.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace bloomgate::test
