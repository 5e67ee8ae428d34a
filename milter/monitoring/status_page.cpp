#include "milter/monitoring/status_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <vector>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/html/page.hpp"
#include "milter/health/proportion.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

using SystemClock = std::chrono::system_clock;

constexpr std::size_t kTopReasons = 8;

constexpr std::size_t kQuarter = 15;  // minutes
constexpr std::size_t kBars = MinuteRing::kMinutes / kQuarter;
using Bars = std::array<DecisionBar, kBars>;  // the first is the oldest

Bars bars_of(const MinuteRing& minutes, std::size_t minutes_of_bar) {
  Bars bars = {};
  for (std::size_t ago = 0; ago < minutes.size(); ++ago) {
    const MessageCounts& minute = minutes.ago(ago);
    DecisionBar& bar = bars[kBars - 1 - ago / minutes_of_bar];
    bar.delivered += minute.delivered;
    bar.checked += minute.checked;
    bar.exempt += minute.exempt;
    bar.refused += minute.refused;
  }
  return bars;
}

std::string age(SystemClock::duration passed) {
  return format_age(std::chrono::duration_cast<std::chrono::seconds>(passed));
}

std::string grouped(std::uint64_t number) {
  return format_count(number, kNarrowSpace);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  return format_share(part, whole, kNarrowSpace);
}

std::string percent(double share) {
  return format_percent(share, kNarrowSpace);
}

std::string needs_action_section(const Monitor& monitor, bool with_senders) {
  const std::vector<HealthFinding> findings = needs_action(monitor);
  if (findings.empty()) return "<section><h2>Needs action</h2><p>Nothing.</p></section>\n";
  std::string html = "<section class=\"act\"><h2>Needs action</h2><ul>\n";
  for (const HealthFinding& each : findings) {
    html += fmt::format("<li><b>{}</b> {}", severity_name(each.severity), escaped(printable(each.what)));
    if (with_senders && !each.whom.empty()) html += ": " + escaped(printable(each.whom));
    html += "<p class=\"soft\">" + escaped(printable(each.how)) + "</p></li>\n";
  }
  return html + "</ul></section>\n";
}

std::string decisions_section(const Monitor& monitor) {
  const Tally& tally = monitor.tally();
  std::uint64_t all = 0;
  for (const Outcome each : kEachOutcome) all += tally.messages(each);
  std::string html = "<section><h2>Decisions since the start</h2><div class=\"row\">\n";
  html += fact(grouped(all), "messages");
  for (const Outcome each : kEachOutcome) {
    const std::uint64_t count = tally.messages(each);
    const bool is_of_lists = each == Outcome::deliver || each == Outcome::check;
    if (count == 0 && !is_of_lists) continue;
    const std::string_view name = outcome_name(each);
    const std::string_view why = each == Outcome::exempt   ? ", not incoming"
                                 : each == Outcome::refuse ? ", for forged fields"
                                                           : "";
    html += fact(fmt::format("<span class=\"{}\">{}</span>", name, share(count, all)),
                 fmt::format("{}{}: {}", name, why, grouped(count)));
  }
  html += fact(grouped(tally.open_sessions()), "connections now");
  return html + "</div>\n" + decisions_plot(monitor.minutes()) + "</section>\n";
}

std::string reasons_section(const Tally& tally) {
  struct Row {
    Outcome outcome;
    std::string_view reason;
    std::uint64_t count;
  };
  std::vector<Row> rows;
  std::uint64_t all = 0;
  const auto add = [&](Outcome outcome, std::string_view reason, std::uint64_t count) {
    all += count;
    const auto known =
        std::ranges::find_if(rows, [&](const Row& row) { return row.outcome == outcome && row.reason == reason; });
    if (known == rows.end()) {
      rows.push_back({outcome, reason, count});
    } else {
      known->count += count;
    }
  };
  for (const Tally::Messages& each : tally.messages()) {
    add(outcome_of(each.verdict, each.reason), reason_name(each.reason), each.count);
  }
  if (const std::uint64_t refused = tally.messages(Outcome::refuse); refused != 0) {
    add(Outcome::refuse, kForgedFields, refused);
  }
  std::ranges::sort(rows, std::ranges::greater(), &Row::count);
  if (rows.size() > kTopReasons) rows.resize(kTopReasons);
  std::string html = "<section><h2>Top reasons</h2>\n";
  if (rows.empty()) return html + "<p class=\"soft\">No message was decided yet.</p></section>\n";
  html += "<table><tr><th>decision</th><th>reason</th><th class=\"n\">messages</th><th class=\"n\">share</th></tr>\n";
  for (const Row& row : rows) {
    html +=
        fmt::format("<tr><td class=\"{0}\">{0}</td><td>{1}</td><td class=\"n\">{2}</td><td class=\"n\">{3}</td></tr>\n",
                    outcome_name(row.outcome), row.reason, grouped(row.count), share(row.count, all));
  }
  return html + "</table></section>\n";
}

