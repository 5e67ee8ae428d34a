// The figures that the status page shows to people and /status.json to programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/json.hpp"
#include "filter/log/daemon_line.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// The meaning of kForgedFields.
inline constexpr std::string_view kForgedFieldsMeaning =
    "The message has so many fields with the name of the mark that they are an attack.";

struct ReasonCount {
  Outcome outcome;
  std::string_view reason;   // "not-listed"
  std::string_view meaning;  // as a sentence
  std::uint64_t messages;
};

struct StatusFigures {
  std::chrono::system_clock::time_point now;
  std::chrono::system_clock::time_point started_at;
  std::string host;  // this machine's name: the option host-name, or else the system's name
  MessageCounts since_start;
  MessageCounts today;               // since midnight, UTC, as far as the history reaches
  std::vector<ReasonCount> reasons;  // since the start, the most frequent first
  std::uint64_t decisions;           // decisions whose time was measured, since the start
  // In seconds: half of all decisions since the start took at most the first time, and 99 of 100 the second. Upper
  // bounds. Nothing if there was no decision, or if they took longer than the histogram's last bound, `longest`.
  std::optional<double> half_within;
  std::optional<double> nearly_all_within;
  double longest;
  std::uint64_t keys_looked_up;  // DKIM keys, at name servers
  std::uint64_t connections;     // open connections of mail servers
  bool is_learning;
  std::uint64_t learned;      // pairs, since the start
  std::uint64_t pairs;        // known pairs
  std::uint64_t heard_hosts;  // other hosts that learn
  std::uint64_t heard_pairs;  // known pairs from these hosts
  std::uint64_t suspended;    // senders that are suspended now
};

// For the thread that calls Monitor::end_second(). Throws std::bad_alloc.
StatusFigures status_figures(const Monitor& monitor);

// The same as JSON, with what needs action and the whitelists. Domains that send mail are named only if `with_senders`
// is set.
Json status_json(const Monitor& monitor, bool with_senders);

}  // namespace bloomgate
