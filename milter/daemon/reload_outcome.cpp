#include "milter/daemon/reload_outcome.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>
#include <system_error>

#include "filter/base/error.hpp"
#include "filter/system/replacement.hpp"
#include "milter/lists/file_watch.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kAccepted = "accepted";
constexpr std::string_view kRefused = "refused";

// How often the reload checks whether the daemon is still alive: its end leaves no trace in the folder.
constexpr std::chrono::milliseconds kLookAfterDaemon{500};

std::string outcome_path(const std::string& folder) {
  return folder + "/reload";
}

}  // namespace

std::int64_t monotonic_microseconds() noexcept {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000} + now.tv_nsec / 1000;
}

std::string runtime_folder() {
  const char* const folders = std::getenv("RUNTIME_DIRECTORY");
  if (folders == nullptr) return {};
  const std::string_view all = folders;
  return std::string(all.substr(0, all.find(':')));
}

void write_reload_outcome(const std::string& folder, const ReloadOutcome& outcome) {
  constexpr mode_t kMode = 0644;
  replace_file(
      outcome_path(folder),
      fmt::format("{}\n{}\n{}\n", outcome.began_microseconds, outcome.accepted ? kAccepted : kRefused, outcome.text),
      kMode);
}

std::optional<ReloadOutcome> read_reload_outcome(const std::string& folder) {
  std::ifstream file(outcome_path(folder));
  ReloadOutcome outcome;
  std::string verdict;
  if (!(file >> outcome.began_microseconds >> verdict)) return std::nullopt;
  file.ignore();
  if (verdict != kAccepted && verdict != kRefused) return std::nullopt;
  if (!std::getline(file, outcome.text)) return std::nullopt;
  outcome.accepted = verdict == kAccepted;
  return outcome;
}

ReloadOutcome request_reload(pid_t daemon, const std::string& folder) {
  FileWatch watch({outcome_path(folder)});
  const std::int64_t asked = monotonic_microseconds();
  if (kill(daemon, SIGUSR1) != 0) {
    throw BloomgateError(ErrorCode::not_permitted, "cannot ask process " + std::to_string(daemon) +
                                                       " to reload: " + std::generic_category().message(errno));
  }
  for (;;) {
    watch.take_events();
    if (auto outcome = read_reload_outcome(folder); outcome && outcome->began_microseconds >= asked) {
      return *std::move(outcome);
    }
    if (kill(daemon, 0) != 0) {
      throw BloomgateError(ErrorCode::library_failed,
                           "process " + std::to_string(daemon) + " ended before it had reloaded; see its log");
    }
    pollfd change = {watch.descriptor(), POLLIN, 0};
    poll(&change, 1, static_cast<int>(kLookAfterDaemon.count()));
  }
}

}  // namespace bloomgate
