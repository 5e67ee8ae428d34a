#include "milter/logging.hpp"

#include <spdlog/logger.h>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("each level of the configuration lets through what it says, on every target") {
  struct Case {
    LogLevel level;
    bool error, warning, info, debug;
  };
  const Case cases[] = {
      {LogLevel::error, true, false, false, false},
      {LogLevel::warning, true, true, false, false},
      {LogLevel::info, true, true, true, false},
      {LogLevel::debug, true, true, true, true},
  };
  for (const LogTarget target : {LogTarget::standard_error, LogTarget::syslog, LogTarget::journal}) {
    for (const Case& c : cases) {
      const auto log = make_logger(target, c.level);
      CHECK(log->should_log(spdlog::level::err) == c.error);
      CHECK(log->should_log(spdlog::level::warn) == c.warning);
      CHECK(log->should_log(spdlog::level::info) == c.info);
      CHECK(log->should_log(spdlog::level::debug) == c.debug);
    }
  }
}

}  // namespace
}  // namespace bloomgate
