// What the running daemon knows about itself, for monitoring: counts, the last decisions, and what happened in each
// minute of the last hours and in each quarter of an hour of the last month. Sessions and the supervisor report events
// to it; the pages are made from it. There is one, or none if the option `metrics` is not set.
//
// Safe from any thread, except where a comment says otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/brake/brake.hpp"
#include "milter/health/health_counts.hpp"
#include "milter/learning/learner.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/monitoring/decision_history.hpp"
#include "milter/monitoring/last_decisions.hpp"
#include "milter/monitoring/rate_probes.hpp"
#include "milter/monitoring/tally.hpp"
#include "milter/monitoring/unproven_domains.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

// What the supervisor knows besides the lists.
struct Standing {
  IdentityRule identity = IdentityRule::either;
  std::string waits_for_restart = {};  // names of options; empty: none
  std::string refused_reload = {};     // why the last reload was refused; empty: it was accepted
};

// The counts since the start.
MessageCounts messages_of(const Tally& tally) noexcept;

class Monitor {
 public:
  using SystemClock = std::chrono::system_clock;

  // Where it gets data when a page is made. All functions must be safe from any thread.
  struct Sources {
    const ListSlot& lists;  // must outlive the monitor
    std::function<bool()> results_missing;
    std::function<Learner::Status()> learning = nullptr;  // empty: nothing is learned
    std::function<Brake::Status()> brake = nullptr;       // empty: no sender is held
    std::function<std::uint64_t()> lost_log_lines;
  };

  explicit Monitor(Sources sources) : sources_(std::move(sources)), started_at_(SystemClock::now()) {}

  // For sessions' threads. These functions never wait, and allocate nothing.
  void note_message(const Facts& facts, const Decision& decision, std::string_view queue_id, double seconds) noexcept {
    tally_.note_message(decision, seconds);
    last_.note(facts, decision, queue_id, false);
    unproven_.note(facts, decision);
  }
  void note_refusal(const Facts& facts, const Decision& decision, std::string_view queue_id) noexcept {
    tally_.note_refusal();
    last_.note(facts, decision, queue_id, true);
  }
  Tally& tally() noexcept { return tally_; }

  // For the supervisor's thread. Throws std::bad_alloc.
  void set_standing(Standing standing) { standing_.set(std::make_shared<const Standing>(std::move(standing))); }
  void note_reload(bool accepted) noexcept;
  // For the main thread, at the start and at each reload. Throws std::bad_alloc.
  void set_settings(DaemonCommand settings) {
    settings_.set(std::make_shared<const DaemonCommand>(std::move(settings)));
  }

  // For the pages. reloaded_at() is the time of the last accepted reload, or nothing.
  const Tally& tally() const noexcept { return tally_; }
  std::vector<SeenDecision> last_decisions() const { return last_.all(); }
  std::shared_ptr<const Standing> standing() const { return standing_.get(); }
  std::shared_ptr<const DaemonCommand> settings() const { return settings_.get(); }
  std::vector<UnprovenDomain> unproven_domains() const { return unproven_.all(); }
  std::shared_ptr<const LoadedLists> lists() const { return sources_.lists.get(); }
  bool results_missing() const { return sources_.results_missing(); }
  Learner::Status learning() const { return sources_.learning ? sources_.learning() : Learner::Status{}; }
  Brake::Status brake() const { return sources_.brake ? sources_.brake() : Brake::Status{}; }
  std::uint64_t lost_log_lines() const { return sources_.lost_log_lines(); }
  SystemClock::time_point started_at() const noexcept { return started_at_; }
  std::optional<SystemClock::time_point> reloaded_at() const noexcept;

  // To be called once a second by the thread that makes the pages: probes each whitelist once, and stores the decisions
  // of the last second.
  void end_second() noexcept;
  // For that thread only.
  const DecisionHistory& history() const noexcept { return history_; }
  DecisionHistory& history() noexcept { return history_; }
  const RateProbes& probes() const noexcept { return probes_; }
  const RecentCounts& recent() const noexcept { return recent_; }

 private:
  const Sources sources_;
  const SystemClock::time_point started_at_;
  std::atomic<SystemClock::rep> reloaded_at_{0};  // 0: never
  Tally tally_;
  LastDecisions last_;
  UnprovenDomains unproven_;
  Slot<Standing> standing_;
  Slot<DaemonCommand> settings_;  // the configuration in force
  DecisionHistory history_;
  MessageCounts before_ = {};  // what the history already has of this process
  RecentCounts recent_;
  unsigned seconds_of_minute_ = 0;
  RateProbes probes_;
};

}  // namespace bloomgate
