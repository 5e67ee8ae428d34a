#include "milter/daemon/wakeup.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

constexpr std::array kSignals = {SIGUSR1, SIGTERM, SIGINT, SIGHUP};

std::atomic<Wakeup*> signal_target{nullptr};
static_assert(std::atomic<Wakeup*>::is_always_lock_free && std::atomic<Wakeup::Events>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  const int saved_errno = errno;
  if (Wakeup* const target = signal_target.load()) target->post(signal == SIGUSR1 ? Wakeup::kReload : Wakeup::kStop);
  errno = saved_errno;
}

void change_mask(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  pthread_sigmask(how, &set, nullptr);
}

}  // namespace

Wakeup::Wakeup() : eventfd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!eventfd_.is_open()) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         "cannot make an eventfd: " + std::generic_category().message(errno));
  }
}

void Wakeup::post(Events events) noexcept {
  pending_.fetch_or(events);
  const std::uint64_t one = 1;
  // Cannot fail: the counter holds more events than a machine can post.
  static_cast<void>(!write(eventfd_.get(), &one, sizeof one));
}

Wakeup::Events Wakeup::wait(int descriptor, std::optional<std::chrono::milliseconds> limit) noexcept {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Events events = 0;
  while ((events = pending_.exchange(0)) == 0) {
    int milliseconds = -1;
    if (limit) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(start + *limit - Clock::now());
      if (left.count() <= 0) break;
      milliseconds = static_cast<int>(left.count());
    }
    std::array<pollfd, 2> posted = {pollfd{.fd = eventfd_.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = descriptor, .events = POLLIN, .revents = 0}};
    poll(posted.data(), posted.size(), milliseconds);  // a signal interrupts it, which has the same effect
    std::uint64_t count = 0;
    static_cast<void>(!read(eventfd_.get(), &count, sizeof count));
    if (posted[1].revents != 0) return pending_.exchange(0);
  }
  return events;
}

void route_signals(Wakeup& wakeup) {
  signal_target.store(&wakeup);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

void hold_signals() {
  change_mask(SIG_BLOCK);
}

void release_signals() {
  change_mask(SIG_UNBLOCK);
}

}  // namespace bloomgate
