// Ends a build or a combination that its caller has stopped. Safe from any thread.
#pragma once

#include <atomic>

#include "filter/base/error.hpp"

namespace bloomgate {

// Throws BloomgateError{interrupted} if `stop` is set.
inline void check_stop(const std::atomic<bool>& stop) {
  if (stop.load(std::memory_order_relaxed)) {
    throw BloomgateError(ErrorCode::interrupted, "stopped before the filter was complete; nothing was changed");
  }
}

}  // namespace bloomgate
