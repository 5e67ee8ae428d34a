// Makes the daemon's log: one spdlog logger, written to from all threads, each line at once. What is logged must have
// gone through filter/base/printable.hpp where it comes from outside.
#pragma once

#include <spdlog/logger.h>

#include <memory>

#include "config/daemon_options.hpp"

namespace bloomgate {

// libmilter's own messages go to syslog whatever the target, under the same name and facility (mail).
std::shared_ptr<spdlog::logger> make_logger(LogTarget target, LogLevel level);

}  // namespace bloomgate
