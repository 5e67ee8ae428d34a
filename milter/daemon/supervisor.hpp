// The daemon's life after its start. The supervisor waits for events. When asked, it reads the configuration and the
// lists again, and it loads lists that were changed or replaced. It ends when told to. ListLoader loads the lists. Runs
// in the main thread. Sessions run in libmilter's threads and see only the content of the slot.
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

// What the configuration says after a reload.
struct NewSettings {
  DaemonOptions options = {};
  std::function<void()> put_into_use = nullptr;         // what is not about lists; must not throw
  std::vector<std::string_view> wait_for_restart = {};  // changed options that a running daemon cannot apply
};

// Reads the configuration again. Throws if it is unusable.
using ReadSettings = std::function<NewSettings()>;

class Supervisor {
 public:
  // The references must outlive the object, and so must `monitor`, if it is not null (null: there is no monitoring).
  // Without `read_settings` a reload is about lists only. Throws what FileWatch throws.
  Supervisor(DaemonOptions options, ListSlot& slot, Wakeup& wakeup, const ResultsWatch& results,
             std::shared_ptr<spdlog::logger> log, ReadSettings read_settings = nullptr, Monitor* monitor = nullptr);

  // For the status: `fault` returns why nothing is learned, or an empty text if there is no fault. To be called from
  // the main thread before run().
  void set_learning_fault(std::function<std::string()> fault) { learning_fault_ = std::move(fault); }

  // The first load. Throws BloomgateError if a list cannot be used. If a whitelist may be missing, load_first() only
  // logs the error, and the slot has no such whitelist. The whitelist is loaded as soon as its file exists and is
  // valid.
  void load_first();

  // Notifies systemd that the daemon is ready, and handles events until the daemon has to end. Returns true if it was
  // told to end, and false if libmilter has ended by itself.
  bool run();

  // Reads the configuration and loads all lists again. If the configuration is unusable, or a list that is new in it
  // is, everything stays unchanged, except that changed exact lists are used. If a whitelist in use cannot be loaded
  // any more, the slot keeps the loaded one; that one is marked damaged if the refused file is the very file in use.
  // The outcome of the reload is written into the runtime folder (reload_outcome.hpp).
  void reload();

  // The same for lists that have changed. The exact lists revoked, extra and opt-out are read whenever anything
  // changes. A whitelist is read if its file or its store differs from the last attempt to load it; so a refused file
  // is not read again and again. If an exact list can no longer be used, its old content is dropped, since the operator
  // may just have revoked a sender, or removed one from extra. Without revoked or opt-out the daemon delivers no
  // message.
  void reload_changed();

  // How often the supervisor looks for new whitelist files that caused no event: the path to their folder may have a
  // link that now points elsewhere, or the folder may be on another machine's file system. Costs one stat(2) for each
  // file.
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
  std::string waits_for_restart_;  // for the status; empty: no option does
  bool is_blind_ = false;          // a folder cannot be watched
  Clock::time_point next_look_ = Clock::now() + kLookForWhitelists;
  // The first and the last change of a series.
  std::optional<Clock::time_point> first_change_;
  Clock::time_point last_change_;
};

}  // namespace bloomgate
