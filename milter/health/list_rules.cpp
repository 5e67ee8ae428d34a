// The rules about lists. Their files show most of what these rules need, a running daemon everything.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "filter/base/number_text.hpp"
#include "filter/base/shell_word.hpp"
#include "milter/health/proportion.hpp"
#include "milter/health/rules.hpp"
#include "milter/lists/taken_manifests.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

// Lists are built every hour or every night; after a week and a day something must have stopped.
constexpr std::chrono::days kOldAfter{8};
constexpr std::chrono::days kClockSlack{1};
constexpr double kMostFalsePositives = 0.1;
// Chance alone exceeds this bound in 4 filters of 10^17, however long they are probed (Lundberg's inequality for a
// Poisson process: e^-30x with e^x = 1 + 2x).
constexpr double kTimesTooManyHits = 2;
constexpr double kChanceHits = 30;

// Building the list again does not help if only its publisher can sign it.
constexpr std::string_view kPublishedRemedy =
    "where bloomgate pull fetches it, see what that reports (systemctl status 'bloomgate-pull@*', journalctl -u "
    "'bloomgate-pull@*') and tell its publisher; where it is made, put a good state back and sign it (bloomgate "
    "rollback --sign-key KEYFILE FILE, bloomgate sign --key KEYFILE FILE); a running daemon loads it as soon as it is "
    "there and good";

void whitelist_is_unusable(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    for (const std::string& fault : each.faults) {
      found.push_back({fmt::format("whitelist {}: {}", each.name, fault),
                       each.needs_manifest ? std::string(kPublishedRemedy) : std::string()});
    }
  }
}

void exact_list_is_lost(const HealthFacts& facts, FoundOnes& found) {
  for (const ExactListFacts& each : facts.exact_lists) {
    if (each.fault.empty()) continue;
    const bool only_lists = each.name == "extra";
    found.push_back({fmt::format("the list {} cannot be read, so {}: {}", each.name,
                                 only_lists ? "it lists no sender" : "the daemon delivers no message", each.fault)});
  }
}

std::string_view meaning_of_lines(std::string_view list) noexcept {
  if (list == "revoked") return "it does not revoke their senders";
  if (list == "opt-out") return "mail to their recipients may be delivered";
  return "it does not list their senders";
}

void lines_are_left_out(const HealthFacts& facts, FoundOnes& found) {
  for (const ExactListFacts& each : facts.exact_lists) {
    if (each.left_out == 0) continue;
    found.push_back({fmt::format("the list {} has invalid lines ({}), so {}{}{}", each.name, each.left_out,
                                 meaning_of_lines(each.name), each.first_left_out.empty() ? "" : "; the first is ",
                                 each.first_left_out)});
  }
}

void store_has_faults(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    for (const std::string& fault : each.store_faults) found.push_back({fault});
  }
}

void has_too_many_hits(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& whitelist : facts.whitelists) {
    for (const ProbedFilter& each : whitelist.probed) {
      const double expected = static_cast<double>(each.probes) * each.expected_rate;
      if (static_cast<double>(each.hits) <= kTimesTooManyHits * expected + kChanceHits) continue;
      found.push_back(
          {fmt::format("the bits of whitelist {} have {} of {} random keys that no list can hold, instead of "
                       "{}: unlisted senders are found",
                       each.name, each.hits, each.probes, format_percent(each.expected_rate))});
    }
  }
}

void whitelist_is_gone(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    if (!each.is_gone) continue;
    found.push_back(
        {fmt::format("whitelist {} is in use, and its file is gone ({}): after a restart it lists no sender", each.name,
                     each.path)});
  }
}

// If learning is on, the first list may be empty.
void whitelist_is_empty(const HealthFacts& facts, FoundOnes& found) {
  if (knows_learned(facts.options)) return;
  for (const WhitelistFacts& each : facts.whitelists) {
    if (!each.faults.empty() || each.entries != 0) continue;
    found.push_back({fmt::format("whitelist {} has no entries: it lists no sender", each.name)});
  }
}

void whitelist_has_shrunk(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    if (!each.faults.empty() || !each.entries_before) continue;
    // A list that changes every day loses few entries at once.
    const std::uint64_t half = *each.entries_before - *each.entries_before / 2;
    if (each.entries >= half) continue;
    found.push_back(
        {fmt::format("whitelist {} has {}, and the file before it ({}.1) had {}", each.name,
                     format_counted(each.entries, "entry", "entries"), each.path, format_count(*each.entries_before)),
         fmt::format("if that is a mistake: bloomgate rollback {}; if it is meant, the next build ends this",
                     shell_word(each.path, "FILE"))});
  }
}

void whitelist_is_old(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    if (!each.written) continue;
    const auto age = facts.now - *each.written;
    const auto days = std::chrono::duration_cast<std::chrono::days>(age).count();
    if (age > kOldAfter) found.push_back({fmt::format("whitelist {} is {} days old", each.name, days)});
    if (age < -kClockSlack) {
      found.push_back({fmt::format("whitelist {} is from the future, by {}: it is not known how old it is", each.name,
                                   format_counted(static_cast<std::uint64_t>(-days), "day", "days")),
                       "set the clock of this machine, or touch the file"});
    }
  }
}

