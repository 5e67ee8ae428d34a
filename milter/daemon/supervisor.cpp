#include "milter/daemon/supervisor.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "milter/learning/logger.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

// A file is loaded when nothing has changed for a moment, since editors change it in several steps. But a program that
// keeps changing it must not delay this for ever.
constexpr std::chrono::milliseconds kQuiet{200};
constexpr std::chrono::milliseconds kLongestUnrest{2000};
constexpr std::chrono::milliseconds kLookForFolder{1000};

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

void append(std::vector<std::string>& all, const std::vector<std::string>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

}  // namespace

Supervisor::Supervisor(DaemonOptions options, ListSlot& slot, Wakeup& wakeup, const ResultsWatch& results,
                       std::shared_ptr<spdlog::logger> log, ReadSettings read_settings, Monitor* monitor)
    : options_(std::move(options)),
      slot_(slot),
      wakeup_(wakeup),
      results_(results),
      log_(std::move(log)),
      read_settings_(std::move(read_settings)),
      monitor_(monitor),
      loader_(log_),
      watch_(exact_list_paths(options_)),
      guard_(make_guard(options_)) {}

std::unique_ptr<FilterGuard> Supervisor::make_guard(const DaemonOptions& options) const {
  return std::make_unique<FilterGuard>(options.recheck_bytes_per_hour, [this] { wakeup_.post(Wakeup::kDamage); });
}

void Supervisor::load_first() {
  put_into_use(loader_.load({.wanted = options_}));
  look_at_folders(options_);
  look_for_replaced();  // which may have arrived while the others were loaded
  tell_monitor({});
}

bool Supervisor::run() {
  notify_ready(current_status());
  for (;;) {
    const Wakeup::Events events = wakeup_.wait(watch_.descriptor(), longest_wait());
    if ((events & (Wakeup::kStop | Wakeup::kMilterEnded)) != 0) {
      notify_stopping();
      return (events & Wakeup::kMilterEnded) == 0;
    }
    handle(events);
    note_changes();
  }
}

void Supervisor::handle(Wakeup::Events events) {
  if ((events & Wakeup::kDamage) != 0) report_damage();
  if ((events & Wakeup::kResults) != 0) report_results();
  if ((events & Wakeup::kLearning) != 0) notify_status(current_status());
  if ((events & Wakeup::kReload) != 0) reload();
}

void Supervisor::note_changes() {
  const bool can_see_again = is_blind_ && watch_.refresh().empty();
  if (can_see_again) is_blind_ = false;
  if (can_see_again || (watch_.descriptor() >= 0 && watch_.take_events())) note_change();
  if (Clock::now() >= next_look_) look_for_replaced();
  if (const auto left = longest_wait(); first_change_ && left && left->count() <= 0) reload_changed();
}

void Supervisor::look_for_replaced() {
  next_look_ = Clock::now() + kLookForWhitelists;
  drop_overdue();
  if (auto remembered = ListLoader::with_remembered(options_, slot_.get()->parts())) set_lists(*std::move(remembered));
  if (std::ranges::any_of(options_.whitelists, [this](const auto& each) { return loader_.is_replaced(each); }))
    note_change();
}

// This happens as time passes, without any event.
void Supervisor::drop_overdue() {
  auto loaded = loader_.without_overdue(options_, slot_.get()->parts(), std::chrono::system_clock::now());
  if (!loaded) return;
  put_into_use(*std::move(loaded));
  notify_status(current_status());
}

void Supervisor::note_change() {
  last_change_ = Clock::now();
  if (!first_change_) first_change_ = last_change_;
}

std::optional<std::chrono::milliseconds> Supervisor::longest_wait() const {
  if (!first_change_ && is_blind_) return kLookForFolder;
  const Clock::time_point due =
      first_change_ ? std::min(last_change_ + kQuiet, *first_change_ + kLongestUnrest) : next_look_;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()), std::chrono::milliseconds(0));
}

// Files are watched before they are read: a change from now on counts as a new one.
void Supervisor::reload() {
  const std::int64_t began = monotonic_microseconds();
  notify_reloading(began);
  first_change_.reset();
  std::vector<std::string> faults;
  std::optional<NewSettings> settings = read_again(faults);
  std::optional<ListLoader::Loaded> loaded;
  if (settings) {
    look_at_folders(settings->options);
    loaded = load(settings->options, ReadWhitelists::all);
    append(faults, loaded->refused);
  }
  if (loaded && loaded->are_usable) {
    take_in(*std::move(settings));
  } else {
    look_at_folders(options_);
    loaded = load(options_, ReadWhitelists::none);
  }
  // The fault of an exact list in use ends as soon as its file is valid again (exact-list-lost reports it).
  const std::string refusal = joined(faults);
  append(faults, loaded->lost);
  put_into_use(*std::move(loaded));
  std::string status = current_status();
  if (!faults.empty()) {
    status = fmt::format("reload refused: {}; still {}", joined(faults), status);
    log_->error("{}", status);
  }
  if (monitor_ != nullptr) monitor_->note_reload(faults.empty());
  tell_monitor(refusal);
  notify_ready(status);
  tell_outcome({began, faults.empty(), std::move(status)});
}

