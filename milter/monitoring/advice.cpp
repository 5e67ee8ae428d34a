#include "milter/monitoring/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/update_faults.hpp"
#include "milter/monitoring/proportion.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kLoadGoodFile =
    "Put a good file in its place (bloomgate verify tells), then: systemctl reload bloomgate-milter";
constexpr std::string_view kBuildAnew =
    "Build it anew, with room for all of its entries, and see what bloomgate info and bloomgate verify say of it.";
constexpr std::string_view kMissingWhitelist =
    "Build it with bloomgate build, or copy it there; it is loaded as soon as it is there and good.";

constexpr std::string_view kSpamDelivered =
    "bloomgate report names their senders; bloomgate-milter revoke ADDRESS stops one within a second.";
// What the share is at least, with 95 % confidence, where somebody should look: with the rate of the alert in
// config/prometheus.
constexpr double kMostSpamDelivered = 0.02;

void add_missing(const ListParts& parts, std::vector<Advice>& advice) {
  for (const NamedFilter& each : parts.whitelists) {
    if (each.filter) continue;
    advice.push_back({"whitelist " + each.name + " is not loaded: it lists nobody", std::string(kMissingWhitelist)});
  }
  if (parts.whitelists.empty()) {
    advice.push_back({std::string(kNoWhitelist), std::string(kMissingWhitelist)});
  }
}

void add_too_many_hits(const ListParts& parts, const RateProbes& probes, std::vector<Advice>& advice) {
  for (const NamedFilter& each : parts.whitelists) {
    if (!each.filter) continue;
    const Probes seen = probes.of(*each.filter);
    const double expected = expected_rate_of_bits(*each.filter);
    if (!has_too_many_hits(seen, expected)) continue;
    advice.push_back(
        {fmt::format("the bits of whitelist {} have {} of {} random keys that no list can hold, instead of "
                     "{}: strangers pass for listed",
                     each.name, seen.hits, seen.probes, rate_text(expected, false)),
         std::string(kBuildAnew)});
  }
}

void add_spam_delivered(const Tally& tally, std::vector<Advice>& advice) {
  const std::uint64_t spam = tally.samples(SampleAnswer::spam);
  const std::uint64_t answered = std::max(tally.answered_samples(), spam);
  if (answered == 0 || wilson_interval(spam, answered).lower <= kMostSpamDelivered) return;
  advice.push_back({fmt::format("of {} delivered messages that were sampled the checker calls {} spam", answered, spam),
                    std::string(kSpamDelivered)});
}

}  // namespace

std::vector<Advice> advice_on(const Monitor& monitor) {
  std::vector<Advice> advice;
  const auto lists = monitor.lists();
  const auto standing = monitor.standing();
  for (std::string& fault : list_faults(*lists)) advice.push_back({std::move(fault), std::string(kLoadGoodFile)});
  add_missing(lists->parts(), advice);
  for (const WhitelistSource& source : standing->whitelists) {
    for (std::string& fault : update_faults(source.path))
      advice.push_back({std::move(fault), std::string(kUpdateRemedy)});
  }
  add_too_many_hits(lists->parts(), monitor.probes(), advice);
  add_spam_delivered(monitor.tally(), advice);
  if (!standing->refused_reload.empty()) {
    advice.push_back({"the last reload was refused: " + standing->refused_reload,
                      "What was in use goes on. Mend what is named, then: systemctl reload bloomgate-milter"});
  }
  if (monitor.results_missing()) advice.push_back({std::string(kNoTrustedResults), ""});
  if (const Learner::Status learning = monitor.learning(); !learning.fault.empty()) {
    advice.push_back({std::string(kNothingIsLearned) + learning.fault,
                      "Mail goes on, and what is known stays listed. The daemon tries again every few seconds."});
  }
  if (!standing->waits_for_restart.empty()) {
    advice.push_back({std::string(kWaitsForRestart) + standing->waits_for_restart,
                      "When it suits you: systemctl restart bloomgate-milter"});
  }
  if (const std::uint64_t lost = monitor.lost_log_lines(); lost != 0) {
    advice.push_back({fmt::format("{} log lines were lost since the start", lost),
                      "See whether the disk of the log is full or slow; log-level = warning writes fewer lines."});
  }
  if (const std::uint64_t count = monitor.tally().turned_away(); count != 0) {
    advice.push_back({fmt::format("{} connections were turned away since the start: their mail was sent to the deeper "
                                  "checks, or waits at its sender",
                                  count),
                      "Raise max-connections, if the mail server may have so many; or see why they stay open."});
  }
  return advice;
}

}  // namespace bloomgate
