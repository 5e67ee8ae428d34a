#include "filter/report/report_sections.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostHourBars = 48;
constexpr std::size_t kMostDayBars = 60;
constexpr std::size_t kHoursOfDay = 24;

// What a word of the log is shown as; a dash of the line, or nothing, is said in words.
std::string shown(std::string_view word) {
  return word.empty() || word == "-" ? "(none)" : printable(word);
}

// Where the table does not show all of them.
void note_all(ReportSection& section, const SpaceSaving& words, const char* sentence) {
  if (words.size() > section.rows.size()) {
    section.notes.push_back(fmt::format(fmt::runtime(sentence), format_count(words.size())));
  }
}

// Words, counts and shares. A last sentence says how far the counts can be wrong.
ReportSection table_of(std::string title, std::string word_name, const SpaceSaving& words, std::size_t most) {
  ReportSection section = {.title = std::move(title)};
  section.columns = {{std::move(word_name)}, {"messages", true}, {"share", true}};
  std::uint64_t error = 0;
  for (const SpaceSaving::Item& item : words.top(most)) {
    section.rows.push_back({shown(item.word), format_count(item.count), format_share(item.count, words.total())});
    error = std::max(error, item.error);
  }
  if (words.has_dropped()) {
    section.notes.push_back(fmt::format("There were more than {}: a count here is too high by {} at most.",
                                        format_count(words.size()), format_count(error)));
  } else {
    note_all(section, words, "There were {} in all.");
  }
  return section;
}

ReportSection messages_section(const Figures& figures) {
  ReportSection section = {.title = "Messages"};
  section.facts.push_back({format_count(figures.messages), "messages"});
  for (const Outcome outcome : kEachOutcome) {
    const std::uint64_t count = figures.count(outcome);
    if (count == 0 && outcome != Outcome::deliver && outcome != Outcome::check) continue;
    const std::string_view name = outcome_name(outcome);
    const std::string_view why = outcome == Outcome::exempt   ? ", not incoming"
                                 : outcome == Outcome::refuse ? ", for forged fields"
                                                              : "";
    section.facts.push_back(
        {format_share(count, figures.messages), fmt::format("{}{}: {}", name, why, format_count(count)), name});
  }
  if (figures.lost_lines != 0) {
    section.notes.push_back(
        fmt::format("The log lacks {} lines, which came faster than it took them: the figures are too low by as many.",
                    format_count(figures.lost_lines)));
  }
  if (figures.starts != 0) section.notes.push_back("Starts of the daemon: " + format_count(figures.starts) + ".");
  return section;
}

ReportSection reasons_section(const Figures& figures) {
  ReportSection section = {.title = "Reasons"};
  section.columns = {{"decision"}, {"reason"}, {"messages", true}, {"share", true}};
  for (const SpaceSaving::Item& item : figures.reasons.top(Figures::kMostNames)) {
    const std::size_t space = item.word.find(' ');
    section.rows.push_back({printable(item.word.substr(0, space)), printable(item.word.substr(space + 1)),
                            format_count(item.count), format_share(item.count, figures.messages)});
  }
  return section;
}

ReportSection forged_section(const Figures& figures, std::size_t most) {
  ReportSection section = table_of("Forged marks", "domain", figures.forging_domains, most);
  section.notes.insert(section.notes.begin(),
                       fmt::format("{} messages came with {} fields that only the daemon writes. None of them had an "
                                   "effect: the daemon takes them out, or refuses the message.",
                                   format_count(figures.forging_messages), format_count(figures.forged_fields)));
  return section;
}

ReportSection signers_section(std::string title, std::vector<ReportColumn> columns, const SpaceSaving& words,
                              std::size_t most, ListedSigner (*read)(const std::string&), std::string_view note) {
  ReportSection section = {.title = std::move(title), .columns = std::move(columns)};
  for (const SpaceSaving::Item& item : words.top(most)) {
    const ListedSigner each = read(item.word);
    section.rows.push_back({printable(each.listed), printable(each.signer), format_count(item.count)});
  }
  note_all(section, words, "There were {} in all.");
  section.notes.emplace_back(note);
  return section;
}

ReportSection needed_signers_section(const Figures& figures, std::size_t most) {
  return signers_section(
      "Listed with a signer whose signature did not count", {{"listed"}, {"signature of"}, {"messages", true}},
      figures.needed_signers, most, needed_signer_of,
      "These messages were checked. With a good signature of that domain, which covers what a reader sees, they would "
      "have been delivered; 'dkim=' in the log says what was wrong with it. A mailing list whose host is an "
      "organisation's domain needs an entry with 'signed-by'.");
}

ReportSection child_signers_section(const Figures& figures, std::size_t most) {
  return signers_section(
      "Listed senders of whom only a child signs", {{"listed domain"}, {"signed by"}, {"messages", true}},
      figures.child_signers, most, child_signer_of,
      "These messages were checked. Bloomgate has not verified the signatures. 'alignment = relaxed' lets such "
      "signatures count. Then every name of the organisation may sign for the listed domain, also a name that its "
      "owner has given to somebody else, unless a DMARC record forbids that (adkim=s) or ends the organisation between "
      "the two (psd=n, psd=y).");
}

