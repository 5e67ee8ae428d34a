// The daemon's decisions in a log, counted. Memory is bounded for every log: 50 MiB at most for the domains, and less
// for the rest. A value that one thread fills, and which is then only read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/log/daemon_line.hpp"
#include "filter/log/log_times.hpp"
#include "filter/report/space_saving.hpp"
#include "filter/report/unasked_line.hpp"

namespace bloomgate {

// One relevant line of a log: of the daemon, or of a mail server that could not ask a milter. The texts are parts of a
// block.
struct ReportEvent {
  LogTime time;
  DaemonLevel level = DaemonLevel::info;
  std::string_view text = {};
  std::optional<DecisionLine> decision = {};
  std::optional<SampleLine> sample = {};
  std::optional<UnaskedLine> unasked = {};
};

// The event of a line of the daemon.
ReportEvent event_of(const DaemonLine& line, LogTime time) noexcept;

// The halves of a word of Figures that was made of two words, divided at its first space: "check not-listed".
struct WordHalves {
  std::string first;
  std::string second;
};
WordHalves halves_of(const std::string& word);

// A domain that signs, and the listed entry: a domain, a sender or a mailing list.
struct ListedSigner {
  std::string signer;
  std::string listed;
};
// The meaning of a word of Figures::child_signers. "mg shop.example": mg.shop.example has signed for shop.example.
ListedSigner child_signer_of(const std::string& word);
// The meaning of a word of Figures::needed_signers. "esp.example billing@bank.example": that sender, domain entry or
// mailing list is listed, and needs a good signature of esp.example.
ListedSigner needed_signer_of(const std::string& word);

// Mail of a listed domain that was checked because the domain did not authenticate it.
struct Unauthenticated {
  std::string listed;          // a domain, or a mailing list: "list:dev.lists.example.org"
  std::string reason;          // "not-authenticated"
  std::string signature;       // why no signature counts: "body-changed". Empty: none was verified
  std::string last_signed_by;  // the signers of the last such message. Empty: there were none
  std::uint64_t messages = 0;
  std::uint64_t error = 0;  // as in SpaceSaving
};

// Sessions of the mail server that could not ask a milter.
struct UnaskedMilter {
  std::uint64_t sessions = 0;
  LogTime first;
  LogTime last;
  std::string why;  // of the last one
};

using OutcomeCounts = std::array<std::uint64_t, kOutcomes>;  // messages, by Outcome

// Durations of something that happened many times, in memory of fixed size. A value; for one thread.
class TimeCounts {
 public:
  // `seconds` must be neither negative nor infinite.
  void add(double seconds) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  double sum_seconds() const noexcept { return sum_; }
  double mean_seconds() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double longest_seconds() const noexcept { return longest_; }

  // The duration that this share of the durations does not exceed. The result is too high by 19 % at most, and never
  // above the longest. 0 if there is none.
  double quantile_seconds(double share) const noexcept;

  // How many durations were longer than each of these: exact.
  static constexpr std::array<double, 4> kMarks = {0.001, 0.01, 0.1, 1};
  const std::array<std::uint64_t, kMarks.size()>& longer() const noexcept { return longer_; }

 private:
  static constexpr std::size_t kPerDoubling = 4;
  static constexpr double kShortest = 1e-6;
  // Bucket b holds durations up to kShortest * 2^(b / kPerDoubling). The last one, of 18 minutes, holds all longer
  // ones.
  std::array<std::uint64_t, 30 * kPerDoubling + 1> buckets_ = {};
  std::array<std::uint64_t, kMarks.size()> longer_ = {};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double longest_ = 0;

  static std::size_t bucket_of(double seconds) noexcept;
};

// A decision that took long.
struct SlowDecision {
  double seconds = 0;
  LogTime time;
  std::string queue_id;
  std::string reason;
};

struct Figures {
  // Names that the operator or the daemon has chosen are few, but a log may have any.
  static constexpr std::size_t kMostNames = 200;
  static constexpr std::size_t kMostDomains = 10'000;
  static constexpr std::size_t kMostSenders = 1000;
  static constexpr std::size_t kMostWarnings = 500;
  static constexpr std::size_t kMostHours = 24 * 400;
  static constexpr std::size_t kMostSlow = 5;

