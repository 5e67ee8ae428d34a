// Makes the daemon's log: one spdlog logger that all threads write to, each line at once. Text from outside must go
// through filter/base/printable.hpp before it is logged.
#pragma once

#include <spdlog/logger.h>

#include <memory>

#include "config/daemon_options.hpp"

namespace bloomgate {

// libmilter's own messages go to syslog whatever the target, under the same name and facility (mail).
std::shared_ptr<spdlog::logger> make_logger(LogTarget target, LogLevel level);

// Safe while other threads write to it.
void set_log_level(spdlog::logger& log, LogLevel level);

}  // namespace bloomgate
