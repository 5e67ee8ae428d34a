#include "filter/cli/watch.hpp"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "filter/cli/stop_signal.hpp"

namespace bloomgate::cli {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kMostSeconds = 86'400;
constexpr std::chrono::seconds kLongestPause = 60s;

// False if a signal came first.
bool pause_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!stop_flag()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    poll(nullptr, 0, static_cast<int>(left.count()));  // a signal ends it
  }
  return false;
}

}  // namespace

std::chrono::seconds watch_interval(unsigned seconds) {
  if (seconds >= 1 && seconds <= kMostSeconds) return std::chrono::seconds(seconds);
  throw UsageError("--watch takes from 1 to " + std::to_string(kMostSeconds) + " seconds");
}

void watch(std::chrono::seconds interval, JobObserver& observer, std::string_view recovered,
           const std::function<void()>& look) {
  std::chrono::milliseconds pause = interval;
  std::string last_fault;
  do {
    try {
      look();
      pause = interval;
      if (!std::exchange(last_fault, {}).empty()) observer.note(recovered);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      if (stop_flag()) return;
      if (std::exchange(last_fault, error.what()) != error.what()) observer.warn(error.what());
      pause = std::min<std::chrono::milliseconds>(2 * pause, std::max(kLongestPause, interval));
    }
  } while (pause_for(pause));
}

}  // namespace bloomgate::cli
