#include "milter/names/server_watch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "milter/names/server_probe.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr auto kUsualTime = 200ms;   // an answer that takes longer is worth a probe
constexpr auto kLongTime = 1s;       // and one that takes longer than that is evidence
constexpr auto kProbeInterval = 1s;  // at least, from one probe's start to the next one's
constexpr auto kProbePatience = 2s;
constexpr auto kEvidenceLasts = 30s;
constexpr std::size_t kMostNames = 1000;

}  // namespace

ServerWatch::ServerWatch(std::vector<NameServer> servers, std::function<void(bool)> on_change)
    : servers_(std::move(servers)), on_change_(std::move(on_change)), stop_event_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_event_.is_open()) throw std::system_error(errno, std::generic_category(), "cannot watch the name servers");
  if (!servers_.empty()) thread_ = std::thread([this] { run(); });
}

void ServerWatch::add(const std::shared_ptr<AwaitedAnswer>& answer) {
  if (servers_.empty()) return;
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return;
  started_.push_back(answer);
  if (started_.size() == 1) changed_.notify_one();
}

void ServerWatch::want(const std::string& name) {
  const std::lock_guard lock(mutex_);
  wanted_ = name;
}

void ServerWatch::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(stop_event_.get(), &one, sizeof one));
  changed_.notify_one();
  thread_.join();
  is_failing_ = false;
}

void ServerWatch::run() noexcept {
  while (true) {
    try {
      watch();
      return;
    } catch (const std::exception&) {
      // No memory: what was seen is forgotten.
      const std::lock_guard lock(mutex_);
      started_.clear();
      unanswered_.clear();
    }
  }
}

// False if the watch is to end.
bool ServerWatch::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (!is_failing()) changed_.wait(lock, [this] { return is_stopping_ || !started_.empty(); });
  // A look-up is usually over by then.
  changed_.wait_for(lock, kUsualTime, [this] { return is_stopping_; });
  return !is_stopping_;
}

bool ServerWatch::needs_probe(Clock::time_point now) {
  bool is_unusual = is_failing();
  for (auto each = started_.begin(); each != started_.end();) {
    const std::optional<TxtStatus> status = (*each)->status();
    const auto age = now - (*each)->start();
    const bool is_late = !status && age >= kUsualTime;
    const bool has_failed = status == TxtStatus::server_failed || status == TxtStatus::timed_out;
    is_unusual = is_unusual || is_late || has_failed;
    if ((has_failed || (!status && age >= kLongTime)) && unanswered_.size() < kMostNames) {
      unanswered_[(*each)->name()] = now;
    }
    each = status ? started_.erase(each) : std::next(each);
  }
  std::erase_if(unanswered_, [now](const auto& each) { return now - each.second > kEvidenceLasts; });
  return is_unusual;
}

void ServerWatch::watch() {
  Clock::time_point last_probe{};
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    const Clock::time_point now = Clock::now();
    if (!needs_probe(now) || now - last_probe < kProbeInterval) continue;
    last_probe = now;
    const std::string name = is_failing() ? wanted_ : std::string();
    lock.unlock();
    const ServersState state = probe_servers(servers_, name, kProbePatience, stop_event_.get());
    lock.lock();
    if (is_stopping_) return;
    if (state == ServersState::answering) unanswered_.clear();
    needs_probe(Clock::now());
    const bool fails = state == ServersState::unreachable ||
                       (state == ServersState::silent && (is_failing() || unanswered_.size() >= kLeastNames));
    const bool is_change = fails != is_failing();
    is_failing_ = fails;
    if (fails) {
      for (const auto& each : started_) each->set({.status = TxtStatus::not_asked});
      started_.clear();
    }
    if (!is_change || !on_change_) continue;
    lock.unlock();
    on_change_(fails);
    lock.lock();
  }
}

}  // namespace bloomgate
