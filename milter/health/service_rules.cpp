// The rules about what a running daemon has seen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "filter/base/number_text.hpp"
#include "milter/health/proportion.hpp"
#include "milter/health/rules.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

// The least number for a share: a share of fewer means nothing.
constexpr std::uint64_t kFewest = 20;
constexpr std::uint64_t kFewestOfDelivered = 100;
constexpr double kMostFailedChecks = 0.05;
constexpr double kMostUnproven = 0.05;
constexpr double kMostSlow = 0.01;
constexpr double kMostWithoutKeys = 0.1;
// If the share of spam is at least this, with 95 % confidence, an operator should look.
constexpr double kMostSpamDelivered = 0.02;

bool is_more_than(double most, std::uint64_t part, std::uint64_t all) noexcept {
  return static_cast<double>(part) > most * static_cast<double>(all);
}

void reload_is_refused(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->refused_reload.empty()) return;
  found.push_back(
      {"the last reload was refused, and what was in use before still is: " + facts.running->refused_reload});
}

void waits_for_restart(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->waits_for_restart.empty()) return;
  found.push_back({"options have changed that a reload cannot take in: " + facts.running->waits_for_restart});
}

void results_are_missing(const HealthFacts& facts, FoundOnes& found) {
  if (!facts.running->results_are_missing) return;
  found.push_back({"none of the last 1000 messages had trusted results of authentication: no message is delivered"});
}

void keys_are_missing(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& hour = facts.running->hour;
  std::uint64_t verified = 0;
  for (const std::uint64_t each : hour.signatures) verified += each;
  verified -= hour.of(SignatureOutcome::no_signature);
  std::uint64_t missing = 0;
  for (const auto outcome :
       {SignatureOutcome::name_server_failed, SignatureOutcome::name_timeout, SignatureOutcome::dnssec_bogus}) {
    missing += hour.of(outcome);
  }
  const bool is_many = verified >= kFewest && is_more_than(kMostWithoutKeys, missing, verified);
  if (!facts.running->name_servers_fail && !is_many) return;
  found.push_back(
      {fmt::format("name servers do not answer: of {} signed messages of listed senders in the last hour, {} "
                   "were checked since no key came",
                   verified, missing)});
}

void domains_are_never_proven(const HealthFacts& facts, FoundOnes& found) {
  const auto& domains = facts.running->unproven_domains;
  if (domains.empty()) return;
  constexpr std::size_t kMostNamed = 10;
  std::string whom;
  for (const UnprovenDomain& each : std::span(domains).first(std::min(domains.size(), kMostNamed))) {
    whom += fmt::format("{}{} ({}, the last: {})", whom.empty() ? "" : ", ", each.domain,
                        format_counted(each.messages, "message", "messages"), each.reason);
  }
  found.push_back({fmt::format("{} sent mail, and nothing ever proved it, so it was checked",
                               format_counted(domains.size(), "listed domain has", "listed domains have")),
                   {},
                   std::move(whom)});
}

// Why messages are checked.
struct Cause {
  std::uint64_t messages = 0;
  std::string text, remedy;
};

// The signature rule, governed by an option, for which most messages of listed senders are checked.
Cause largest_cause(const HealthCounts& counts) {
  Cause largest = {counts.child_signed, "only a name below the sender's domain has signed (child_signer= in the log)",
                   "see bloomgate report for the signers; alignment = relaxed lets them count, and every other name of "
                   "the organisation as well"};
  const auto compare = [&largest](Cause other) {
    if (other.messages > largest.messages) largest = std::move(other);
  };
  compare({counts.of(SignatureOutcome::too_old), "the signature was too old",
           "see whether your mail waits somewhere, or raise max-signature-age"});
  for (std::size_t i = 0; i < counts.signatures.size(); ++i) {
    const auto outcome = static_cast<SignatureOutcome>(i);
    if (!added_field(outcome)) continue;
    constexpr std::string_view kPrefix = "field-added-";
    compare(
        {counts.of(outcome),
         fmt::format("the signature leaves the field {} open", signature_outcome_name(outcome).substr(kPrefix.size())),
         "if require-signed names the field, leave it out there; else the sender has to sign it: the manual says "
         "which signing software does"});
  }
  return largest;
}

