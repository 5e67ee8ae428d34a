#include "milter/monitoring/status_figures.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/reason_meaning.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

using SystemClock = std::chrono::system_clock;

std::string host_of(const Monitor& monitor) {
  const std::string& configured = monitor.settings()->options.host_name;
  if (!configured.empty()) return configured;
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return printable(name.data());
}

MessageCounts today_of(const DecisionHistory& history, SystemClock::time_point now) {
  const auto midnight = std::chrono::floor<std::chrono::days>(now);
  MessageCounts sum;
  for (auto at = std::chrono::sys_seconds(midnight); at <= now; at += DecisionHistory::Quarters::kSpan) {
    sum += history.quarters().of(at);
  }
  return sum;
}

std::vector<ReasonCount> reasons_of(const Tally& tally) {
  std::vector<ReasonCount> all;
  for (const Tally::Messages& each : tally.messages()) {
    const Outcome outcome = outcome_of(each.verdict, each.reason);
    const std::string_view reason = reason_name(each.reason);
    const auto known = std::ranges::find_if(
        all, [&](const ReasonCount& row) { return row.outcome == outcome && row.reason == reason; });
    if (known == all.end()) {
      all.push_back({outcome, reason, reason_meaning(each.reason), each.count});
    } else {
      known->messages += each.count;
    }
  }
  if (const std::uint64_t refused = tally.messages(Outcome::refuse); refused != 0) {
    all.push_back({Outcome::refuse, kForgedFields, kForgedFieldsMeaning, refused});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &ReasonCount::messages);
  return all;
}

std::uint64_t keys_looked_up(const Tally& tally) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kTxtStatuses; ++i) all += tally.key_lookups(static_cast<TxtStatus>(i));
  return all;
}

std::string time_text(SystemClock::time_point time) {
  return format_time(SystemClock::to_time_t(time));
}

// The lowest class bound that the given share of all observations, from 0 to 1, does not exceed.
std::optional<double> bound_of_share(std::span<const double> bounds, const TimeHistogram::Reading& times,
                                     double share) {
  if (times.cumulative.back() == 0) return {};
  const double wanted = share * static_cast<double>(times.cumulative.back());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (static_cast<double>(times.cumulative[i]) >= wanted) return bounds[i];
  }
  return {};
}

Json json_of(const MessageCounts& counts) {
  return {
      {"deliver", counts.delivered}, {"check", counts.checked}, {"exempt", counts.exempt}, {"refuse", counts.refused}};
}

Json json_of(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json json_of(const NamedFilter& named, const RateProbes& probes) {
  Json made = {{"name", printable(named.name)}, {"loaded", nullptr}};
  if (!named.filter) return made;
  const LoadedFilter& filter = *named.filter;
  const Probes seen = probes.of(filter);
  made["loaded"] = time_text(filter.loaded_at());
  made["written"] = time_text(written_at(filter).value_or(filter.loaded_at()));
  made["path"] = printable(filter.path());
  made["damaged"] = filter.damaged();
  made["entries"] = entries_of(filter.header());
  made["bytes"] = filter.file().stamp().size_bytes();
  made["false_positive_rate"] = filter.false_positive_rate();
  made["probes"] = {{"keys", seen.probes}, {"found", seen.hits}};
  return made;
}

std::uint64_t pairs_of(const std::vector<HeardStatus>& hosts) noexcept {
  std::uint64_t pairs = 0;
  for (const HeardStatus& each : hosts) pairs += each.pairs;
  return pairs;
}

}  // namespace

StatusFigures status_figures(const Monitor& monitor) {
  const SystemClock::time_point now = SystemClock::now();
  const Tally& tally = monitor.tally();
  const Learner::Status learning = monitor.learning();
  const auto bounds = tally.decision_times().bounds();
  const TimeHistogram::Reading times = tally.decision_times().read();
  return {.now = now,
          .started_at = monitor.started_at(),
          .host = host_of(monitor),
          .since_start = messages_of(tally),
          .today = today_of(monitor.history(), now),
          .reasons = reasons_of(tally),
          .decisions = times.cumulative.back(),
          .half_within = bound_of_share(bounds, times, 0.5),
          .nearly_all_within = bound_of_share(bounds, times, 0.99),
          .longest = bounds.back(),
          .keys_looked_up = keys_looked_up(tally),
          .connections = tally.open_sessions(),
          .is_learning = learning.is_on,
          .learned = learning.learned,
          .pairs = learning.pairs,
          .heard_hosts = learning.heard.size(),
          .heard_pairs = pairs_of(learning.heard),
          .suspended = monitor.brake().suspended.suspended};
}

Json status_json(const Monitor& monitor, bool with_senders) {
  const StatusFigures figures = status_figures(monitor);
  Json reasons = Json::array();
  for (const ReasonCount& each : figures.reasons) {
    reasons.push_back({{"decision", outcome_name(each.outcome)}, {"reason", each.reason}, {"messages", each.messages}});
  }
  Json whitelists = Json::array();
  const auto lists = monitor.lists();
  for (const NamedFilter& each : lists->parts().whitelists) whitelists.push_back(json_of(each, monitor.probes()));
  return {{"host", figures.host},
          {"version", BLOOMGATE_VERSION},
          {"time", time_text(figures.now)},
          {"started", time_text(figures.started_at)},
          {"needs_action", findings_json(needs_action(monitor), with_senders)},
          {"messages", {{"since_start", json_of(figures.since_start)}, {"today", json_of(figures.today)}}},
          {"reasons", std::move(reasons)},
          {"decision_seconds", {{"p50", json_of(figures.half_within)}, {"p99", json_of(figures.nearly_all_within)}}},
          {"keys_looked_up", figures.keys_looked_up},
          {"connections", figures.connections},
          {"learned",
           {{"is_on", figures.is_learning},
            {"since_start", figures.learned},
            {"pairs", figures.pairs},
            {"heard", figures.heard_pairs}}},
          {"suspended", figures.suspended},
          {"false_positive_rate", json_of(false_positive_rate_of_message(*lists, monitor.standing()->identity))},
          {"whitelists", std::move(whitelists)}};
}

}  // namespace bloomgate
