// What this process has been given by malloc(3).
#pragma once

#include <malloc.h>

#include <cstddef>

namespace bloomgate::test {

// A sanitizer's own allocator always says 0.
inline std::size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace bloomgate::test