void listed_mail_is_not_proven(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& day = facts.running->day;
  Cause cause = largest_cause(day);
  if (day.listed < kFewest || !is_more_than(kMostUnproven, cause.messages, day.listed)) return;
  found.push_back({fmt::format("of {} messages of listed senders in the last day, {} were checked since {}", day.listed,
                               cause.messages, cause.text),
                   std::move(cause.remedy)});
}

void nothing_is_delivered(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& hour = facts.running->hour;
  if (hour.messages < kFewestOfDelivered || hour.delivered != 0) return;
  // If learning is on, the first list may be empty.
  const bool begins =
      knows_learned(facts.options) &&
      std::ranges::all_of(facts.whitelists, [](const WhitelistFacts& each) { return each.entries == 0; });
  if (begins) return;
  found.push_back({fmt::format(
      "none of the {} messages of the last hour was delivered: no sender was listed and proven", hour.messages)});
}

void checkers_fail(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& hour = facts.running->hour;
  if (hour.deep_checks < kFewest || !is_more_than(kMostFailedChecks, hour.failed_deep_checks, hour.deep_checks)) return;
  found.push_back({fmt::format("of {} messages that were to be checked in the last hour, {} got no answer",
                               hour.deep_checks, hour.failed_deep_checks)});
}

void spam_is_delivered(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& day = facts.running->day;
  const std::uint64_t answered = day.samples_spam + day.samples_ham;
  if (answered == 0) return;
  const Interval share = wilson_interval(day.samples_spam, answered);
  if (share.lower <= kMostSpamDelivered) return;
  found.push_back(
      {fmt::format("of {} delivered messages that were sampled in the last day the checker calls {} spam: {} "
                   "to {} of all",
                   answered, day.samples_spam, format_percent(share.lower), format_percent(share.upper))});
}

void samples_are_not_answered(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& day = facts.running->day;
  const std::uint64_t all = day.samples_spam + day.samples_ham + day.samples_unanswered;
  if (all < kFewest || day.samples_unanswered <= all / 2) return;
  found.push_back(
      {fmt::format("of {} samples of delivered mail in the last day, {} got no answer", all, day.samples_unanswered)});
}

void cannot_decide(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->hour.internal_errors == 0) return;
  found.push_back(
      {fmt::format("{} be decided in the last hour, and therefore checked",
                   format_counted(facts.running->hour.internal_errors, "message could not", "messages could not"))});
}

void decisions_are_slow(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& hour = facts.running->hour;
  if (hour.messages < kFewest || !is_more_than(kMostSlow, hour.slow, hour.messages)) return;
  found.push_back({fmt::format("of {} decisions of the last hour, {} took longer than {} s", hour.messages, hour.slow,
                               kSlowSeconds)});
}

void connections_are_turned_away(const HealthFacts& facts, FoundOnes& found) {
  const HealthCounts& hour = facts.running->hour;
  constexpr std::string_view kText =
      "{} turned away in the last hour, since {}: their mail was checked, or waits at its sender";
  const auto connections = [](std::uint64_t count) {
    return format_counted(count, "connection of the mail server was", "connections of the mail server were");
  };
  if (hour.turned_away != 0) {
    found.push_back(
        {fmt::format(kText, connections(hour.turned_away),
                     fmt::format("max-connections is {}", facts.running->session_limit)),
         "raise max-connections, if the mail server may have so many; or see why they stay open (ss -xp, ss -tp)"});
  }
  if (hour.without_descriptor != 0) {
    found.push_back(
        {fmt::format(kText, connections(hour.without_descriptor), "the daemon had too few descriptors left"),
         "raise their limit (LimitNOFILE= of the unit, ulimit -n), or lower max-connections; then: systemctl restart "
         "bloomgate-milter"});
  }
}

