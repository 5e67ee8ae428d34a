#include "filter/report/report_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/report/report_days.hpp"

namespace bloomgate {
namespace {

// The text that is shown for a word of the log; for a dash or an empty word, a phrase.
std::string shown(std::string_view word) {
  return word.empty() || word == "-" ? "(none)" : printable(word);
}

// Adds a note how far the counts of the table can be wrong, or how many words there were if it does not show all.
// `items` are those that it shows.
void note_all(ReportSection& section, std::size_t size, bool has_dropped, const auto& items,
              std::string_view what = "") {
  if (has_dropped) {
    std::uint64_t error = 0;
    for (const auto& item : items) error = std::max(error, item.error);
    section.notes.push_back(fmt::format("There were more than {}{}: a count here is too high by {} at most.",
                                        format_count(size), what, format_count(error)));
  } else if (size > section.rows.size()) {
    section.notes.push_back(fmt::format("There were {}{} in all.", format_count(size), what));
  }
}
void note_all(ReportSection& section, const SpaceSaving& words, std::string_view what = "") {
  note_all(section, words.size(), words.has_dropped(), words.top(section.rows.size()), what);
}

// Words, counts and shares.
ReportSection table_of(std::string title, std::string word_name, const SpaceSaving& words, std::size_t most) {
  ReportSection section = {.title = std::move(title)};
  section.columns = {{std::move(word_name)}, {"messages", true}, {"share", true}};
  for (const SpaceSaving::Item& item : words.top(most)) {
    section.rows.push_back({shown(item.word), format_count(item.count), format_share(item.count, words.total())});
  }
  note_all(section, words);
  return section;
}

// A figure or column is not shown if no message was exempt, or refused.
bool is_shown(const Figures& figures, Outcome outcome) noexcept {
  return figures.count(outcome) != 0 || outcome == Outcome::deliver || outcome == Outcome::check;
}

ReportSection messages_section(const Figures& figures) {
  ReportSection section = {.title = "Messages"};
  section.facts.push_back({format_count(figures.messages), "messages"});
  for (const Outcome outcome : kEachOutcome) {
    if (!is_shown(figures, outcome)) continue;
    const std::uint64_t count = figures.count(outcome);
    const std::string_view name = outcome_name(outcome);
    const std::string_view why = outcome == Outcome::exempt   ? ", not incoming"
                                 : outcome == Outcome::refuse ? ", for forged fields"
                                                              : "";
    section.facts.push_back(
        {format_share(count, figures.messages), fmt::format("{}{}: {}", name, why, format_count(count)), name});
  }
  if (figures.lost_lines != 0) {
    section.notes.push_back(
        fmt::format("The daemon wrote {} faster than the log could take {}, so these figures lack {}.",
                    format_counted(figures.lost_lines, "line", "lines"), word_for(figures.lost_lines, "it", "them"),
                    word_for(figures.lost_lines, "it", "them")));
  }
  if (figures.starts != 0) section.notes.push_back("Starts of the daemon: " + format_count(figures.starts) + ".");
  return section;
}

// Empty if there is only one day.
ReportSection days_section(const Figures& figures) {
  constexpr std::array<std::string_view, kOutcomes> kDone = {"delivered", "checked", "exempt", "refused"};
  ReportSection section = {.title = "Days", .caption = "Messages of each day, by decision"};
  section.columns = {{"day"}, {"messages", true}};
  for (const Outcome outcome : kEachOutcome) {
    if (is_shown(figures, outcome))
      section.columns.push_back({std::string(kDone[static_cast<std::size_t>(outcome)]), true});
  }
  const std::vector<ReportDay> days = days_of(figures);
  if (days.size() < 2) return section;
  std::uint64_t in_table = 0;
  for (const auto& [date, outcomes] : days) {
    const std::uint64_t all = std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0});
    std::vector<std::string> row = {date, format_count(all)};
    for (const Outcome outcome : kEachOutcome) {
      if (is_shown(figures, outcome)) row.push_back(format_count(outcomes[static_cast<std::size_t>(outcome)]));
    }
    section.rows.push_back(std::move(row));
    in_table += all;
  }
  if (in_table != figures.messages) {
    section.notes.push_back(fmt::format(
        "{} left out: the table has the last {} days.",
        format_counted(figures.messages - in_table, "message of another day is", "messages of other days are"),
        kMostDays));
  }
  return section;
}

ReportSection held_section(const Figures& figures, std::size_t most) {
  ReportSection section = {.title = "Listed senders that were held",
                           .caption = "Messages that were checked, by sender",
                           .needs_action = true};
  section.columns = {{"listed sender"}, {"reason"}, {"messages", true}};
  for (const SpaceSaving::Item& item : figures.held.top(most)) {
    const auto [reason, sender] = halves_of(item.word);
    section.rows.push_back({shown(sender), printable(reason), format_count(item.count)});
  }
  note_all(section, figures.held);
  section.notes.emplace_back(
      "suspended: authenticated mail of this sender was spam. burst: it sent much more than usual. replay: the same "
      "message came too often. 'bloomgate-milter suspended list' prints who is suspended now, and 'bloomgate-milter "
      "suspended clear ADDRESS' ends a suspension.");
  return section;
}

