#include "milter/monitoring/status_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/html/page.hpp"
#include "milter/health/proportion.hpp"
#include "milter/lists/taken_manifests.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/reason_meaning.hpp"
#include "milter/monitoring/service_status.hpp"
#include "milter/monitoring/status_figures.hpp"

namespace bloomgate {
namespace {

using SystemClock = std::chrono::system_clock;

constexpr std::size_t kTopReasons = 8;
constexpr std::size_t kShownDecisions = 15;  // the others are shown after a click
constexpr std::uint64_t kTellingProbes = 1000;
constexpr std::chrono::seconds kRefresh(30);

std::string age(SystemClock::duration passed) {
  return format_age(std::chrono::duration_cast<std::chrono::seconds>(passed));
}

std::string grouped(std::uint64_t number) {
  return format_count(number);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  return format_share(part, whole, kNarrowSpace);
}

std::string percent(double share) {
  return format_percent(share, kNarrowSpace);
}

// "250 µs"
std::string duration(double time) {
  if (time < 1e-3) return fmt::format("{:g}\u202f\u00b5s", time * 1e6);
  return time < 1 ? fmt::format("{:g}\u202fms", time * 1e3) : fmt::format("{:g}\u202fs", time);
}

// The time within which a part of the decisions was made.
std::string time_fact(const std::optional<double>& within, double longest, std::string_view part) {
  if (within) return fact(duration(*within), fmt::format("or less, for {} decisions", part));
  return fact("over " + duration(longest), fmt::format("for {} decisions", part));
}

std::string times_facts(const StatusFigures& figures) {
  if (figures.decisions == 0) return fact("none yet", "decisions whose time is known");
  return time_fact(figures.half_within, figures.longest, "half of the") +
         time_fact(figures.nearly_all_within, figures.longest, "99 of 100");
}

// The state in a few words, for the title of the page.
std::string state(const std::vector<HealthFinding>& findings) {
  const auto count = [&](Severity severity) {
    return std::ranges::count(findings, severity, &HealthFinding::severity);
  };
  if (const auto urgent = count(Severity::page); urgent != 0) return fmt::format("{} urgent", urgent);
  if (const auto soon = count(Severity::ticket); soon != 0) return fmt::format("{} to do", soon);
  return "OK";
}

std::string needs_action_section(const std::vector<HealthFinding>& findings, bool with_senders) {
  if (findings.empty()) return "<section><h2>Needs action</h2><p>Nothing: all is well.</p></section>\n";
  const bool acts = std::ranges::any_of(findings, [](const auto& each) { return each.severity != Severity::notice; });
  std::string html = acts ? "<section class=\"act\"><h2>Needs action</h2><ul>\n"
                          : "<section><h2>Needs action</h2><p>Nothing: all is well. To know:</p><ul>\n";
  for (const HealthFinding& each : findings) {
    html += fmt::format("<li><b>{}</b> {}", urgency(each.severity), escaped(printable(each.what)));
    if (with_senders && !each.whom.empty()) html += ": " + escaped(printable(each.whom));
    html += "<p class=\"soft\">" + escaped(printable(each.how)) + "</p></li>\n";
  }
  return html + "</ul></section>\n";
}

std::string counts_row(const MessageCounts& counts) {
  std::string html = "<div class=\"row\">\n" + fact(grouped(counts.all()), "messages");
  const auto add = [&](std::string_view name, std::string_view said, std::uint64_t count, bool always) {
    if (count == 0 && !always) return;
    html += fact(fmt::format("<span class=\"{}\">{}</span>", name, grouped(count)),
                 fmt::format("{}: {}", said, share(count, counts.all())));
  };
  add("deliver", "delivered", counts.delivered, true);
  add("check", "checked", counts.checked, true);
  add("exempt", "not incoming", counts.exempt, false);
  add("refuse", "refused", counts.refused, false);
  return html + "</div>\n";
}

std::string decisions_section(const StatusFigures& figures, const DecisionHistory& history) {
  std::string html = "<section><h2>Decisions</h2><h3>Today, since midnight (UTC)</h3>" + counts_row(figures.today);
  html += "<h3>Since the start</h3>" + counts_row(figures.since_start);
  return html + "<h3>Over time (UTC)</h3>" +
         decision_charts(history, std::chrono::floor<std::chrono::seconds>(figures.now)) + chart_legend() +
         "</section>\n";
}

std::string reasons_section(const StatusFigures& figures) {
  std::string html = "<section><h2>Top reasons</h2>\n";
  if (figures.reasons.empty()) return html + "<p class=\"soft\">No message was decided yet.</p></section>\n";
  constexpr std::string_view kHeads[] = {"decision and reason", "messages#"};
  std::string rows = head_row(kHeads);
  std::uint64_t all = 0, others = 0;
  for (const ReasonCount& row : figures.reasons) all += row.messages;
  const std::span top = std::span(figures.reasons).first(std::min(figures.reasons.size(), kTopReasons));
  for (const ReasonCount& row : std::span(figures.reasons).subspan(top.size())) others += row.messages;
  for (const ReasonCount& row : top) {
    rows += fmt::format(
        "<tr><th class=\"w\" scope=\"row\"><b class=\"{0}\">{0}</b>: <a href=\"{1}#{2}\">{2}</a><br><span "
        "class=\"soft\">{3}</span></th><td class=\"n\">{4}<br>{5}</td></tr>\n",
        outcome_name(row.outcome), kReasonsPath, row.reason, escaped(row.meaning), grouped(row.messages),
        share(row.messages, all));
  }
  if (others != 0) {
    rows += fmt::format("<tr><th scope=\"row\">all other reasons</th><td class=\"n\">{}<br>{}</td></tr>\n",
                        grouped(others), share(others, all));
  }
  return html + table("Since the start, the most frequent first", rows) + "</section>\n";
}

std::string work_section(const StatusFigures& figures) {
  std::string html = "<section><h2>What it does</h2><div class=\"row\">\n";
  html += times_facts(figures);
  html += fact(grouped(figures.keys_looked_up), "keys of signatures were looked up");
  html += figures.is_learning
              ? fact(grouped(figures.learned), fmt::format("pairs were learned; {} are known", grouped(figures.pairs)))
              : fact("off", "learning from outgoing mail");
  if (figures.heard_hosts != 0) {
    html += fact(grouped(figures.heard_pairs), fmt::format("pairs are known that {} have learned",
                                                           figures.heard_hosts == 1 ? "another host" : "other hosts"));
  }
  html += fact(grouped(figures.suspended), figures.suspended == 1 ? "sender is suspended" : "senders are suspended");
  html += fact(grouped(figures.connections), "connections of mail servers now");
  return html + "</div></section>\n";
}

// The result of the probes of a whitelist, beside the expected one.
std::string probes_html(const LoadedFilter& filter, const Probes& seen) {
  if (seen.probes == 0) return {};
  const std::string before = filter.store() == nullptr ? "" : " before the store is asked";
  if (seen.probes < kTellingProbes) {
    return fact("not known yet", fmt::format("observed{}: too few, {} random keys, were looked up so far", before,
                                             grouped(seen.probes)));
  }
  const Interval rate = wilson_interval(seen.hits, seen.probes);
  const std::string expected = filter.store() == nullptr ? "" : ", expected " + percent(expected_rate_of_bits(filter));
  return fact(percent(static_cast<double>(seen.hits) / static_cast<double>(seen.probes)),
              fmt::format("observed{}{}: {} of {} random keys, so {} to {}", before, expected, grouped(seen.hits),
                          grouped(seen.probes), percent(rate.lower), percent(rate.upper)));
}

// How much spam the lists let through, according to the samples.
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

// Why listed senders were held, or would have been.
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
  std::string html = "<h2>Whitelist " + escaped(named.name) + "</h2>\n";
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
  if (named.manifest) {
    const Manifest& manifest = named.manifest->manifest;
    html +=
        fmt::format("<p class=\"soft\">Published as number {} of list {} on {}; holds until {}</p>\n", manifest.number,
                    escaped(manifest.list), date_text(manifest.made), date_text(manifest.holds_until));
  }
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
  html +=
      fmt::format("<p class=\"soft\">{} {} looked up; the bits of the whitelists had {}.</p>\n",
                  grouped(monitor.tally().look_ups()),
                  word_for(monitor.tally().look_ups(), "sender was", "senders were"), grouped(monitor.tally().hits()));
  for (const NamedExactList& each : kExactLists) {
    const auto& list = (parts.*each.part).list;
    if (list)
      html += fmt::format("<p class=\"soft\">{}: {} {}</p>\n", each.name, grouped(list->size()),
                          word_for(list->size(), "entry", "entries"));
  }
  return html + "</section>\n";
}

// "29 Nov"
std::string day_text(std::chrono::sys_seconds time) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time));
  return fmt::format("{}\u00a0{}", static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1]);
}