// What the probes of a whitelist have shown, beside what they should.
std::string probes_html(const LoadedFilter& filter, const Probes& seen) {
  if (seen.probes == 0) return {};
  const Interval rate = wilson_interval(seen.hits, seen.probes);
  const std::string expected = filter.store() == nullptr ? "" : ", expected " + percent(expected_rate_of_bits(filter));
  return fact(percent(static_cast<double>(seen.hits) / static_cast<double>(seen.probes)),
              fmt::format("observed{}{}: {} of {} random keys, so {} to {}",
                          filter.store() == nullptr ? "" : " before the store is asked", expected, grouped(seen.hits),
                          grouped(seen.probes), percent(rate.lower), percent(rate.upper)));
}

// What the lists let through, as far as samples tell.
std::string samples_section(const Tally& tally) {
  const std::uint64_t spam = tally.samples(SampleAnswer::spam);
  const std::uint64_t answered = std::max(tally.answered_samples(), spam);
  const std::uint64_t others = tally.samples(SampleAnswer::failed) + tally.samples(SampleAnswer::dropped);
  if (tally.sample_share() == 0 && answered + others == 0) return {};
  std::string html = "<section><h2>Delivered mail that is spam</h2>\n";
  if (answered == 0) {
    html += "<p class=\"soft\">No sample was answered yet.</p>\n";
  } else {
    const Interval share = wilson_interval(spam, answered);
    html += "<div class=\"row\">\n" +
            fact(percent(static_cast<double>(spam) / static_cast<double>(answered)),
                 fmt::format("by the checker: {} of {} samples, so {} to {}", grouped(spam), grouped(answered),
                             percent(share.lower), percent(share.upper))) +
            "</div>\n";
  }
  html += fmt::format("<p class=\"soft\">{} of the delivered messages are shown to the checker afterwards",
                      percent(tally.sample_share()));
  if (others != 0) html += fmt::format("; {} samples were not answered", grouped(others));
  return html + ".</p></section>\n";
}

// What listed senders were held for, or would have been.
std::string bursts_section(const Monitor& monitor, SystemClock::time_point now) {
  const Brake::Status brake = monitor.brake();
  const std::uint64_t suspended = brake.suspended.suspended, for_user = brake.suspended.for_user;
  if (!brake.is_on && suspended + for_user == 0) return {};
  std::string html = "<section><h2>Listed senders who send much more than usual</h2>\n<div class=\"row\">\n";
  if (brake.observes_until) {
    html += fact(grouped(brake.noticed), "messages would have been checked");
  } else {
    html += fact(grouped(brake.held), "messages were checked");
  }
  html += fact(grouped(brake.senders), "senders are counted");
  html += fact(grouped(suspended), suspended == 1 ? "sender is suspended: its mail was spam"
                                                  : "senders are suspended: their mail was spam");
  if (for_user != 0) html += fact(grouped(for_user), "times a user has suspended a sender");
  html += "</div>\n";
  if (brake.observes_until) {
    html += fmt::format("<p class=\"soft\">Their habits are learned for {} more; until then none is checked.</p>\n",
                        age(*brake.observes_until - now));
  }
  return html + "</section>\n";
}

std::string whitelist_html(const NamedFilter& named, const RateProbes& probes, SystemClock::time_point now) {
  std::string html = "<h2>" + escaped(named.name) + "</h2>\n";
  if (!named.filter) return html + "<p class=\"refuse\">not loaded</p>\n";
  const LoadedFilter& filter = *named.filter;
  const FilterHeader& header = filter.header();
  const auto written = written_at(filter).value_or(filter.loaded_at());
  html += "<div class=\"row\">\n" + fact(grouped(entries_of(header)), "entries");
  html += fact(format_short_bytes(filter.file().stamp().size_bytes(), kNarrowSpace), "size");
  html += fact(share(header.bits_set, 8 * filter.view().body().size()), "fill");
  html +=
      fact(escaped(rate_text(filter.false_positive_rate(), filter.store() != nullptr)), "false positives, a look-up");
  html += probes_html(filter, probes.of(filter));
  html += "</div>\n<p class=\"soft\">" + escaped(printable(filter.path()));
  if (filter.store() != nullptr) html += ", confirmed by " + escaped(printable(filter.store()->path()));
  html += fmt::format("; written {} ago, loaded {} ago</p>\n", age(now - written), age(now - filter.loaded_at()));
  if (!header.knows_sender_domains()) {
    html += fmt::format("<p class=\"soft\">It {}.</p>\n", lack_of_sender_domains(filter.store() != nullptr));
  }
  return html;
}

