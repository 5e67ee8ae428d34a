// The daemon's life after its start: waits for events, takes in the configuration and the lists again when asked, and
// lists that have been changed or replaced, and ends when told to. Runs in the main thread. Sessions run in libmilter's
// threads and see only the slot's content.
#pragma once

#include <spdlog/fwd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/daemon_options.hpp"
#include "filter/system/file_stamp.hpp"
#include "milter/daemon/reload_outcome.hpp"
#include "milter/daemon/wakeup.hpp"
#include "milter/judge/results_watch.hpp"
#include "milter/lists/file_watch.hpp"
#include "milter/lists/filter_guard.hpp"
#include "milter/lists/list_slot.hpp"
#include "milter/monitoring/monitor.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

// Where the lists come from.
struct ListSources {
  std::vector<WhitelistSource> whitelists;
  std::string revoked = {};                  // a path; empty: none
  std::string extra = {};                    // a path; empty: none
  std::string opt_out = {};                  // a path; empty: none
  bool lock_memory = false;                  // see LoadedFilter
  bool allow_missing = false;                // start even if a whitelist cannot be used
  bool allow_shrunken = false;               // take one of less than a tenth of the entries of that in use
  std::uint64_t recheck_bytes_per_hour = 0;  // see FilterGuard
  // For the rate that log and status tell.
  IdentityRule identity = IdentityRule::either;
};

// Where an exact list comes from, and where it goes to.
struct ExactListPlace {
  std::string_view name;  // of its option
  ListOf of;
  std::string ListSources::* path;
  ExactListPart ListParts::* part;
};

// What the configuration says at a reload.
struct NewSettings {
  ListSources sources;
  std::function<void()> put_into_use = nullptr;         // what is not about lists; must not throw
  std::vector<std::string_view> wait_for_restart = {};  // options that have changed, and cannot be taken in
};

// Reads the configuration again. Throws if it cannot be used.
using ReadSettings = std::function<NewSettings()>;

class Supervisor {
 public:
  // The references must outlive the object, as must `monitor`; null: nobody watches. Without `read_settings` a reload
  // is about lists only. Throws what FileWatch throws.
  Supervisor(ListSources sources, ListSlot& slot, Wakeup& wakeup, const ResultsWatch& results,
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

  // What there is of a whitelist: its filter, and its store. Nothing where there is no file.
  struct Files {
    std::optional<FileStamp> filter;
    std::optional<FileStamp> store;
    std::vector<std::pair<std::string, std::optional<FileStamp>>> layers;  // instead of them: of a folder
    bool are_there() const noexcept { return filter || !layers.empty(); }
    friend bool operator==(const Files&, const Files&) = default;
  };
  static Files files_of(const WhitelistSource& source);

  void handle(Wakeup::Events events);
  void note_changes();
  void note_change();
  void watch_again();
  void look_at_folders();
  void put_into_use(ListParts lists);
  void set_lists(ListParts lists);
  void look_for_replaced();
  bool is_replaced(const WhitelistSource& source) const;
  bool load_replaced(ListParts& lists, std::vector<std::string>& faults);  // whether one was tried
  std::optional<NewSettings> read_again(std::vector<std::string>& faults) const;
  std::optional<ListParts> load_again(const ListSources& wanted, std::vector<std::string>& faults);
  enum class Reuse : std::uint8_t { none, sound_layers };
  bool load_again(const WhitelistSource& source, std::vector<NamedFilter>& filters, Reuse reuse, bool may_shrink,
                  std::vector<std::string>& faults);
  void take_in(NewSettings settings);
  std::unique_ptr<FilterGuard> make_guard(const ListSources& sources) const;
  void tell_outcome(const ReloadOutcome& outcome) const;
  std::optional<std::chrono::milliseconds> longest_wait() const;
  std::vector<NamedFilter> load_whitelist(const WhitelistSource& source, const std::vector<NamedFilter>& in_use = {});
  std::vector<NamedFilter> open_whitelist(const WhitelistSource& source, const std::vector<NamedFilter>& in_use) const;
  ExactListPart load_exact(const ExactListPlace& place, const std::string& path);
  void reload_exact(ListParts& lists, std::vector<std::string>& faults);
  void reload_exact(const ExactListPlace& place, ListParts& lists, std::vector<std::string>& faults);
  void report_damage() const;
  void report_results() const;
  std::string current_status() const;
  void tell_monitor(std::string refusal) const;

  ListSources sources_;
  ListSlot& slot_;
  Wakeup& wakeup_;
  const ResultsWatch& results_;
  std::shared_ptr<spdlog::logger> log_;
  const ReadSettings read_settings_;
  Monitor* const monitor_;
  std::function<std::string()> learning_fault_;
  FilterCheck check_ = FilterCheck::all;  // at the start nobody is served yet
  FileWatch watch_;
  std::unique_ptr<FilterGuard> guard_;
  std::string waits_for_restart_;  // for the status; empty: nothing does
  bool is_blind_ = false;          // a folder cannot be watched
  // What is to be logged of lists that were read: once they are in use, since who reads it relies on it.
  std::vector<std::string> loaded_;
  std::map<std::string, Files> tried_;  // by the path of the filter: what was there when it was last to be loaded
  Clock::time_point next_look_ = Clock::now() + kLookForWhitelists;
  // The first and the last of a series of changes.
  std::optional<Clock::time_point> first_change_;
  Clock::time_point last_change_;
};

}  // namespace bloomgate
