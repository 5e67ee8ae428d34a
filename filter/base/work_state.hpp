// The progress of long work. A plain value.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

struct WorkState {
  std::string_view doing;         // "reading"; a new word means new work, with its own rate
  std::uint64_t done_bytes = 0;   // 0: nothing is counted
  std::uint64_t total_bytes = 0;  // 0: not known
};

}  // namespace bloomgate
