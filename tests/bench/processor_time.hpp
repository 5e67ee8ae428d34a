// Safe from any thread.
#pragma once

#include <ctime>

namespace bloomgate::bench {

// Of this program so far, in all its threads.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace bloomgate::bench
