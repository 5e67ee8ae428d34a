#include "milter/supervisor.hpp"

#include <chrono>

#include "config/printable.hpp"
#include "filter/error.hpp"
#include "milter/service_status.hpp"

namespace bloomgate {

void Supervisor::load_first(bool allow_missing) {
  try {
    load();
  } catch (const BloomgateError& error) {
    if (!allow_missing) throw;
    log_->warn("starting without a whitelist, all mail is sent to the deeper checks: {}", printable(error.what()));
  }
}

bool Supervisor::run() {
  notify_ready(current_status());
  for (;;) {
    const Wakeup::Events events = wakeup_.wait();
    if ((events & (Wakeup::kStop | Wakeup::kMilterEnded)) != 0) {
      notify_stopping();
      return (events & Wakeup::kMilterEnded) == 0;
    }
    if ((events & Wakeup::kDamage) != 0) report_damage();
    if ((events & Wakeup::kReload) != 0) reload();
  }
}

void Supervisor::reload() {
  log_->info("loading {} again", printable(path_));
  notify_reloading();
  try {
    load();
    notify_ready(current_status());
  } catch (const std::exception& error) {
    // Neither a bad file nor a lack of memory for it may end a daemon that has a good whitelist.
    const std::string why = printable(error.what());
    const std::string status = current_status();
    log_->error("reload refused: {}; still {}", why, status);
    notify_ready("reload refused: " + why + "; still " + status);
  }
}

void Supervisor::load() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  auto loaded = std::make_shared<const LoadedFilter>(path_, lock_);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  log_->info("loaded {}, {}in {:.3f} s", loaded->description(), lock_ ? "locked in memory, " : "", seconds);
  slot_.set(std::move(loaded));
}

void Supervisor::report_damage() const {
  const std::string status = current_status();
  log_->error("{}", status);
  notify_status(status);
}

std::string Supervisor::current_status() const {
  return service_status(slot_.get().get());
}

}  // namespace bloomgate
