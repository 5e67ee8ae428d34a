#include "milter/monitoring/health_of_daemon.hpp"

#include <algorithm>
#include <iterator>

#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "milter/health/file_facts.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

void add_messages(const Tally& tally, HealthCounts& counts) {
  counts.delivered = tally.messages(Outcome::deliver);
  counts.messages = counts.delivered + tally.messages(Outcome::check);
  for (const Tally::Messages& each : tally.messages()) {
    if (!each.list.empty()) counts.listed += each.count;
    if (each.reason == Reason::internal_error) counts.internal_errors += each.count;
  }
  const TimeHistogram::Reading times = tally.decision_times().read();
  const auto bounds = tally.decision_times().bounds();
  const auto past = std::ranges::upper_bound(bounds, kSlowSeconds);
  if (past != bounds.begin()) {
    counts.slow = times.cumulative.back() - times.cumulative[static_cast<std::size_t>(past - bounds.begin()) - 1];
  }
}

void add_checks(const Tally& tally, HealthCounts& counts) {
  for (const Tally::DeepChecks& each : tally.deep_checks()) {
    counts.deep_checks += each.count;
    if (each.answer == "failed") counts.failed_deep_checks += each.count;
  }
  counts.samples_spam = tally.samples(SampleAnswer::spam);
  counts.samples_ham = tally.samples(SampleAnswer::ham);
  counts.samples_unanswered = tally.samples(SampleAnswer::failed) + tally.samples(SampleAnswer::dropped);
  counts.child_signed = tally.child_signed();
  for (std::size_t i = 0; i < kSignatureOutcomes; ++i) {
    counts.signatures[i] = tally.signatures(static_cast<SignatureOutcome>(i));
  }
}

std::vector<WhitelistFacts> whitelists_of(const Monitor& monitor, const LoadedLists& lists) {
  std::vector<WhitelistFacts> all;
  for (const WhitelistSource& source : monitor.settings()->options.whitelists) {
    std::vector<NamedFilter> filters;
    std::ranges::copy_if(lists.parts().whitelists, std::back_inserter(filters),
                         [&](const NamedFilter& each) { return configured_name(each.name) == source.name; });
    WhitelistFacts facts = whitelist_facts(source, filters);
    for (const NamedFilter& each : filters) {
      if (!each.filter) continue;
      const Probes seen = monitor.probes().of(*each.filter);
      facts.probed.push_back({each.name, seen.probes, seen.hits, expected_rate_of_bits(*each.filter)});
    }
    all.push_back(std::move(facts));
  }
  return all;
}

std::vector<ExactListFacts> exact_lists_of(const LoadedLists& lists) {
  std::vector<ExactListFacts> all;
  for (const NamedExactList& each : kExactLists) {
    const ExactListPart& part = lists.parts().*each.part;
    if (!part.is_configured()) continue;
    all.push_back({.name = each.name, .fault = part.is_lost ? "the log says why" : "", .left_out = part.left_out});
  }
  return all;
}

}  // namespace

HealthCounts counts_of(const Monitor& monitor) {
  HealthCounts counts;
  add_messages(monitor.tally(), counts);
  add_checks(monitor.tally(), counts);
  counts.turned_away = monitor.tally().turned_away();
  counts.without_descriptor = monitor.tally().without_descriptor();
  counts.lost_log_lines = monitor.lost_log_lines();
  const Learner::Status learning = monitor.learning();
  counts.learned = learning.learned + learning.renewed;
  counts.over_rate = learning.over_rate;
  counts.over_exempt_rate = learning.over_exempt_rate;
  return counts;
}

HealthFacts health_facts(const Monitor& monitor) {
  const auto settings = monitor.settings();
  const auto standing = monitor.standing();
  const auto lists = monitor.lists();
  const HealthCounts counts = counts_of(monitor);
  const RecentCounts& recent = monitor.recent();
  const Learner::Status learning = monitor.learning();
  const Brake::Status brake = monitor.brake();
  RunningFacts running = {.hour = recent.last_hour(counts),
                          .day = recent.last_day(counts),
                          .is_learning = learning.is_on,
                          .learning_fault = learning.fault,
                          .brake_fault = brake.fault,
                          .suspensions_fault = brake.suspended.fault,
                          .suspensions_are_stopped = brake.suspended.is_stopped,
                          .suspended = brake.suspended.suspended,
                          .refused_reload = standing->refused_reload,
                          .waits_for_restart = standing->waits_for_restart,
                          .results_are_missing = monitor.results_missing(),
                          .name_servers_fail = monitor.tally().name_servers_failing(),
                          .session_limit = monitor.tally().session_limit(),
                          .false_positive_rate = false_positive_rate_of_message(*lists, standing->identity),
                          .unproven_domains = monitor.unproven_domains()};
  for (const HeardStatus& each : learning.heard) running.heard.push_back({each.folder, each.fault, each.is_overdue});
  if (recent.knows_a_week()) running.learned_in_week = recent.last_week(counts).learned;
  return {.config_path = settings->config_path,
          .options = settings->options,
          .given = settings->given,
          .whitelists = whitelists_of(monitor, *lists),
          .exact_lists = exact_lists_of(*lists),
          .running = std::move(running)};
}

std::vector<HealthFinding> needs_action(const Monitor& monitor) {
  return findings_of(health_facts(monitor));
}

Json findings_json(const std::vector<HealthFinding>& findings, bool with_senders) {
  Json all = Json::array();
  for (const HealthFinding& each : findings) {
    const bool shows_whom = with_senders && !each.whom.empty();
    all.push_back({{"rule", each.rule},
                   {"severity", severity_name(each.severity)},
                   {"what", printable(shows_whom ? each.what + ": " + each.whom : each.what)},
                   {"how", printable(each.how)}});
  }
  return all;
}

}  // namespace bloomgate