std::string lists_section(const Monitor& monitor, SystemClock::time_point now) {
  const auto lists = monitor.lists();
  const ListParts& parts = lists->parts();
  std::string html;
  for (const NamedFilter& each : parts.whitelists)
    html += "<section>" + whitelist_html(each, monitor.probes(), now) + "</section>\n";
  html += "<section><h2>Rates promised</h2>\n";
  const std::string rate = message_rate(*lists, monitor.standing()->identity);
  html += "<p>" + escaped(rate.empty() ? "none: no whitelist serves" : rate) + "</p>\n";
  html += fmt::format("<p class=\"soft\">{} senders were looked up in the bits, which had {} of them.</p>\n",
                      grouped(monitor.tally().look_ups()), grouped(monitor.tally().hits()));
  for (const NamedExactList& each : kExactLists) {
    const auto& list = (parts.*each.part).list;
    if (list) html += fmt::format("<p class=\"soft\">{}: {} entries</p>\n", each.name, list->size());
  }
  return html + "</section>\n";
}

std::string decision_html(const SeenDecision& seen) {
  const std::string_view outcome =
      outcome_name(seen.is_refused ? Outcome::refuse : outcome_of(seen.verdict, seen.reason));
  const std::string_view reason = seen.is_refused ? kForgedFields : reason_name(seen.reason);
  std::string html = fmt::format("<div class=\"one\"><span class=\"soft\">{}</span> <b class=\"{}\">{}</b> {}<br>{}",
                                 format_time_of_day(SystemClock::to_time_t(seen.at)), outcome, outcome, reason,
                                 escaped(seen.sender.text()));
  html += "<span class=\"soft\"> From: " + escaped(seen.header_from.text());
  if (!seen.list.view().empty()) html += ", whitelist " + escaped(printable(seen.list.view()));
  return html + "</span></div>\n";
}

std::string last_section(const Monitor& monitor, bool with_senders) {
  std::string html = "<section><h2>Last decisions</h2>\n";
  if (!with_senders) {
    return html +
           "<p class=\"soft\">They are shown on a loopback address or a unix socket only, since they name domains that "
           "send mail.</p></section>\n";
  }
  const std::vector<SeenDecision> all = monitor.last_decisions();
  if (all.empty()) html += "<p class=\"soft\">None yet.</p>\n";
  for (const SeenDecision& each : all) html += decision_html(each);
  return html + "</section>\n";
}

}  // namespace

std::string decisions_plot(const MinuteRing& minutes) {
  if (minutes.size() == 0) return "<p class=\"soft\">The picture of the day begins with the first full minute.</p>\n";
  const bool is_young = minutes.size() <= kBars;
  const std::string_view span = is_young ? "96 minutes" : "24 hours";
  const std::string_view of_bar = is_young ? "a minute" : "15 minutes";
  const Bars bars = bars_of(minutes, is_young ? 1 : kQuarter);
  const std::string label = fmt::format("The last {}, at most {} in {}", span,
                                        std::ranges::max(bars, {}, &DecisionBar::height).height(), of_bar);
  // The words are no part of the picture, which is small on a telephone.
  return "<p class=\"soft\">" + label + ":</p>" + stacked_bars(bars, label);
}

std::string status_page(const Monitor& monitor, bool with_senders) {
  const SystemClock::time_point now = SystemClock::now();
  std::string html = page_head("Bloomgate");
  html += fmt::format(
      "<header><h1>Bloomgate</h1><p class=\"soft\">bloomgate-milter {}, running for {}, as of {}</p></header>\n",
      BLOOMGATE_VERSION, age(now - monitor.started_at()), format_time(SystemClock::to_time_t(now)));
  html += needs_action_section(monitor, with_senders);
  html += decisions_section(monitor);
  html += reasons_section(monitor.tally());
  html += samples_section(monitor.tally());
  html += bursts_section(monitor, now);
  html += lists_section(monitor, now);
  html += last_section(monitor, with_senders);
  return html +
         "<p class=\"soft\">The figures for Prometheus are at <a href=\"/metrics\">/metrics</a>.</p></body></html>\n";
}

}  // namespace bloomgate
