// Makes the daemon's log: one spdlog logger to which all threads write. None of them waits for the target (see
// queued_sink.hpp). Text from outside must go through filter/base/printable.hpp before it is logged.
#pragma once

#include <spdlog/fwd.h>

#include <cstdint>
#include <memory>

#include "config/daemon_options.hpp"

namespace bloomgate {

// The target that can be used: standard error instead of syslog if there is nothing at the path of syslog's socket, as
// in most containers. A path without a listening socket counts as usable, since syslog may be restarting.
LogTarget usable_log_target(LogTarget wanted, const char* syslog_path = "/dev/log") noexcept;

// A program that ends without destroying the logger has to call its flush() first, since its last lines are not written
// until then. libmilter's own messages go to syslog whatever the target, under the same name and facility (mail).
std::shared_ptr<spdlog::logger> make_logger(LogTarget target, LogLevel level);

// How many lines that logger's queue has lost since the start; 0 for a logger that make_logger() has not made. Safe
// from any thread.
std::uint64_t lost_lines(const spdlog::logger& log);

// Safe while other threads write to the log.
void set_log_level(spdlog::logger& log, LogLevel level);

}  // namespace bloomgate
