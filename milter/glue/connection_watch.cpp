#include "milter/glue/connection_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

constexpr std::uint32_t kSecondsBetweenLooks = 5;
constexpr std::uint32_t kSecondsBetweenLines = 60;

// One for the connection, and one for a long message's temporary file or the checker's connection.
constexpr std::size_t kDescriptorsOfConnection = 2;
constexpr std::size_t kOtherDescriptors = 200;

}  // namespace

std::size_t make_room_for_connections(std::size_t connections) noexcept {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  const rlim_t wanted = connections * kDescriptorsOfConnection + kOtherDescriptors;
  if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
    const rlimit raised = {.rlim_cur = std::min(wanted, limit.rlim_max), .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur < kOtherDescriptors ? 0 : (limit.rlim_cur - kOtherDescriptors) / kDescriptorsOfConnection;
}

ConnectionWatch::Place::Place(ConnectionWatch* watch, int socket)
    : watch_(watch), socket_(watch != nullptr && watch->connections_.is_one(socket) ? socket : -1) {
  if (watch_ == nullptr) return;
  heard();
  is_within_limit_ = watch_->enter(*this);
}

ConnectionWatch::Place::~Place() {
  if (watch_ != nullptr) watch_->leave(*this);
}

void ConnectionWatch::Place::heard() noexcept {
  if (watch_ != nullptr) heard_.store(watch_->second_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void ConnectionWatch::Place::begin_work() noexcept {
  if (watch_ != nullptr) began_.store(watch_->second_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  heard_.store(kAtWork, std::memory_order_release);
}

bool ConnectionWatch::Place::hang_up() noexcept {
  return socket_ >= 0 && shutdown(socket_, SHUT_RDWR) == 0;
}

ConnectionWatch::ConnectionWatch(const Limits& limits, std::shared_ptr<spdlog::logger> log, Tally* tally)
    : log_(std::move(log)), tally_(tally), limits_(limits) {
  if (tally_ != nullptr) tally_->set_session_limit(limits.connections);
}

ConnectionWatch::~ConnectionWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wanted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// Reserves a descriptor while some are free: idle connections may use up all others.
void ConnectionWatch::listen_on(int listener) {
  reserve_.reset(fcntl(listener, F_DUPFD_CLOEXEC, 0));
  if (!reserve_.is_open()) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         "cannot duplicate the socket: " + std::generic_category().message(errno));
  }
  if (connections_.listen_on(listener)) return;
  log_->warn("connections that say nothing are not ended: /proc/self/fd: {}", std::strerror(errno));
}

void ConnectionWatch::start() {
  const HeldSignals held;
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!wanted_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; })) {
      lock.unlock();
      end_second();
      lock.lock();
    }
  });
}

void ConnectionWatch::set_limits(const Limits& limits) {
  const std::lock_guard lock(mutex_);
  const std::chrono::seconds before = limits_.longest_work;
  limits_ = limits;
  limits_.longest_work = std::max(before, limits.longest_work);
  if (tally_ != nullptr) tally_->set_session_limit(limits.connections);
}

bool ConnectionWatch::enter(Place& place) {
  const std::lock_guard lock(mutex_);
  places_.insert(&place);
  if (places_.size() <= limits_.connections) return true;
  ++turned_away_.unsaid;
  if (tally_ != nullptr) tally_->note_turned_away();
  return false;
}

void ConnectionWatch::leave(Place& place) noexcept {
  const std::lock_guard lock(mutex_);
  places_.erase(&place);
}

void ConnectionWatch::note_without_descriptor() noexcept {
  const std::lock_guard lock(mutex_);
  ++without_descriptor_.unsaid;
  if (tally_ != nullptr) tally_->note_without_descriptor();
}

void ConnectionWatch::note_unpaired_macros() noexcept {
  const std::lock_guard lock(mutex_);
  ++unpaired_macros_.unsaid;
  if (tally_ != nullptr) tally_->note_malformed();
}

void ConnectionWatch::end_second() noexcept {
  try {
    const std::uint32_t second = second_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (on_quiet_ && was_quiet()) on_quiet_();
    bool has_hung = false;
    {
      const std::lock_guard lock(mutex_);
      has_hung = hangs();
      cut_off_late();
      if (second % kSecondsBetweenLooks == 0 && connections_.can_be_found()) cut_off_silent();
    }
    if (!has_hung && pulse_) pulse_();
    say_whether_it_hangs(has_hung);
    say_all();
  } catch (const std::exception&) {
    // There is no memory for it now; the next second tries again.
  }
}