// "10:15"
std::string minute_text(std::chrono::sys_seconds time) {
  return format_time_of_day(SystemClock::to_time_t(time)).substr(0, 5);
}

// "10:15:00", with its day unless that is today.
std::string time_of(SystemClock::time_point time, SystemClock::time_point now) {
  const std::string text = format_time_of_day(SystemClock::to_time_t(time));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  if (day == std::chrono::floor<std::chrono::days>(now)) return text;
  return day_text(std::chrono::sys_seconds(day)) + "<br>" + text;
}

std::string decision_row(const SeenDecision& seen, SystemClock::time_point now) {
  const std::string_view outcome =
      outcome_name(seen.is_refused ? Outcome::refuse : outcome_of(seen.verdict, seen.reason));
  const std::string_view reason = seen.is_refused ? kForgedFields : reason_name(seen.reason);
  std::string html = fmt::format(
      "<tr><th scope=\"row\">{0}<br><b class=\"{1}\">{1}</b></th><td class=\"w\">{2}<br><span class=\"soft\">"
      "<a href=\"{3}#{4}\">{4}</a>, From: {5}",
      time_of(seen.at, now), outcome, escaped(seen.sender.text()), kReasonsPath, reason,
      escaped(seen.header_from.text()));
  if (!seen.list.view().empty()) html += ", whitelist " + escaped(printable(seen.list.view()));
  if (!seen.queue_id.view().empty()) html += ", queue ID " + escaped(printable(seen.queue_id.view()));
  return html + "</span></td></tr>\n";
}

