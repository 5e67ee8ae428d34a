// Reads a line of a log that the daemon has written: in syslog's files, in the form of `journalctl -o short-iso`, or in
// that of `log-target = stderr`; and what the line says about a message. Pure; safe from any thread.
//
// Another program's line may have any text that a sender has chosen. So a line is read from its left: the daemon's text
// begins after the names of the host and the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomgate {

enum class DaemonLevel : std::uint8_t { info, warning, error };

// The texts are parts of the line.
struct DaemonLine {
  std::string_view date = {};  // for LogTimes
  DaemonLevel level = DaemonLevel::info;
  std::string_view text = {};
};

// Nothing for lines of other programs. `line` has no line end.
std::optional<DaemonLine> read_daemon_line(std::string_view line) noexcept;

enum class Outcome : std::uint8_t {
  deliver,
  check,
  exempt,  // not incoming: the lists do not apply
  refuse,  // for its forged header fields
};
inline constexpr std::array kEachOutcome = {Outcome::deliver, Outcome::check, Outcome::exempt, Outcome::refuse};
inline constexpr std::size_t kOutcomes = kEachOutcome.size();

// "deliver", "check", "exempt", "refuse". Never fails.
std::string_view outcome_name(Outcome outcome) noexcept;

// The line that the daemon logs for each message: `queue_id=… sender=… decision=… reason=… …` (bloomgate-milter(8),
// LOG). A text that a sender has chosen is one word of it, since the daemon escapes spaces. If a name occurs twice, its
// first word counts. The texts are parts of the line; empty if the line does not have them. A dash means "none".
struct DecisionLine {
  // If more domains have signed the message, the rest are left out.
  static constexpr std::size_t kMostSigners = 8;

  Outcome outcome = Outcome::check;
  std::string_view decision = {};  // `deliver`, `check`, `refuse`: an exempt message has one of them, too
  std::string_view queue_id = {};
  std::string_view sender = {};  // the path: `<joe@example.org>`
  std::string_view header_from = {};
  std::string_view reason = {};
  std::string_view identity = {};
  std::string_view authentication = {};
  std::string_view whitelist = {};
  std::string_view confirmed = {};     // the store's answer
  std::string_view deep_check = {};    // the checker's answer
  std::string_view child_signer = {};  // a domain below a listed one, if no other domain has signed
  std::string_view child_of = {};      // that listed domain
  std::string_view entry = {};         // the domain entry or mailing list that lists the sender
  std::string_view signer = {};        // whose signature proves it; for a checked message, whose would
  std::string_view fault = {};         // of a malformed sender
  std::string_view dkim = {};          // the result of the signatures
  std::string_view domain = {};        // of the signature with that result
  std::string_view selector = {};      // its selector
  std::string_view recipients = {};    // how many were looked up
  std::string_view listed_for = {};    // for how many of them the sender is listed
  std::array<std::string_view, kMostSigners> signed_by = {};  // the domains that have signed it, the rest empty
  std::uint64_t forged_fields = 0;
  std::optional<double> decision_seconds = {};
  std::optional<double> confirm_seconds = {};
  std::optional<double> check_seconds = {};
};

// The line of a delivered message that was sampled: `queue_id=… sender=… sample=spam score=… …`. The message also has
// its own DecisionLine.
struct SampleLine {
  std::string_view answer = {};  // `spam`, `ham`, `failed`
  std::string_view sender = {};
  std::string_view header_from = {};
  std::string_view identity = {};
  std::string_view whitelist = {};
  std::string_view score = {};  // `12.3/5.0`
};

// Nothing for another line of the daemon.
std::optional<SampleLine> read_sample_line(std::string_view text) noexcept;
std::optional<DecisionLine> read_decision_line(std::string_view text) noexcept;

// The domain of a sender as in the line, from a path or an address. Empty if there is none, or if the daemon has cut it
// off.
std::string_view domain_of(std::string_view sender) noexcept;

}  // namespace bloomgate
