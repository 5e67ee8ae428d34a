#include "filter/report/figures_json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <span>

#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "filter/report/report_days.hpp"

namespace bloomgate {
namespace {

// Does not use std::chrono::system_clock, whose nanoseconds only cover the years from 1678 to 2262.
Json utc(LogTime time) {
  const std::time_t seconds = time.time_since_epoch().count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

Json outcomes_json(const OutcomeCounts& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kOutcomes; ++i) json[std::string(outcome_name(static_cast<Outcome>(i)))] = counts[i];
  return json;
}

// {"listed.example": 12, …}
Json names_json(const SpaceSaving& names) {
  Json json = Json::object();
  for (const SpaceSaving::Item& item : names.top(Figures::kMostNames)) json[printable(item.word)] = item.count;
  return json;
}

// [{"domain": "listed.example", "messages": 12, "too_high_by_at_most": 0}, …]
Json domains_json(const SpaceSaving& domains, std::size_t most) {
  Json json = Json::array();
  for (const SpaceSaving::Item& item : domains.top(most)) {
    json.push_back({{"domain", printable(item.word)}, {"messages", item.count}, {"too_high_by_at_most", item.error}});
  }
  return json;
}

Json signers_json(const SpaceSaving& words, std::size_t most, const char* listed,
                  ListedSigner (*read)(const std::string&)) {
  Json json = Json::array();
  for (const SpaceSaving::Item& item : words.top(most)) {
    const ListedSigner each = read(item.word);
    json.push_back({{listed, printable(each.listed)},
                    {"signer", printable(each.signer)},
                    {"messages", item.count},
                    {"too_high_by_at_most", item.error}});
  }
  return json;
}

Json reasons_json(const Figures& figures) {
  Json json = Json::array();
  for (const SpaceSaving::Item& item : figures.reasons.top(Figures::kMostNames)) {
    const auto [decision, reason] = halves_of(item.word);
    json.push_back({{"decision", printable(decision)}, {"reason", printable(reason)}, {"messages", item.count}});
  }
  return json;
}

Json held_json(const Figures& figures, std::size_t most) {
  Json json = Json::array();
  for (const SpaceSaving::Item& item : figures.held.top(most)) {
    const auto [reason, sender] = halves_of(item.word);
    json.push_back({{"sender", printable(sender)},
                    {"reason", printable(reason)},
                    {"messages", item.count},
                    {"too_high_by_at_most", item.error}});
  }
  return json;
}

Json unauthenticated_json(const Figures& figures, std::size_t most) {
  const auto text = [](const std::string& word) { return word.empty() ? Json() : Json(printable(word)); };
  Json json = Json::array();
  const std::vector<Unauthenticated> all = figures.unauthenticated();
  for (const Unauthenticated& each : std::span(all).first(std::min(all.size(), most))) {
    json.push_back({{"listed", printable(each.listed)},
                    {"reason", printable(each.reason)},
                    {"signature", text(each.signature)},
                    {"last_signed_by", text(each.last_signed_by)},
                    {"messages", each.messages},
                    {"too_high_by_at_most", each.error}});
  }
  return json;
}

Json senders_json(const Figures& figures, std::size_t most) {
  Json json = Json::array();
  for (const SpaceSaving::Item& item : figures.senders.top(most)) {
    json.push_back({{"domain", printable(item.word)},
                    {"messages", item.count},
                    {"delivered", figures.delivered_of(item)},
                    {"too_high_by_at_most", item.error}});
  }
  return json;
}

Json times_json(const TimeCounts& times) {
  return {{"count", times.count()},
          {"mean", times.mean_seconds()},
          {"median", times.quantile_seconds(0.5)},
          {"percentile_99", times.quantile_seconds(0.99)},
          {"longest", times.longest_seconds()}};
}

Json slow_json(const Figures& figures) {
  Json json = times_json(figures.decision_times);
  for (std::size_t mark = 0; mark < TimeCounts::kMarks.size(); ++mark) {
    json["longer_than"][fmt::format("{}", TimeCounts::kMarks[mark])] = figures.decision_times.longer()[mark];
  }
  json["slowest"] = Json::array();
  for (const SlowDecision& slow : figures.slowest) {
    json["slowest"].push_back({{"seconds", slow.seconds},
                               {"time", utc(slow.time)},
                               {"queue_id", printable(slow.queue_id)},
                               {"reason", printable(slow.reason)}});
  }
  return json;
}

Json days_json(const Figures& figures) {
  Json json = Json::array();
  for (const ReportDay& day : days_of(figures)) {
    Json one = {{"date", day.date}};
    one.update(outcomes_json(day.outcomes));
    json.push_back(std::move(one));
  }
  return json;
}

Json hours_json(const Figures& figures) {
  Json json = Json::array();
  for (const auto& [hour, counts] : figures.hours) {
    Json one = {{"begins", utc(LogTime(std::chrono::hours(hour)))}};
    one.update(outcomes_json(counts));
    json.push_back(std::move(one));
  }
  return json;
}

Json samples_json(const Figures& figures, std::size_t most) {
  Json senders = Json::array();
  for (const SpaceSaving::Item& item : figures.spam_senders.top(most)) {
    senders.push_back({{"sender", printable(item.word)},
                       {"spam", item.count},
                       {"too_high_by_at_most", item.error},
                       {"last", printable(item.note)}});
  }
  return {{"messages", figures.samples.total()},
          {"answers", names_json(figures.samples)},
          {"spam_senders", std::move(senders)}};
}

Json warnings_json(const Figures& figures, std::size_t most) {
  Json json = Json::array();
  for (const SpaceSaving::Item& item : figures.warnings.top(most)) {
    json.push_back({{"times", item.count}, {"last", printable(item.note)}});
  }
  return json;
}

Json unasked_json(const Figures& figures) {
  Json json = Json::array();
  for (const auto& [name, milter] : figures.unasked) {
    json.push_back({{"milter", printable(name)},
                    {"sessions", milter.sessions},
                    {"first", utc(milter.first)},
                    {"last", utc(milter.last)},
                    {"why", printable(milter.why)}});
  }
  return json;
}

}  // namespace

std::string figures_json(const Figures& figures, const ReadCounts& counts, std::size_t most) {
  Json json = {{"first", figures.first ? utc(*figures.first) : Json()},
               {"last", figures.last ? utc(*figures.last) : Json()},
               {"logs", counts.logs},
               {"lines", counts.lines},
               {"daemon_lines", counts.daemon_lines},
               {"undated_lines", counts.undated_lines},
               {"lost_lines", figures.lost_lines},
               {"starts", figures.starts},
               {"messages", figures.messages},
               {"decisions", outcomes_json(figures.outcomes)},
               {"reasons", reasons_json(figures)}};
  json["delivered_by"] = {{"identity", names_json(figures.identities)},
                          {"authentication", names_json(figures.authentications)},
                          {"whitelist", names_json(figures.whitelists)}};
  json["days"] = days_json(figures);
  json["hours"] = hours_json(figures);
  json["held_senders"] = held_json(figures, most);
  json["unauthenticated"] = unauthenticated_json(figures, most);
  json["senders"] = senders_json(figures, most);
  json["recipients"] = {{"messages", figures.recipient_messages},
                        {"looked_up", figures.recipients},
                        {"with_entry", figures.listing_recipients}};
  json["listed_domains"] = domains_json(figures.listed_domains, most);
  json["unlisted_domains"] = domains_json(figures.unlisted_domains, most);
  json["needed_signers"] = signers_json(figures.needed_signers, most, "listed", needed_signer_of);
  json["child_signers"] = signers_json(figures.child_signers, most, "domain", child_signer_of);
  json["without_domain"] = figures.without_domain;
  json["forged"] = {{"messages", figures.forging_messages},
                    {"fields", figures.forged_fields},
                    {"domains", domains_json(figures.forging_domains, most)}};
  json["decision_seconds"] = slow_json(figures);
  json["confirmations"] = {{"answers", names_json(figures.confirmations)},
                           {"seconds", times_json(figures.confirm_times)}};
  json["deep_checks"] = {{"answers", names_json(figures.checks)},
                         {"seconds", times_json(figures.check_times)},
                         {"failed_seconds", times_json(figures.failed_check_times)}};
  const std::optional<double> spared = figures.spared_seconds();
  json["spared"] = {{"messages", figures.spared_messages()}, {"estimated_seconds", spared ? Json(*spared) : Json()}};
  json["samples"] = samples_json(figures, most);
  json["warnings"] = warnings_json(figures, most);
  json["unasked_milters"] = unasked_json(figures);
  return json.dump(2) + '\n';
}

}  // namespace bloomgate
