#include "milter/record/logging.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/sinks/systemd_sink.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "milter/record/queued_sink.hpp"

namespace bloomgate {
namespace {

constexpr const char* kName = "bloomgate-milter";

// Writes all lines since the last flush in one call, if the system accepts them so. For one thread.
class StandardErrorSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
  void sink_it_(const spdlog::details::log_msg& line) override { formatter_->format(line, text_); }

  void flush_() override {
    std::size_t written = 0;
    while (written < text_.size()) {
      const ssize_t count = ::write(STDERR_FILENO, text_.data() + written, text_.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        const int error = errno;
        text_.clear();
        throw std::system_error(error, std::generic_category(), "write to standard error");
      }
      written += static_cast<std::size_t>(count);
    }
    text_.clear();
  }

  spdlog::memory_buf_t text_;
};

// Marks warnings and errors with their level, as Postfix does: syslog's files do not show it.
class LevelInFront final : public spdlog::formatter {
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& text) override {
    const auto add = [&text](spdlog::string_view_t part) { text.append(part.data(), part.data() + part.size()); };
    if (line.level >= spdlog::level::warn) {
      add(spdlog::level::to_string_view(line.level));
      add(": ");
    }
    add(line.payload);
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LevelInFront>(); }
};

spdlog::sink_ptr with_level_in_front(spdlog::sink_ptr sink) {
  sink->set_formatter(std::make_unique<LevelInFront>());
  return sink;
}

spdlog::sink_ptr make_sink(LogTarget target) {
  switch (target) {
    case LogTarget::standard_error:
      break;
    case LogTarget::syslog:
      return with_level_in_front(std::make_shared<spdlog::sinks::syslog_sink_mt>(kName, LOG_PID, LOG_MAIL, true));
    case LogTarget::journal:
      return with_level_in_front(std::make_shared<spdlog::sinks::systemd_sink_mt>(kName, true));
  }
  auto sink = std::make_shared<StandardErrorSink>();
  sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
  return sink;
}

// In the order of LogLevel.
constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::err, spdlog::level::warn, spdlog::level::info,
                                                 spdlog::level::debug};

}  // namespace

LogTarget usable_log_target(LogTarget wanted, const char* syslog_path) noexcept {
  const bool is_missing = access(syslog_path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
  return wanted == LogTarget::syslog && is_missing ? LogTarget::standard_error : wanted;
}

std::shared_ptr<spdlog::logger> make_logger(LogTarget target, LogLevel level) {
  openlog(kName, LOG_PID, LOG_MAIL);
  auto sink = std::make_shared<QueuedSink>(make_sink(target), QueuedSink::Limits{});
  auto logger = std::make_shared<spdlog::logger>(kName, sink);
  logger->set_error_handler([sink](const std::string&) { sink->count_lost(); });
  set_log_level(*logger, level);
  return logger;
}

std::uint64_t lost_lines(const spdlog::logger& log) {
  std::uint64_t lost = 0;
  for (const spdlog::sink_ptr& sink : log.sinks()) {
    if (const auto* const queue = dynamic_cast<const QueuedSink*>(sink.get())) lost += queue->lost_in_all();
  }
  return lost;
}

void set_log_level(spdlog::logger& log, LogLevel level) {
  log.set_level(kLevels[static_cast<std::size_t>(level)]);
}

}  // namespace bloomgate
