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

// Of kForgedFields.
inline constexpr std::string_view kForgedFieldsMeaning =
    "The message has so many fields with the name of the mark that they are an attack.";

struct ReasonCount {
  Outcome outcome;
  std::string_view reason;   // "not-listed"
  std::string_view meaning;  // in a sentence
  std::uint64_t messages;
};

struct StatusFigures {
  std::chrono::system_clock::time_point now;
  std::chrono::system_clock::time_point started_at;
  std::string host;  // of this machine, as the option host-name or else the system calls it
  MessageCounts since_start;
  MessageCounts today;               // since midnight, UTC, as far as the history goes
  std::vector<ReasonCount> reasons;  // since the start, the most frequent first
  std::uint64_t decisions;           // whose time was measured, since the start
  // In seconds: half of all decisions since the start were made within that time, and 99 of 100. Upper bounds; nothing
  // where none was made, or where they took longer than all classes of the histogram, whose last bound is `longest`.
  std::optional<double> half_within;
  std::optional<double> nearly_all_within;
  double longest;
  std::uint64_t keys_looked_up;  // of signatures, at name servers
  std::uint64_t connections;     // of mail servers, now
  bool is_learning;
  std::uint64_t learned;      // pairs, since the start
  std::uint64_t pairs;        // that are known
  std::uint64_t heard_hosts;  // other hosts that learn
  std::uint64_t heard_pairs;  // that are known of them
  std::uint64_t suspended;    // senders, now
};

// For the thread that calls Monitor::end_second(). Throws std::bad_alloc.
StatusFigures status_figures(const Monitor& monitor);

// The same, with what needs action and the whitelists, as JSON. Domains that send mail are named only `with_senders`.
Json status_json(const Monitor& monitor, bool with_senders);

}  // namespace bloomgate