ReportSection decision_times_section(const Figures& figures) {
  const TimeCounts& times = figures.decision_times;
  ReportSection section = {.title = "Slow decisions"};
  section.facts = {{format_duration(times.quantile_seconds(0.5)), "half take at most"},
                   {format_duration(times.quantile_seconds(0.99)), "99 % take at most"},
                   {format_duration(times.longest_seconds()), "the slowest"}};
  for (std::size_t mark = 0; mark < TimeCounts::kMarks.size(); ++mark) {
    if (times.longer()[mark] == 0) continue;
    section.notes.push_back(fmt::format("{} took longer than {}.", format_count(times.longer()[mark]),
                                        format_duration(TimeCounts::kMarks[mark])));
  }
  section.columns = {{"slowest"}, {"time"}, {"queue ID"}, {"reason"}};
  for (const SlowDecision& slow : figures.slowest) {
    section.rows.push_back(
        {format_duration(slow.seconds), format_local(slow.time), shown(slow.queue_id), printable(slow.reason)});
  }
  return section;
}

ReportSection confirmations_section(const Figures& figures) {
  ReportSection section = table_of("Confirmations", "the store said", figures.confirmations, Figures::kMostNames);
  if (figures.confirm_times.count() != 0) {
    section.notes.push_back(fmt::format("A confirmation took {} on average, and {} at most.",
                                        format_duration(figures.confirm_times.mean_seconds()),
                                        format_duration(figures.confirm_times.longest_seconds())));
  }
  return section;
}

ReportSection checks_section(const Figures& figures) {
  ReportSection section = table_of("Deeper checks", "the checker said", figures.checks, Figures::kMostNames);
  const auto say = [&](std::string_view what, const TimeCounts& times) {
    if (times.count() == 0) return;
    section.notes.push_back(fmt::format(
        "{} took {} on average, 99 % at most {}, the longest {}.", what, format_duration(times.mean_seconds()),
        format_duration(times.quantile_seconds(0.99)), format_duration(times.longest_seconds())));
  };
  say("An answer", figures.check_times);
  say("A check that failed", figures.failed_check_times);
  return section;
}

ReportSection spared_section(const Figures& figures) {
  const std::uint64_t spared = figures.spared_messages();
  ReportSection section = {.title = "Spared"};
  section.facts.push_back({format_count(spared), "messages that no checker had to see", "deliver"});
  if (const std::optional<double> seconds = figures.spared_seconds()) {
    section.facts.push_back({format_duration(*seconds), "of a checker's time (an estimate)"});
    section.notes.push_back(
        fmt::format("The estimate: {} messages, each as long as the {} answered checks of this log "
                    "took on average, {}.",
                    format_count(spared), format_count(figures.check_times.count()),
                    format_duration(figures.check_times.mean_seconds())));
  } else {
    section.notes.emplace_back(
        "How much time that is, this log does not say: it has no answer of a checker that the daemon asked "
        "(deep-check).");
  }
  return section;
}

ReportSection samples_section(const Figures& figures, std::size_t most) {
  const SpaceSaving& senders = figures.spam_senders;
  const std::uint64_t all = figures.samples.total();
  ReportSection section = {.title = "Sampled deliveries", .needs_action = senders.size() != 0};
  section.facts = {{format_count(all), "delivered messages were shown to a checker all the same"},
                   {format_share(senders.total(), all), "of them it calls spam: " + format_count(senders.total())}};
  if (senders.size() == 0) return section;
  section.columns = {{"listed sender"}, {"whitelist, last score"}, {"spam", true}};
  for (const SpaceSaving::Item& item : senders.top(most)) {
    section.rows.push_back({shown(item.word), printable(item.note), format_count(item.count)});
  }
  note_all(section, senders, "There were {} senders in all.");
  section.notes.emplace_back("'bloomgate-milter revoke ADDRESS' stops a sender within a second.");
  return section;
}

ReportSection warnings_section(const Figures& figures, std::size_t most) {
  ReportSection section = {.title = "Warnings and errors", .needs_action = true};
  section.columns = {{"times", true}, {"the last of them"}};
  for (const SpaceSaving::Item& item : figures.warnings.top(most)) {
    section.rows.push_back({format_count(item.count), printable(item.note)});
  }
  note_all(section, figures.warnings, "There were {} kinds in all.");
  return section;
}

