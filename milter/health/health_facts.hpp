// What the rules look at: the configuration, the lists, and, for a running daemon, what it has seen. The check of the
// configuration and the doctor make these facts from files (file_facts.hpp), the daemon from its state
// (milter/monitoring). Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/health/health_counts.hpp"

namespace bloomgate {

// The result of random keys that no list can contain, looked up in the bits of a filter.
struct ProbedFilter {
  std::string name;
  std::uint64_t probes = 0;
  std::uint64_t hits = 0;
  double expected_rate = 0;
};

struct WhitelistFacts {
  using Time = std::chrono::system_clock::time_point;

  std::string name = {};  // as configured
  std::string path = {};
  // What is wrong with the whitelist, or with one of its layers, so that it lists no sender. Empty: no fault.
  std::vector<std::string> faults = {};
  std::vector<std::string> store_faults = {};
  bool is_gone = false;                              // it is in use, but its file no longer exists
  std::uint64_t entries = 0;                         // of all layers
  std::optional<std::uint64_t> entries_before = {};  // of the previous file, FILE.1; nothing: there is none
  std::optional<Time> written = {};                  // when the newest layer was written
  // From a manifest: until when it holds, until when the whitelist is used, and when the manifest was made.
  std::optional<std::chrono::sys_seconds> holds_until = {}, used_until = {}, published = {};
  bool needs_manifest = false;                    // keys are trusted, so it is used only as its manifest says
  std::string not_remembered = {};                // why the accepted manifest cannot be stored; empty: it can
  std::vector<std::string> lack_of_domains = {};  // the consequence, for each layer without its senders' domains
  std::vector<std::string> update_faults = {};    // of the last bloomgate-update
  std::vector<ProbedFilter> probed = {};
};

struct ExactListFacts {
  std::string_view name = {};  // the name of its option
  std::string path = {};
  std::string fault = {};  // why it cannot be read; empty: it can
  std::uint64_t left_out = 0;
  std::string first_left_out = {};  // "line 2: …"; empty: unknown
};

// A listed domain of which no message was ever authenticated.
struct UnprovenDomain {
  std::string domain = {};
  std::uint64_t messages = 0;
  std::string reason = {};  // of the last message
};

// What another host has learned, from a folder on this machine.
struct HeardFacts {
  std::string folder = {};
  std::string fault = {};  // why nothing new is loaded; empty: no fault
  bool is_overdue = false;
};

// Of a running daemon.
struct RunningFacts {
  HealthCounts hour = {}, day = {};
  bool is_learning = false;
  std::optional<std::uint64_t> learned_in_week = {};  // nothing: the daemon has not run for a week
  std::string learning_fault = {};
  std::vector<HeardFacts> heard = {};
  std::string brake_fault = {};
  std::string suspensions_fault = {};
  bool suspensions_are_stopped = false;
  std::uint64_t suspended = 0;
  std::string refused_reload = {};
  std::string waits_for_restart = {};
  bool results_are_missing = false;
  bool name_servers_fail = false;
  std::uint64_t session_limit = 0;
  std::optional<double> false_positive_rate = {};  // for a message; nothing: no whitelist serves
  std::vector<UnprovenDomain> unproven_domains = {};
};

struct HealthFacts {
  std::string config_path = {};
  DaemonOptions options = {};
  std::set<std::string, std::less<>> given = {};  // as DaemonCommand::given
  std::vector<WhitelistFacts> whitelists = {};
  std::vector<ExactListFacts> exact_lists = {};
  std::optional<RunningFacts> running = {};  // nothing: no daemon was asked
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
};

}  // namespace bloomgate