// In the second that has just ended. The daemon's own work is not a step.
bool ConnectionWatch::was_quiet() noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint32_t ended = second_.load(std::memory_order_relaxed) - 1;
  return std::none_of(places_.begin(), places_.end(), [ended](const Place* place) {
    const std::uint32_t heard = place->heard_.load(std::memory_order_relaxed);
    return heard != Place::kAtWork && heard >= ended;
  });
}

bool ConnectionWatch::hangs() const noexcept {
  const std::uint32_t now = second_.load(std::memory_order_relaxed);
  return std::any_of(places_.begin(), places_.end(), [this, now](const Place* place) {
    return place->heard_.load(std::memory_order_acquire) == Place::kAtWork &&
           std::chrono::seconds(now - place->began_.load(std::memory_order_relaxed)) > limits_.longest_work;
  });
}

void ConnectionWatch::say_whether_it_hangs(bool hangs) {
  if (hangs && !hang_was_said_) {
    log_->critical(
        "a thread hangs: a message takes longer than all that it may wait for; systemd's watchdog, where it is on "
        "(WatchdogSec= of the unit), starts the daemon again");
  }
  hang_was_said_ = hangs;
}

// A place is left before libmilter closes its socket, so the descriptor still belongs to that connection.
void ConnectionWatch::cut_off_late() {
  const std::uint32_t now = second_.load(std::memory_order_relaxed);
  for (Place* const place : places_) {
    const std::uint32_t heard = place->heard_.load(std::memory_order_relaxed);
    if (heard == Place::kAtWork || place->is_cut_off_ || std::chrono::seconds(now - heard) <= limits_.timeout) continue;
    place->is_cut_off_ = true;
    if (!place->hang_up()) continue;
    ++late_.unsaid;
    if (tally_ != nullptr) tally_->note_cut_off();
  }
}

void ConnectionWatch::cut_off_silent() {
  std::unordered_set<int> known = {reserve_.get()};
  for (const Place* const place : places_) known.insert(place->socket_);
  std::unordered_map<ino_t, Silent> seen;
  connections_.for_each([&](int descriptor) {
    if (!known.contains(descriptor)) look_at(descriptor, seen);
  });
  dup3(connections_.folder_descriptor(), reserve_.get(), O_CLOEXEC);  // releases the last connection
  silent_ = std::move(seen);
}

// libmilter may close the descriptor at any time, and the system may give its number to another file. So the code shuts
// down a duplicate, after checking it again.
void ConnectionWatch::look_at(int descriptor, std::unordered_map<ino_t, Silent>& seen) {
  struct stat status = {};
  if (dup3(descriptor, reserve_.get(), O_CLOEXEC) < 0 || !connections_.is_one(reserve_.get())) return;
  if (fstat(reserve_.get(), &status) != 0) return;
  const std::uint32_t now = second_.load(std::memory_order_relaxed);
  const auto before = silent_.find(status.st_ino);
  Silent& silent = seen[status.st_ino] = before == silent_.end() ? Silent{.since = now} : before->second;
  if (silent.is_cut_off || std::chrono::seconds(now - silent.since) < std::min(kFirstStep, limits_.timeout)) return;
  silent.is_cut_off = true;
  shutdown(reserve_.get(), SHUT_RDWR);
  ++never_spoke_.unsaid;
  if (tally_ != nullptr) tally_->note_cut_off();
}

template <class... Values>
void ConnectionWatch::say(Events& events, const char* text, const Values&... values) {
  std::uint64_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    const std::uint32_t now = second_.load(std::memory_order_relaxed);
    if (events.unsaid == 0 || (events.said_at != 0 && now - events.said_at < kSecondsBetweenLines)) return;
    events.said_at = now;
    count = std::exchange(events.unsaid, 0);
  }
  log_->warn(fmt::runtime(text), format_counted(count, "connection was", "connections were"), values...);
}

void ConnectionWatch::say_all() {
  Limits limits;
  {
    const std::lock_guard lock(mutex_);
    limits = limits_;
  }
  say(turned_away_,
      "max-connections: {} turned away, since {} were open; the mail server applies its "
      "milter_default_action",
      limits.connections);
  say(late_, "connection-timeout: {} ended, since no step of the protocol was completed for {} s",
      limits.timeout.count());
  say(never_spoke_, "{} ended, since nothing whole came in {} s", std::min(kFirstStep, limits.timeout).count());
  say(without_descriptor_,
      "{} turned away, since too few descriptors are left: raise their limit (LimitNOFILE= of the "
      "unit, ulimit -n), or lower max-connections; the mail server then applies its milter_default_action");
  say(unpaired_macros_, "{} ended, since a mail server sent the name of a macro without its value");
}

}  // namespace bloomgate