std::string decisions_table(std::string_view caption, std::span<const SeenDecision> all, SystemClock::time_point now) {
  constexpr std::string_view kHeads[] = {"time (UTC), decision", "envelope sender, reason"};
  std::string rows = head_row(kHeads);
  for (const SeenDecision& each : all) rows += decision_row(each, now);
  return table(caption, rows);
}

std::string last_section(const Monitor& monitor, bool with_senders, bool refreshes, SystemClock::time_point now) {
  std::string html = "<section><h2>Last decisions</h2>\n";
  if (!with_senders) {
    return html +
           "<p class=\"soft\">They are shown on a loopback address or a unix socket only, since they name domains that "
           "send mail.</p></section>\n";
  }
  const std::vector<SeenDecision> all = monitor.last_decisions();
  if (all.empty()) return html + "<p class=\"soft\">None yet.</p></section>\n";
  const std::span shown = std::span(all).first(std::min(all.size(), kShownDecisions));
  html += decisions_table("The latest first; addresses are masked", shown, now);
  // A page that reloads itself would close what its reader has opened.
  if (const std::span older = std::span(all).subspan(shown.size()); !older.empty()) {
    html += refreshes ? fmt::format("<p><a href=\"/?{}#older\">{} older ones</a></p>\n", kWithoutRefresh, older.size())
                      : "<div id=\"older\">" + decisions_table("Before these", older, now) + "</div>\n";
  }
  return html + "<p class=\"soft\">Why one was decided so: <code>bloomgate-milter why QUEUE-ID</code>.</p></section>\n";
}