void log_lines_are_lost(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->hour.lost_log_lines == 0) return;
  found.push_back({fmt::format("the log has lost {} in the last hour",
                               format_counted(facts.running->hour.lost_log_lines, "line", "lines"))});
}

void learning_has_stopped(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->learning_fault.empty()) return;
  found.push_back({"nothing is learned: " + facts.running->learning_fault});
}

void habits_are_lost(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->brake_fault.empty()) return;
  found.push_back({"the habits of senders are not kept: " + facts.running->brake_fault});
}

void suspensions_are_lost(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->suspensions_fault.empty()) return;
  found.push_back({"suspensions are not kept: " + facts.running->suspensions_fault});
}

void suspending_has_stopped(const HealthFacts& facts, FoundOnes& found) {
  if (!facts.running->suspensions_are_stopped) return;
  found.push_back(
      {"for an hour the daemon suspends no sender: the checker calls too many samples spam, or too many senders were "
       "suspended"});
}

void senders_are_suspended(const HealthFacts& facts, FoundOnes& found) {
  const std::uint64_t suspended = facts.running->suspended;
  if (suspended == 0) return;
  found.push_back({format_counted(suspended, "sender is suspended, since proven mail of it was spam",
                                  "senders are suspended, since proven mail of them was spam")});
}

void nothing_is_learned(const HealthFacts& facts, FoundOnes& found) {
  if (!facts.running->is_learning || facts.running->learned_in_week.value_or(1) != 0) return;
  found.push_back({"learn = outbound, and nothing was learned for a week"});
}

void nothing_is_heard(const HealthFacts& facts, FoundOnes& found) {
  for (const HeardFacts& each : facts.running->heard) {
    if (!each.fault.empty()) {
      found.push_back({fmt::format("what another host has learned is not taken from {}: {}", each.folder, each.fault)});
    } else if (each.is_overdue) {
      found.push_back({fmt::format(
          "{} has no news: its host does not share (bloomgate-share), or this one does not fetch (bloomgate-pull@)",
          each.folder)});
    }
  }
}

void login_writes_to_many(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->hour.over_rate == 0) return;
  found.push_back({"a login has written to more new addresses in an hour than learn-rate allows"});
}

void client_writes_to_many(const HealthFacts& facts, FoundOnes& found) {
  if (facts.running->hour.over_exempt_rate == 0) return;
  found.push_back(
      {"a client of exempt-networks has written to more new addresses in an hour than learn-exempt-rate allows"});
}

