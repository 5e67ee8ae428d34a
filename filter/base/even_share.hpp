// Divides a whole into shares that are as even as possible: where each share begins.
#pragma once

#include <cstdint>

namespace bloomgate {

// floor(number * total / shares): where share `number` of `shares` begins in [0, total], and where the share before it
// ends. `number` may be `shares`, which gives the end of all; `shares` must not be 0.
inline std::uint64_t begin_of_share(std::uint64_t total, std::uint64_t number, std::uint64_t shares) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{number} * total / shares);
}

}  // namespace bloomgate
