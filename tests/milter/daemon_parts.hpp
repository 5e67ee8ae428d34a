// What the daemon's tests put together again and again: a whitelist on disk, the parts that decide, and a log that can
// be read.
#pragma once

#include <spdlog/sinks/ostream_sink.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "filter/bus_fault.hpp"
#include "milter/callbacks.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

// A log in memory, one line "level: message" each.
class MemoryLog {
 public:
  MemoryLog() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_);
    sink->set_pattern("%l: %v");
    logger_ = std::make_shared<spdlog::logger>("test", std::move(sink));
  }

  const std::shared_ptr<spdlog::logger>& logger() const noexcept { return logger_; }
  std::string text() const { return stream_.str(); }

 private:
  std::ostringstream stream_;
  std::shared_ptr<spdlog::logger> logger_;
};

// A filter file in a folder of its own.
class WhitelistFile {
 public:
  explicit WhitelistFile(const std::vector<std::string>& lines) { replace(lines); }

  std::string path() const { return folder_.file("whitelist.bloom"); }

  // As an operator does it: a new file takes the old one's place.
  void replace(const std::vector<std::string>& lines) const { build_filter(path(), lines); }

  // As nobody should: what is mapped goes away under its readers.
  void truncate() const { std::filesystem::resize_file(path(), kHeaderBytes); }

  std::shared_ptr<const LoadedFilter> load() const { return std::make_shared<const LoadedFilter>(path(), false); }

 private:
  TemporaryFolder folder_;
};

// The parts that session threads use, with `joe@example.org` listed.
class Parts {
 public:
  Parts() {
    install_bus_fault_handler();
    slot.set(whitelist.load());
    context.gate = &gate;
    context.in_progress = &in_progress;
    context.log = log.logger();
    context.fallback_host = "fallback.example";
    set_callback_context(&context);
  }

  MemoryLog log;
  WhitelistFile whitelist{{"joe@example.org", "@corp.example"}};
  FilterSlot slot;
  int damage_reports = 0;
  Gate gate{slot, log.logger(), [this] { ++damage_reports; }};
  MessagesInProgress in_progress;
  CallbackContext context;
};

}  // namespace bloomgate::test