constexpr std::array kServiceRules = {
    Rule{"checkers-fail", Severity::page, "gets no answer from its checkers",
         "look at the servers of deep-check, and at their load; the log names what was wrong with each, and "
         "bloomgate-milter doctor asks them",
         5min, true, checkers_fail},
    Rule{"results-missing", Severity::page, "gets no trusted results of authentication: it delivers no message",
         "let a milter before this one write them (OpenDKIM, OpenDMARC, rspamd), and set trusted-authserv-id to the "
         "name "
         "that it puts first",
         10min, true, results_are_missing},
    Rule{"keys-missing", Severity::page, "cannot look up keys: it checks all mail that needs a signature",
         "name working servers in dns-servers or /etc/resolv.conf; bloomgate-milter doctor asks them", 5min, true,
         keys_are_missing},
    Rule{"reload-refused", Severity::ticket, "has refused its last reload",
         "correct what is named before any restart; then: systemctl reload bloomgate-milter", 5min, true,
         reload_is_refused},
    Rule{"nothing-delivered", Severity::ticket, "has delivered no message for an hour",
         "bloomgate report --since 1h names the reasons, and bloomgate-milter why ADDRESS explains one", 15min, true,
         nothing_is_delivered},
    Rule{"spam-delivered", Severity::ticket, "delivers mail that the checker calls spam",
         "bloomgate report --since 24h names the senders; bloomgate-milter revoke ADDRESS stops one within a second",
         0min, true, spam_is_delivered},
    Rule{"domains-never-proven", Severity::ticket, "lists domains whose mail is never authenticated",
         "see whether these are forged; if they are not, their senders have to sign their mail: bloomgate-milter why "
         "@DOMAIN names what would prove it",
         60min, true, domains_are_never_proven},
    Rule{"listed-mail-unproven", Severity::ticket,
         "checks much mail of listed senders because of a rule for signatures",
         "the status page names the rule, and the option that governs it", 60min, true, listed_mail_is_not_proven},
    Rule{"internal-errors", Severity::ticket, "could not decide messages, and checked them", "the log has the errors",
         0min, true, cannot_decide},
    Rule{"decisions-slow", Severity::ticket, "is slow to decide",
         "a slow store or a lack of memory: see whether the whitelist is paged out (lock-memory)", 15min, true,
         decisions_are_slow},
    Rule{"connections-turned-away", Severity::ticket, "has refused connections of its mail server",
         "raise max-connections, or the limit of descriptors (LimitNOFILE= of the unit): the status page names which",
         0min, true, connections_are_turned_away},
    Rule{"log-lines-lost", Severity::ticket, "has lost lines of its log",
         "see whether the disk of the log is full or slow; log-level = warning writes fewer lines", 0min, true,
         log_lines_are_lost},
    Rule{"samples-unanswered", Severity::ticket, "gets no answer to samples of delivered mail",
         "see whether the servers of deep-check answer; if they do, set deep-check-sample to a smaller share", 60min,
         true, samples_are_not_answered},
    Rule{"learning-stopped", Severity::ticket, "cannot use its database, so it learns nothing from outgoing mail",
         "mail continues, and what is known stays listed; the daemon tries again every few seconds", 10min, true,
         learning_has_stopped},
    Rule{"habits-not-kept", Severity::ticket, "cannot store the habits of listed senders: a restart loses them",
         "name a file that the daemon may write in burst-file; a damaged one can be removed, and habits are then "
         "learned anew",
         10min, true, habits_are_lost},
    Rule{"suspensions-not-kept", Severity::ticket, "cannot store its suspensions: a restart loses them",
         "name a file that the daemon may write in suspend-file, or correct the line that is named", 10min, true,
         suspensions_are_lost},
    Rule{
        "suspending-stopped", Severity::ticket, "suspends no sender for an hour: the checker may be wrong",
        "see whether the checker is wrong; bloomgate-milter suspended list names the senders, and suspended clear ends "
        "it for some",
        0min, true, suspending_has_stopped},
    Rule{"senders-suspended", Severity::notice, "has suspended senders whose mail was spam",
         "bloomgate-milter suspended list names them; tell their owners, and clear them once they are safe", 0min, true,
         senders_are_suspended},
    Rule{"nothing-learned", Severity::ticket, "has learned nothing for a week",
         "see whether outgoing mail of users who have logged in goes through the daemon, and whether own-domains has "
         "their domains",
         60min, true, nothing_is_learned},
    Rule{"learned-elsewhere", Severity::ticket, "gets no news of what another host has learned",
         "see on this host whether bloomgate-pull@ brings the folder, and on the other one whether bloomgate-share "
         "runs; learned-from names the folder and the key",
         5min, true, nothing_is_heard},
    Rule{"learn-rate-met", Severity::ticket, "has a login that writes to more new addresses than learn-rate allows",
         "the log names the login: see whether somebody else uses the account", 0min, true, login_writes_to_many},
    Rule{"learn-exempt-rate-met", Severity::ticket,
         "has a client of exempt-networks that writes to more new addresses than learn-exempt-rate allows",
         "the log names the client: see whether a form or a program there writes to anybody; else raise "
         "learn-exempt-rate",
         0min, true, client_writes_to_many},
    Rule{"waits-for-restart", Severity::notice, "needs a restart, because options have changed",
         "when it suits you: systemctl restart bloomgate-milter", 24h, true, waits_for_restart},
};

}  // namespace

std::span<const Rule> service_rules() noexcept {
  return kServiceRules;
}

}  // namespace bloomgate
