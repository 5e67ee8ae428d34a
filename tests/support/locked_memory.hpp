// What this process has locked in memory (mlock(2)).
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

// The sanitizers take mlock(2) away.
inline constexpr bool kCanLockMemory = !kIsSanitized;

// Whether the system-call filter of a container refuses mlock(2) whatever the limit; says so as a part of the test that
// is left out.
inline bool lock_is_refused() {
  static char byte = 0;
  if (!kCanLockMemory) return false;
  if (mlock(&byte, 1) == 0) {
    munlock(&byte, 1);
    return false;
  }
  if (errno != EPERM) return false;
  WARN("skipped: nothing may be locked in memory here");
  return true;
}

// A line of /proc/self/status.
inline std::string locked_memory() {
  const std::string status = read_file("/proc/self/status");
  const std::size_t begin = status.find("VmLck:");
  return status.substr(begin, status.find('\n', begin) - begin);
}

}  // namespace bloomgate::test