  std::uint64_t messages = 0;
  OutcomeCounts outcomes = {};
  SpaceSaving reasons{kMostNames};     // "check not-listed"
  SpaceSaving identities{kMostNames};  // of delivered messages, like the next two
  SpaceSaving authentications{kMostNames};
  SpaceSaving whitelists{kMostNames};
  SpaceSaving confirmations{kMostNames};       // the answers of stores
  SpaceSaving listed_domains{kMostDomains};    // of delivered messages
  SpaceSaving unlisted_domains{kMostDomains};  // of senders without an entry in any list
  SpaceSaving child_signers{kMostDomains};     // subdomains that sign for listed domains: see child_signer_of()
  SpaceSaving needed_signers{kMostDomains};    // of checked messages: see needed_signer_of()
  std::uint64_t without_domain = 0;            // messages for listed_domains and unlisted_domains whose sender has none
  SpaceSaving senders{kMostDomains};           // the domains of all incoming messages
  // Listed senders whose mail was checked all the same, because they sent too much, or spam: "burst joe@example.org"
  SpaceSaving held{kMostSenders};
  // "not-authenticated body-changed example.org"; the note: the signers of the last one. For senders who are listed,
  SpaceSaving unauthenticated_senders{kMostDomains};
  // and for those whose DMARC result forbade delivery before any list was asked.
  SpaceSaving vetoed_senders{kMostDomains};

  // Messages whose recipients were looked up; the number of these recipients; and how many of them have an entry for
  // the sender. The log does not name recipients.
  std::uint64_t recipient_messages = 0;
  std::uint64_t recipients = 0;
  std::uint64_t listing_recipients = 0;

  std::uint64_t forging_messages = 0;
  std::uint64_t forged_fields = 0;
  SpaceSaving forging_domains{kMostDomains};

  TimeCounts decision_times;
  TimeCounts confirm_times;
  std::vector<SlowDecision> slowest;  // the slowest first

  SpaceSaving checks{kMostNames};  // the checkers' answers
  TimeCounts check_times;          // of answers
  TimeCounts failed_check_times;

  // For delivered messages that were sampled:
  SpaceSaving samples{kMostNames};         // the checkers' answers
  SpaceSaving spam_senders{kMostSenders};  // listed, but spam for the checker; the note: whitelist and score

  SpaceSaving warnings{kMostWarnings};           // without numbers and queue IDs; the note is the last one, unchanged
  std::map<std::string, UnaskedMilter> unasked;  // by the milter; if more than kMostNames, "(others)"
  std::uint64_t starts = 0;
  std::uint64_t lost_lines = 0;  // lines that the log lacks, as the daemon has reported

  std::map<std::int64_t, OutcomeCounts> hours;  // since 1970, in UTC
  std::uint64_t without_hour = 0;               // messages of more different hours than kMostHours
  std::optional<LogTime> first;                 // line of the daemon
  std::optional<LogTime> last;

  // Throws std::bad_alloc.
  void add(const ReportEvent& event);

  // How many messages of an item of `senders` were delivered.
  std::uint64_t delivered_of(const SpaceSaving::Item& sender) const noexcept {
    return std::min(sender.count, listed_domains.count_of(sender.word));
  }
  // The listed domains whose mail was not authenticated, the most frequent first. A vetoed domain is among them if
  // another message of the log shows that it is listed. Throws std::bad_alloc.
  std::vector<Unauthenticated> unauthenticated() const;

  std::uint64_t count(Outcome outcome) const noexcept { return outcomes[static_cast<std::size_t>(outcome)]; }
  // Delivered messages that no checker had to check.
  std::uint64_t spared_messages() const noexcept;
  // The time that the checkers would have needed for them, at their average time for an answer. Nothing if the log has
  // no answer.
  std::optional<double> spared_seconds() const noexcept;

 private:
  void add_message(const DecisionLine& line, LogTime time);
  void add_domains(const DecisionLine& line);
  void add_held(const DecisionLine& line);
  void add_unauthenticated(const DecisionLine& line);
  void add_recipients(const DecisionLine& line);
  void add_child_signer(const DecisionLine& line);
  void add_needed_signer(const DecisionLine& line);
  void add_times(const DecisionLine& line, LogTime time);
  void add_sample(const SampleLine& line);
  void add_unasked(const UnaskedLine& line, LogTime time);
  void add_other(const ReportEvent& event);
};

}  // namespace bloomgate