void whitelist_is_overdue(const HealthFacts& facts, FoundOnes& found) {
  const auto now = std::chrono::floor<std::chrono::seconds>(facts.now);
  for (const WhitelistFacts& each : facts.whitelists) {
    if (!each.holds_until || now <= *each.holds_until) continue;
    found.push_back({fmt::format(
        "the newest manifest of whitelist {} is of {}: it expired on {}, and the daemon uses the whitelist until {}",
        each.name, date_text(*each.published), date_text(*each.holds_until), date_text(*each.used_until))});
  }
}

void manifest_is_not_kept(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    if (each.not_remembered.empty()) continue;
    found.push_back(
        {fmt::format("the manifest of whitelist {} cannot be kept, so after a restart the daemon may take an "
                     "older state of it: {}",
                     each.name, each.not_remembered)});
  }
}

void whitelist_lacks_domains(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    for (const std::string& lack : each.lack_of_domains) {
      found.push_back({fmt::format("whitelist {}: it {}", each.name, lack)});
    }
  }
}

void update_has_failed(const HealthFacts& facts, FoundOnes& found) {
  for (const WhitelistFacts& each : facts.whitelists) {
    for (const std::string& fault : each.update_faults) {
      found.push_back({fmt::format("whitelist {}: {}", each.name, fault)});
    }
  }
}

void rate_is_high(const HealthFacts& facts, FoundOnes& found) {
  const double rate = facts.running->false_positive_rate.value_or(0);
  if (rate <= kMostFalsePositives) return;
  found.push_back(
      {fmt::format("{} of the messages of unlisted senders at listed domains are found", format_percent(rate))});
}

constexpr std::array kListRules = {
    Rule{"whitelist-unusable", Severity::page, "has a whitelist that is missing or damaged: it lists no sender",
         "build it (bloomgate build --output FILE LIST...), or put the last one back (bloomgate rollback FILE); a "
         "running "
         "daemon loads it as soon as it is there and good (bloomgate verify tells)",
         5min, false, whitelist_is_unusable},
    Rule{"exact-list-lost", Severity::page, "cannot read one of the lists revoked, opt-out and extra",
         "correct the file, or put it back; an empty file will do, and the daemon reads the list again within a second",
         5min, false, exact_list_is_lost},
    Rule{"too-many-hits", Severity::page, "has a whitelist that finds far more random keys than its rate predicts",
         "build it again, with room for all of its entries; see what bloomgate info and bloomgate verify say of it",
         0min, true, has_too_many_hits},
    Rule{"exact-list-lines-left-out", Severity::ticket, "ignores invalid lines in revoked, opt-out or extra",
         "correct these lines (bloomgate-milter check-config names the first); the daemon reads the list again within "
         "a second",
         5min, false, lines_are_left_out},
    Rule{"store-faulty", Severity::ticket, "has a store that is damaged, or does not always answer in time",
         "look at its disk, and build the pair again; then: systemctl reload bloomgate-milter", 5min, true,
         store_has_faults},
    Rule{"whitelist-gone", Severity::ticket, "uses a whitelist whose file is gone",
         "put it back (bloomgate rollback FILE), or build it: bloomgate build --output FILE LIST...", 5min, true,
         whitelist_is_gone},
    Rule{"whitelist-empty", Severity::ticket, "has a whitelist without entries",
         "build it from your lists: bloomgate build --output FILE LIST...", 5min, false, whitelist_is_empty},
    Rule{"whitelist-shrunk", Severity::ticket,
         "has a whitelist with less than half of the entries of the one before it",
         "see whether a list was lost: bloomgate info; the file before is put back by: bloomgate rollback FILE", 5min,
         false, whitelist_has_shrunk},
    Rule{"whitelist-old", Severity::ticket, "has a whitelist that was written more than 8 days ago, or in the future",
         "find out why it is not built again: a timer, cron, bloomgate-update?", 60min, false, whitelist_is_old},
    Rule{"whitelist-overdue", Severity::ticket, "uses a signed whitelist whose manifest has expired",
         "where bloomgate pull fetches it, see what that reports (systemctl status 'bloomgate-pull@*'), and ask its "
         "publisher whether it is still signed; where it is made: bloomgate sign --key KEYFILE FILE",
         60min, false, whitelist_is_overdue},
    Rule{"manifests-not-kept", Severity::ticket, "cannot store which manifests of signed whitelists it has used",
         "name a file in taken-manifests whose folder the daemon's user may write to (install -d -o bloomgate -g "
         "bloomgate FOLDER); it tries again every 10 seconds",
         10min, false, manifest_is_not_kept},
    Rule{"whitelist-lacks-domains", Severity::ticket, "has a whitelist without its senders' domains",
         "build it again without --no-sender-domains", 60min, false, whitelist_lacks_domains},
    Rule{"update-fails", Severity::ticket, "could not update a whitelist",
         "the whitelist in use stays; see what it needs: journalctl -u bloomgate-update; then: systemctl start "
         "bloomgate-update",
         5min, false, update_has_failed},
    Rule{"false-positives-high", Severity::ticket, "finds over a tenth of unlisted senders at listed domains",
         "build the whitelists with more bits for each entry, or fold their layers into one", 5min, true, rate_is_high},
};

}  // namespace

std::span<const Rule> list_rules() noexcept {
  return kListRules;
}

}  // namespace bloomgate
