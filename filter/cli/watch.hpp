// Commands that stay and look again and again (--watch).
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "filter/cli/command_line.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate::cli {

// 1 to 86,400 seconds. Throws UsageError.
std::chrono::seconds watch_interval(unsigned seconds);

// Calls `look` until a signal ends it. A fault is told, once as long as it is the same, and the pauses grow up to a
// minute; `recovered` is told when the next look succeeds.
void watch(std::chrono::seconds interval, JobObserver& observer, std::string_view recovered,
           const std::function<void()>& look);

}  // namespace bloomgate::cli
