// The table of what needs action: what is wrong, how bad that is, and what to do. It appears in five places: the check
// of the configuration, the doctor, the status page, the figures (`bloomgate_needs_action`), and the alerts that are
// made from the table (alerts.hpp). Pure; safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milter/health/health_facts.hpp"

namespace bloomgate {

enum class Severity : std::uint8_t {
  notice,  // it may be intended
  ticket,  // it can wait for a working day
  page,    // mail is not decided as it should be: look now
};

// "notice", "ticket", "page": the values of the label `severity`. Never fails.
std::string_view severity_name(Severity severity) noexcept;

// The same for a person, to whom "page" may be another thing: "to know", "soon", "urgent". Never fails.
std::string_view urgency(Severity severity) noexcept;

// Something that needs an operator's action.
struct HealthFinding {
  std::string_view rule;  // its name in the table
  Severity severity = Severity::notice;
  std::string what;    // a sentence without its full stop; may contain bytes of files and messages
  std::string how;     // what to do
  std::string whom{};  // domains that send mail, shown after `what`: only for readers who may know them
};

// What one rule has found. If `how` is empty, the rule's own `how` applies.
struct Found {
  std::string what;
  std::string how = {};
  std::string whom = {};
};
using FoundOnes = std::vector<Found>;

struct Rule {
  std::string_view name;  // "whitelist-old": the label `rule`, and the alert BloomgateWhitelistOld
  Severity severity;
  std::string_view summary;  // for the alert, after the instance's name
  std::string_view how;
  std::chrono::minutes patience;  // how long a finding lasts before the alert fires
  // Whether only a running daemon can evaluate the rule. Then the check of the configuration skips it, and `find` is
  // called only if facts.running has a value.
  bool is_of_daemon;
  void (*find)(const HealthFacts& facts, FoundOnes& found);
};

// The most severe first, then in the order of the table.
std::vector<HealthFinding> findings_of(const HealthFacts& facts);

// All rules, in the order in which an operator would look: those of settings, of lists, and of what the daemon sees.
std::vector<Rule> health_rules();

// The parts of the table.
std::span<const Rule> settings_rules() noexcept;
std::span<const Rule> list_rules() noexcept;
std::span<const Rule> service_rules() noexcept;

// Where a daemon shows its findings for programs, beside its figures.
inline constexpr const char* kNeedsActionPath = "/needs-action";

// For a person: "soon: WHAT", and below it, indented, "-> HOW".
std::string text_of(const HealthFinding& finding);

}  // namespace bloomgate
