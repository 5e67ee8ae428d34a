#include "milter/logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/sinks/systemd_sink.h>
#include <syslog.h>

namespace bloomgate {
namespace {

constexpr const char* kName = "bloomgate-milter";

spdlog::sink_ptr make_sink(LogTarget target) {
  switch (target) {
    case LogTarget::standard_error:
      break;
    case LogTarget::syslog:
      return std::make_shared<spdlog::sinks::syslog_sink_mt>(kName, LOG_PID, LOG_MAIL, false);
    case LogTarget::journal:
      return std::make_shared<spdlog::sinks::systemd_sink_mt>(kName);
  }
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
  return sink;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::info:
      break;
    case LogLevel::debug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(LogTarget target, LogLevel level) {
  openlog(kName, LOG_PID, LOG_MAIL);
  auto logger = std::make_shared<spdlog::logger>(kName, make_sink(target));
  set_log_level(*logger, level);
  return logger;
}

void set_log_level(spdlog::logger& log, LogLevel level) {
  log.set_level(spdlog_level(level));
}

}  // namespace bloomgate