void Supervisor::reload_changed() {
  first_change_.reset();
  look_at_folders(options_);
  ListLoader::Loaded loaded = load(options_, ReadWhitelists::replaced);
  const std::vector<std::string> refused = loaded.refused;
  std::vector<std::string> all_refused = refused;  // another valid whitelist does not fix these
  append(all_refused, loaded.still_refused);
  std::vector<std::string> faults = loaded.lost;
  append(faults, refused);
  const bool was_tried = loaded.tried_whitelists;
  if (was_tried) {
    put_into_use(std::move(loaded));
  } else {
    set_lists(std::move(loaded));
  }
  const std::string status = current_status();
  if (!faults.empty()) log_->error("{}; {}", joined(faults), status);
  if (was_tried) {
    if (monitor_ != nullptr) monitor_->note_reload(refused.empty());
    tell_monitor(joined(all_refused));
  }
  notify_status(status);
}

ListLoader::Loaded Supervisor::load(const DaemonOptions& wanted, ReadWhitelists whitelists) {
  return loader_.load({.wanted = wanted, .whitelists = whitelists, .known = &options_, .in_use = slot_.get()->parts()});
}

std::optional<NewSettings> Supervisor::read_again(std::vector<std::string>& faults) const {
  try {
    return read_settings_ ? read_settings_() : NewSettings{.options = options_};
  } catch (const std::exception& error) {
    faults.push_back(printable(error.what()));
    return std::nullopt;
  }
}

void Supervisor::take_in(NewSettings settings) {
  if (settings.options.recheck_bytes_per_hour != options_.recheck_bytes_per_hour) {
    guard_ = make_guard(settings.options);
  }
  options_ = std::move(settings.options);
  if (settings.put_into_use) settings.put_into_use();
  waits_for_restart_ = fmt::format("{}", fmt::join(settings.wait_for_restart, ", "));
  if (waits_for_restart_.empty()) return;
  log_->warn("these options have changed and take effect at a restart only (systemctl restart bloomgate-milter): {}",
             waits_for_restart_);
}

void Supervisor::tell_outcome(const ReloadOutcome& outcome) const {
  const std::string folder = runtime_folder();
  if (folder.empty()) return;
  try {
    write_reload_outcome(folder, outcome);
  } catch (const BloomgateError& error) {
    log_->error("the outcome of the reload cannot be reported to the command reload: {}", printable(error.what()));
  }
}

void Supervisor::set_lists(ListLoader::Loaded loaded) {
  slot_.set(std::make_shared<const LoadedLists>(std::move(loaded.lists)));
  for (const ListLoader::Line& line : loaded.lines) {
    log_->log(line.is_warning ? spdlog::level::warn : spdlog::level::info, "{}", line.text);
  }
}

void Supervisor::put_into_use(ListLoader::Loaded loaded) {
  FilterGuard::Filters filters;
  for (const NamedFilter& each : loaded.lists.whitelists) filters.push_back(each.filter);
  set_lists(std::move(loaded));
  if (const std::string rate = message_rate(*slot_.get(), options_.identity); !rate.empty()) log_->info("{}", rate);
  for (const std::string& path : guard_->watch(std::move(filters))) {
    log_->warn("cannot watch {} (inotify): should somebody write to it in place, the next message shows",
               printable(path));
  }
}

void Supervisor::look_at_folders(const DaemonOptions& options) {
  is_blind_ = false;
  for (const std::string& folder : watch_.watch_instead(all_list_paths(options))) {
    log_->error("cannot watch {}: its lists are read at a reload, or when it is there again", printable(folder));
    is_blind_ = true;
  }
}

void Supervisor::report_damage() const {
  const std::string status = current_status();
  log_->error("{}", status);
  notify_status(status);
}

void Supervisor::report_results() const {
  if (results_.missing()) {
    log_->warn("{}", kNoTrustedResults);
  } else {
    log_->info("trusted results of authentication arrive again");
  }
  notify_status(current_status());
}

void Supervisor::tell_monitor(std::string refusal) const {
  if (monitor_ == nullptr) return;
  monitor_->set_standing({options_.identity, waits_for_restart_, std::move(refusal)});
}

// Faults come first: the doctor looks for them there.
std::string Supervisor::current_status() const {
  std::string status;
  if (results_.missing()) status.append(kNoTrustedResults).append("; ");
  if (const std::string fault = learning_fault_ ? learning_fault_() : ""; !fault.empty()) {
    status.append(kNothingIsLearned).append(printable(fault)).append("; ");
  }
  if (!waits_for_restart_.empty()) status.append(kWaitsForRestart).append(waits_for_restart_).append("; ");
  return status.append(service_status(*slot_.get(), options_.identity));
}

}  // namespace bloomgate
