// What needs an operator's action, and which. The words are those of the status line (service_status.hpp).
#pragma once

#include <string>
#include <vector>

#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

struct Advice {
  std::string what;
  std::string how;  // empty: `what` says it
};

// The gravest first; empty if all is well. For the thread that calls Monitor::end_second(). Throws std::bad_alloc.
std::vector<Advice> advice_on(const Monitor& monitor);

}  // namespace bloomgate
