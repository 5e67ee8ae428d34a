#include "filter/base/parallel.hpp"

#include <sched.h>

namespace bloomgate {

unsigned default_threads() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
  // A machine has more processors than the set has room for.
  const unsigned processors = std::thread::hardware_concurrency();
  return processors == 0 ? 1 : processors;
}

}  // namespace bloomgate