ReportSection unauthenticated_section(const std::vector<Unauthenticated>& all, std::size_t most) {
  ReportSection section = {.title = "Listed domains that did not authenticate their mail",
                           .caption = "Messages that were checked, by domain"};
  section.columns = {{"listed"}, {"why"}, {"messages", true}};
  const auto shown_ones = std::span(all).first(std::min(all.size(), most));
  for (const Unauthenticated& each : shown_ones) {
    std::string why = each.reason;
    if (!each.signature.empty()) why += ": " + each.signature;
    if (!each.last_signed_by.empty()) why += ", last signed by " + each.last_signed_by;
    section.rows.push_back({printable(each.listed), printable(why), format_count(each.messages)});
  }
  note_all(section, all.size(), std::ranges::any_of(all, &Unauthenticated::error), shown_ones);
  section.notes.emplace_back(
      "Some of this mail may be forged. 'bloomgate-milter why @DOMAIN' explains the last messages of a domain. "
      "bloomgate-milter(8) explains each reason (Reasons) and each fault of a signature (LOG).");
  return section;
}

ReportSection senders_section(const Figures& figures, std::size_t most) {
  ReportSection section = table_of("Top senders", "domain", figures.senders, most);
  section.columns.push_back({"delivered", true});
  const std::vector<SpaceSaving::Item> items = figures.senders.top(most);
  for (std::size_t i = 0; i < items.size(); ++i) {
    section.rows[i].push_back(format_count(figures.delivered_of(items[i])));
  }
  return section;
}

ReportSection recipients_section(const Figures& figures) {
  ReportSection section = {.title = "Recipients"};
  section.facts = {
      {format_count(figures.recipients),
       fmt::format("{} of {} looked up", word_for(figures.recipients, "recipient", "recipients"),
                   format_counted(figures.recipient_messages, "message", "messages"))},
      {format_share(figures.listing_recipients, figures.recipients),
       "the sender has an entry for that recipient: " + format_count(figures.listing_recipients), "deliver"}};
  section.notes.emplace_back(
      "The daemon looks recipients up if its lists have entries for single recipients. Its log does not name them.");
  return section;
}

ReportSection reasons_section(const Figures& figures) {
  ReportSection section = {.title = "Reasons", .caption = "Messages by reason", .name_column = 1};
  section.columns = {{"decision"}, {"reason"}, {"messages", true}, {"share", true}};
  for (const SpaceSaving::Item& item : figures.reasons.top(Figures::kMostNames)) {
    const auto [decision, reason] = halves_of(item.word);
    section.rows.push_back(
        {printable(decision), printable(reason), format_count(item.count), format_share(item.count, figures.messages)});
  }
  return section;
}

ReportSection forged_section(const Figures& figures, std::size_t most) {
  ReportSection section = table_of("Forged marks", "domain", figures.forging_domains, most);
  section.notes.insert(
      section.notes.begin(),
      fmt::format("{} came with {} that only the daemon writes. No such field had an effect: the daemon "
                  "takes it out, or refuses the message.",
                  format_counted(figures.forging_messages, "message", "messages"),
                  format_counted(figures.forged_fields, "field", "fields")));
  return section;
}

ReportSection signers_section(std::string title, std::vector<ReportColumn> columns, const SpaceSaving& words,
                              std::size_t most, ListedSigner (*read)(const std::string&), std::string_view note) {
  ReportSection section = {.title = std::move(title), .columns = std::move(columns)};
  for (const SpaceSaving::Item& item : words.top(most)) {
    const ListedSigner each = read(item.word);
    section.rows.push_back({printable(each.listed), printable(each.signer), format_count(item.count)});
  }
  note_all(section, words);
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
      "Listed domains whose mail only a name below them signs", {{"listed domain"}, {"signed by"}, {"messages", true}},
      figures.child_signers, most, child_signer_of,
      "These messages were checked. Bloomgate has not verified the signatures. 'alignment = relaxed' lets such "
      "signatures count. Then every name of the organisation may sign for the listed domain, also a name that its "
      "owner has given to somebody else, unless a DMARC record forbids that (adkim=s) or ends the organisation between "
      "the two (psd=n, psd=y).");
}

