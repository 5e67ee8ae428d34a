// What this process has locked in memory (mlock(2)).
#pragma once

#include <string>

#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

// The sanitizers take mlock(2) away.
inline constexpr bool kCanLockMemory = !kIsSanitized;

// A line of /proc/self/status.
inline std::string locked_memory() {
  const std::string status = read_file("/proc/self/status");
  const std::size_t begin = status.find("VmLck:");
  return status.substr(begin, status.find('\n', begin) - begin);
}

}  // namespace bloomgate::test