ReportSection unasked_section(const Figures& figures) {
  ReportSection section = {.title = "Mail that bypassed a milter", .needs_action = true};
  section.columns = {{"milter"}, {"sessions", true}, {"first"}, {"last"}, {"the mail server said"}};
  for (const auto& [name, milter] : figures.unasked) {
    section.rows.push_back({printable(name), format_count(milter.sessions), format_local(milter.first),
                            format_local(milter.last), printable(milter.why)});
  }
  section.notes.emplace_back(
      "In these sessions the mail server could not ask the milter. Where that is Bloomgate's, the mail had no mark, "
      "and nothing was learned of it. 'bloomgate-milter --doctor' says whether the daemon runs and each service of the "
      "mail server can reach its socket.");
  return section;
}

DecisionBar& operator+=(DecisionBar& bar, const OutcomeCounts& counts) {
  bar.delivered += counts[static_cast<std::size_t>(Outcome::deliver)];
  bar.checked += counts[static_cast<std::size_t>(Outcome::check)];
  bar.exempt += counts[static_cast<std::size_t>(Outcome::exempt)];
  bar.refused += counts[static_cast<std::size_t>(Outcome::refuse)];
  return bar;
}

LogTime time_of(std::int64_t hour) {
  return LogTime(std::chrono::hours(hour));
}

void add_day_bars(const Figures& figures, ReportBars& made) {
  made.unit = "day";
  const std::int64_t last = figures.hours.rbegin()->first;
  const auto first =
      std::max(figures.hours.begin()->first, last - static_cast<std::int64_t>((kMostDayBars - 1) * kHoursOfDay));
  // Days of 23 and of 25 hours are days, too.
  for (std::int64_t hour = first; hour <= last; ++hour) {
    const std::string day = format_local_day(time_of(hour));
    if (made.labels.empty() || made.labels.back() != day) {
      made.labels.push_back(day);
      made.bars.emplace_back();
    }
    if (const auto found = figures.hours.find(hour); found != figures.hours.end()) made.bars.back() += found->second;
  }
}

}  // namespace

ReportBars bars_of(const Figures& figures) {
  ReportBars made = {.left_out = figures.without_hour};
  if (figures.hours.empty()) return made;
  const std::int64_t first = figures.hours.begin()->first;
  const std::int64_t last = figures.hours.rbegin()->first;
  if (last - first < static_cast<std::int64_t>(kMostHourBars)) {
    for (std::int64_t hour = first; hour <= last; ++hour) {
      made.labels.push_back(format_local_clock(time_of(hour)));
      made.bars.emplace_back();
      if (const auto found = figures.hours.find(hour); found != figures.hours.end()) made.bars.back() += found->second;
    }
  } else {
    add_day_bars(figures, made);
  }
  std::uint64_t drawn = 0;
  for (const DecisionBar& bar : made.bars) drawn += bar.height();
  made.left_out = figures.messages - drawn;
  return made;
}

std::vector<std::string> scope_of(const Figures& figures, const ReadCounts& counts) {
  std::vector<std::string> lines;
  if (figures.first && figures.last) {
    lines.push_back(format_local(*figures.first) + " to " + format_local(*figures.last));
  }
  lines.push_back(fmt::format("{} {} with {} lines, {} of them the daemon's", counts.logs,
                              counts.logs == 1 ? "log" : "logs", format_count(counts.lines),
                              format_count(counts.daemon_lines)));
  if (counts.undated_lines != 0) {
    lines.push_back(format_count(counts.undated_lines) +
                    " lines of the daemon have no date that can be read, and are left out");
  }
  return lines;
}

std::vector<ReportSection> sections_of(const Figures& figures, std::size_t most) {
  std::vector<ReportSection> sections;
  sections.push_back(messages_section(figures));
  if (figures.warnings.size() != 0) sections.push_back(warnings_section(figures, most));
  if (!figures.unasked.empty()) sections.push_back(unasked_section(figures));
  if (figures.samples.size() != 0) sections.push_back(samples_section(figures, most));
  sections.push_back(reasons_section(figures));
  const auto add_table = [&](const char* title, const char* name, const SpaceSaving& words, std::size_t rows) {
    if (words.size() != 0) sections.push_back(table_of(title, name, words, rows));
  };
  add_table("Delivered, by identity", "identity", figures.identities, Figures::kMostNames);
  add_table("Delivered, by authentication", "authentication", figures.authentications, Figures::kMostNames);
  add_table("Delivered, by whitelist", "whitelist", figures.whitelists, Figures::kMostNames);
  add_table("Top listed domains", "domain", figures.listed_domains, most);
  add_table("Top unlisted domains", "domain", figures.unlisted_domains, most);
  if (figures.needed_signers.size() != 0) sections.push_back(needed_signers_section(figures, most));
  if (figures.child_signers.size() != 0) sections.push_back(child_signers_section(figures, most));
  if (figures.forging_messages != 0) sections.push_back(forged_section(figures, most));
  if (figures.decision_times.count() != 0) sections.push_back(decision_times_section(figures));
  if (figures.confirmations.size() != 0) sections.push_back(confirmations_section(figures));
  if (figures.checks.size() != 0) sections.push_back(checks_section(figures));
  sections.push_back(spared_section(figures));
  return sections;
}

}  // namespace bloomgate
