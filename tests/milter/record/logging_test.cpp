#include "milter/record/logging.hpp"

#include <spdlog/logger.h>

#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

TEST_CASE("each configured level passes the messages of that level and above, on every target") {
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

TEST_CASE("without syslog its log goes to standard error, and other targets stay unchanged") {
  const test::TemporaryFolder folder;
  const std::string missing = folder.file("log"), dangling = folder.file("link"), there = folder.path().string();
  std::filesystem::create_symlink(missing, dangling);
  for (const std::string& path : {missing, dangling, there + "/a/log"}) {
    CHECK(usable_log_target(LogTarget::syslog, path.c_str()) == LogTarget::standard_error);
    CHECK(usable_log_target(LogTarget::journal, path.c_str()) == LogTarget::journal);
  }
  CHECK(usable_log_target(LogTarget::syslog, there.c_str()) == LogTarget::syslog);
}

}  // namespace
}  // namespace bloomgate
