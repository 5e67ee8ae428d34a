// Makes the daemon's log: one spdlog logger that all threads write to. None of them waits for what it is written to
// (see queued_sink.hpp). Text from outside must go through filter/base/printable.hpp before it is logged.
#pragma once

#include <spdlog/fwd.h>

#include <cstdint>
#include <memory>

#include "config/daemon_options.hpp"

namespace bloomgate {

// The target that can be used: standard error for syslog if there is no syslog at its socket's path, as in most
// containers. A path without a socket behind it counts as there, since syslog may be starting again.
LogTarget usable_log_target(LogTarget wanted, const char* syslog_path = "/dev/log") noexcept;

// A program that ends without destroying the logger calls its flush() first: its last lines are on their way until
// then. libmilter's own messages go to syslog whatever the target, under the same name and facility (mail).
std::shared_ptr<spdlog::logger> make_logger(LogTarget target, LogLevel level);

// How many lines that logger's queue has lost since the start; 0 for a logger that make_logger() has not made. Safe
// from any thread.
std::uint64_t lost_lines(const spdlog::logger& log);

// Safe while other threads write to it.
void set_log_level(spdlog::logger& log, LogLevel level);

}  // namespace bloomgate
