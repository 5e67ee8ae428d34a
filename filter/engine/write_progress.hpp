// How much of the bit array of a file is written. Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomgate {

struct WriteProgress {
  std::atomic<std::uint64_t> done_bytes{0};
  std::atomic<std::uint64_t> total_bytes{0};  // 0: not begun; when all bytes are done, they are read back
};

}  // namespace bloomgate