ReportSection decision_times_section(const Figures& figures) {
  const TimeCounts& times = figures.decision_times;
  ReportSection section = {.title = "Time that each decision took"};
  section.facts = {{format_duration(times.quantile_seconds(0.5)), "half take at most"},
                   {format_duration(times.quantile_seconds(0.99)), "99 % take at most"},
                   {format_duration(times.longest_seconds()), "the slowest"}};
  for (std::size_t mark = 0; mark < TimeCounts::kMarks.size(); ++mark) {
    if (times.longer()[mark] == 0) continue;
    section.notes.push_back(fmt::format("{} took longer than {}.",
                                        format_counted(times.longer()[mark], "decision", "decisions"),
                                        format_duration(TimeCounts::kMarks[mark])));
  }
  section.caption = "The slowest decisions";
  section.columns = {{"took"}, {"decided at"}, {"queue ID"}, {"reason"}};
  section.name_column = 2;
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
  section.facts.push_back(
      {format_count(spared), "marked deliver: if your recipe uses the mark, these skip the spam check", "deliver"});
  if (const std::optional<double> seconds = figures.spared_seconds()) {
    section.facts.push_back({format_duration(*seconds), "of a checker's time (an estimate)"});
    section.notes.push_back(
        fmt::format("The estimate: {}, each as long as the {} of this log took on average, {}.",
                    format_counted(spared, "message", "messages"),
                    format_counted(figures.check_times.count(), "answered check", "answered checks"),
                    format_duration(figures.check_times.mean_seconds())));
  } else {
    section.notes.emplace_back(
        "This log does not show how much time that is: it has no answer of a checker (deep-check).");
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
  section.caption = "Sampled spam by sender";
  section.columns = {{"listed sender"}, {"whitelist, last score"}, {"spam", true}};
  for (const SpaceSaving::Item& item : senders.top(most)) {
    section.rows.push_back({shown(item.word), printable(item.note), format_count(item.count)});
  }
  note_all(section, senders, " senders");
  section.notes.emplace_back("'bloomgate-milter revoke ADDRESS' stops a sender within a second.");
  return section;
}

ReportSection warnings_section(const Figures& figures, std::size_t most) {
  ReportSection section = {.title = "Warnings and errors", .needs_action = true};
  section.caption = "How often each kind was logged";
  section.columns = {{"times", true}, {"the last of them"}};
  section.name_column = 1;
  for (const SpaceSaving::Item& item : figures.warnings.top(most)) {
    section.rows.push_back({format_count(item.count), printable(item.note)});
  }
  note_all(section, figures.warnings, " kinds");
  return section;
}

ReportSection unasked_section(const Figures& figures) {
  ReportSection section = {.title = "Mail that bypassed a milter", .needs_action = true};
  section.caption = "Sessions by milter";
  section.columns = {{"milter"}, {"sessions", true}, {"first"}, {"last"}, {"the mail server said"}};
  for (const auto& [name, milter] : figures.unasked) {
    section.rows.push_back({printable(name), format_count(milter.sessions), format_local(milter.first),
                            format_local(milter.last), printable(milter.why)});
  }
  section.notes.emplace_back(
      "In these sessions the mail server could not ask the milter. Where that is Bloomgate's, the mail had no mark, "
      "and nothing was learned of it. 'bloomgate-milter doctor' says whether the daemon runs and each service of the "
      "mail server can reach its socket.");
  return section;
}

}  // namespace

std::vector<std::string> scope_of(const Figures& figures, const ReadCounts& counts) {
  std::vector<std::string> lines;
  if (figures.first && figures.last) {
    lines.push_back(format_local(*figures.first) + " to " + format_local(*figures.last));
  }
  lines.push_back(fmt::format("{} with {}, {} of them the daemon's", format_counted(counts.logs, "log", "logs"),
                              format_counted(counts.lines, "line", "lines"), format_count(counts.daemon_lines)));
  if (counts.undated_lines != 0) {
    lines.push_back(format_counted(counts.undated_lines,
                                   "line of the daemon has no date that can be read, and is left out",
                                   "lines of the daemon have no date that can be read, and are left out"));
  }
  return lines;
}

std::vector<ReportSection> sections_of(const Figures& figures, std::size_t most) {
  std::vector<ReportSection> sections;
  sections.push_back(messages_section(figures));
  if (ReportSection days = days_section(figures); !days.rows.empty()) sections.push_back(std::move(days));
  if (figures.held.size() != 0) sections.push_back(held_section(figures, most));
  if (figures.warnings.size() != 0) sections.push_back(warnings_section(figures, most));
  if (!figures.unasked.empty()) sections.push_back(unasked_section(figures));
  if (figures.samples.size() != 0) sections.push_back(samples_section(figures, most));
  if (const auto all = figures.unauthenticated(); !all.empty()) {
    sections.push_back(unauthenticated_section(all, most));
  }
  if (figures.senders.size() != 0) sections.push_back(senders_section(figures, most));
  if (figures.recipients != 0) sections.push_back(recipients_section(figures));
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
