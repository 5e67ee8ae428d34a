#include "filter/cli/stop_signal.hpp"

#include <csignal>

namespace bloomgate::cli {
namespace {

std::atomic<bool> stop{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void on_signal(int number) noexcept {
  signal_number.store(number);
  stop.store(true);
}

bool install_handlers() noexcept {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a blocked read(2) must return
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Not under nohup(1), which ignores SIGHUP.
  struct sigaction hangup = {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  return true;
}

}  // namespace

const std::atomic<bool>& stop_flag() {
  // Once: a later call must not set anew what the first signal has reset, or the second would not end the program.
  static const bool are_installed = install_handlers();
  static_cast<void>(are_installed);
  return stop;
}

int stop_signal() noexcept {
  return signal_number.load();
}

}  // namespace bloomgate::cli
