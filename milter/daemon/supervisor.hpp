// The daemon's life after its start: waits for events, takes in the configuration and the lists again when asked, and
// lists that have been changed or replaced, and ends when told to. ListLoader loads them. Runs in the main thread.
// Sessions run in libmilter's threads and see only the slot's content.
#pragma once

#include <spdlog/fwd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milter/daemon/list_loader.hpp"
#include "milter/daemon/reload_outcome.hpp"
#include "milter/daemon/wakeup.hpp"
#include "milter/judge/results_watch.hpp"
#include "milter/lists/file_watch.hpp"
#include "milter/lists/filter_guard.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// What the configuration says at a reload.
struct NewSettings {
  DaemonOptions options = {};
  std::function<void()> put_into_use = nullptr;         // what is not about lists; must not throw
  std::vector<std::string_view> wait_for_restart = {};  // options that have changed, and cannot be taken in
};

// Reads the configuration again. Throws if it cannot be used.
using ReadSettings = std::function<NewSettings()>;

class Supervisor {
 public:
  // The references must outlive the object, as must `monitor`; null: nobody watches. Without `read_settings` a reload
  // is about lists only. Throws what FileWatch throws.
  Supervisor(DaemonOptions options, ListSlot& slot, Wakeup& wakeup, const ResultsWatch& results,
             std::shared_ptr<spdlog::logger> log, ReadSettings read_settings = nullptr, Monitor* monitor = nullptr);

  // For the status, from the main thread before run(): why nothing is learned; empty: nothing is wrong.
  void set_learning_fault(std::function<std::string()> fault) { learning_fault_ = std::move(fault); }

  // The first load. Throws BloomgateError if a list cannot be used. If a whitelist may be missing, it only logs that,
  // and the slot has no whitelist. It is loaded as soon as its file is there and good.
  void load_first();

  // Tells systemd that the daemon is ready, and handles events until the daemon is to end. Returns whether it was told
  // to end; otherwise libmilter has ended by itself.
  bool run();

  // Reads the configuration and loads all lists again. If the configuration cannot be used, or a list that is new in
  // it, everything stays as it is, but for changed exact lists. If a whitelist in use cannot be used any more, the slot
  // keeps what it has; but a whitelist is damaged if the file that is refused is the very file in use. What became of
  // it is left in the runtime folder (reload_outcome.hpp).
  void reload();

  // The same for lists that have changed: revoked, extra and opt-out, which are read whenever anything changes, and
  // whitelists of which another file, or another store, is there than at the last attempt to load them; so a file that
  // was refused is not read again and again. An exact list that can no longer be used is not kept: the operator may
  // just have revoked somebody, or taken somebody out of extra. Without revoked or opt-out the daemon delivers no
  // message.
  void reload_changed();

  // How often the supervisor looks for whitelists that no event has told of: their folder may be reached through a link
  // that leads elsewhere now, or be on a file system of another machine. One stat(2) for each file.
  static constexpr std::chrono::milliseconds kLookForWhitelists{10'000};

 private:
  using Clock = std::chrono::steady_clock;

  void handle(Wakeup::Events events);
  void note_changes();
  void note_change();
  void look_at_folders(const DaemonOptions& options);
  void put_into_use(ListLoader::Loaded loaded);
  void set_lists(ListLoader::Loaded loaded);
  void look_for_replaced();
  void drop_overdue();
  std::optional<NewSettings> read_again(std::vector<std::string>& faults) const;
  ListLoader::Loaded load(const DaemonOptions& wanted, ReadWhitelists whitelists);
  void take_in(NewSettings settings);
  std::unique_ptr<FilterGuard> make_guard(const DaemonOptions& options) const;
  void tell_outcome(const ReloadOutcome& outcome) const;
  std::optional<std::chrono::milliseconds> longest_wait() const;
  void report_damage() const;
  void report_results() const;
  std::string current_status() const;
  void tell_monitor(std::string refusal) const;

  DaemonOptions options_;
  ListSlot& slot_;
  Wakeup& wakeup_;
  const ResultsWatch& results_;
  std::shared_ptr<spdlog::logger> log_;
  const ReadSettings read_settings_;
  Monitor* const monitor_;
  std::function<std::string()> learning_fault_;
  ListLoader loader_;
  FileWatch watch_;
  std::unique_ptr<FilterGuard> guard_;
  std::string waits_for_restart_;  // for the status; empty: nothing does
  bool is_blind_ = false;          // a folder cannot be watched
  Clock::time_point next_look_ = Clock::now() + kLookForWhitelists;
  // The first and the last of a series of changes.
  std::optional<Clock::time_point> first_change_;
  Clock::time_point last_change_;
};

}  // namespace bloomgate