// A chart of the last `bars` bars, each of which covers `spans` periods of the ring. The last bar contains `now`, and
// all begin at whole multiples of their length, so that a bar does not change between two views.
template <typename Ring, typename TimeText>
std::string chart_of(const Ring& ring, std::chrono::sys_seconds now, std::size_t bars, std::int64_t spans,
                     std::string_view title, std::string_view of_bar, TimeText text) {
  const std::chrono::seconds length = spans * Ring::kSpan;
  const std::chrono::sys_seconds first(now.time_since_epoch() / length * length -
                                       static_cast<std::int64_t>(bars - 1) * length);
  std::vector<DecisionBar> made(bars);
  for (std::size_t i = 0; i < bars; ++i) {
    MessageCounts counts;
    for (std::int64_t j = 0; j < spans; ++j) {
      counts += ring.of(first + static_cast<std::int64_t>(i) * length + j * Ring::kSpan);
    }
    made[i] = {counts.delivered, counts.checked, counts.exempt, counts.refused};
  }
  const auto middle = first + static_cast<std::int64_t>(bars / 2) * length;
  const std::string times[] = {text(first), text(middle), "now"};
  const DecisionBar& highest = std::ranges::max(made, {}, &DecisionBar::height);
  std::uint64_t all = 0;
  for (const DecisionBar& each : made) all += each.height();
  return chart(made,
               fmt::format("{}: {} {}, at most {} in {}", title, grouped(all), word_for(all, "message", "messages"),
                           grouped(highest.height()), of_bar),
               times);
}

}  // namespace

std::string decision_charts(const DecisionHistory& history, std::chrono::sys_seconds now) {
  const auto day_and_minute = [](std::chrono::sys_seconds time) { return day_text(time) + ", " + minute_text(time); };
  return chart_of(history.minutes(), now, 90, 1, "The last 90 minutes", "a minute", minute_text) +
         chart_of(history.quarters(), now, 96, 1, "The last 24 hours", "15 minutes", day_and_minute) +
         chart_of(history.quarters(), now, 31, 96, "The last 31 days", "a day", day_text);
}

std::string status_page(const Monitor& monitor, bool with_senders, bool refreshes) {
  const StatusFigures figures = status_figures(monitor);
  const std::vector<HealthFinding> findings = needs_action(monitor);
  std::string html = page_head(state(findings) + " \u2013 Bloomgate on " + figures.host,
                               refreshes ? kRefresh : std::chrono::seconds(0));
  html += fmt::format(
      "<header><h1>Bloomgate on {}</h1><p class=\"soft\">bloomgate-milter {}, running for {}. Figures of {}; "
      "{}</p></header>"
      "\n<main>\n",
      escaped(figures.host), BLOOMGATE_VERSION, age(figures.now - figures.started_at),
      format_time(SystemClock::to_time_t(figures.now)),
      refreshes ? fmt::format("the page comes again every {} seconds: <a href=\"/?{}\">stop</a>", kRefresh.count(),
                              kWithoutRefresh)
                : "<a href=\"/\">Let the page come again by itself</a>");
  html += needs_action_section(findings, with_senders);
  html += decisions_section(figures, monitor.history());
  html += reasons_section(figures);
  html += work_section(figures);
  html += samples_section(monitor.tally());
  html += bursts_section(monitor, figures.now);
  html += lists_section(monitor, figures.now);
  html += last_section(monitor, with_senders, refreshes, figures.now);
  return html +
         "</main><footer><p class=\"soft\">For programs: <a href=\"/metrics\">/metrics</a> (Prometheus), "
         "<a href=\"/status.json\">/status.json</a>, <a href=\"/health\">/health</a>. What the "
         "<a href=\"/reasons\">reasons</a> mean.</p></footer></body></html>\n";
}

std::string reasons_page() {
  std::string html = page_head("Bloomgate: what the reasons mean");
  html +=
      "<header><h1>What the reasons mean</h1><p class=\"soft\"><a href=\"/\">The status page</a>. More is in "
      "bloomgate-milter(8), under \u201cReasons\u201d; why one message was decided so, <code>bloomgate-milter why "
      "QUEUE-ID</code> says.</p></header>\n<main><section><h2>Reasons</h2>\n";
  constexpr std::string_view kHeads[] = {"reason", "what it means"};
  std::string rows = head_row(kHeads);
  const auto add = [&rows](std::string_view name, std::string_view meaning) {
    rows += fmt::format("<tr id=\"{0}\"><th scope=\"row\">{0}</th><td>{1}</td></tr>\n", name, escaped(meaning));
  };
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    add(reason_name(reason), reason_meaning(reason));
  }
  add(kForgedFields, kForgedFieldsMeaning);
  return html + table("As the status page and the log name them", rows) + "</section></main></body></html>\n";
}

}  // namespace bloomgate
