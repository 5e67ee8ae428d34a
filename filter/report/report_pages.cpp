#include "filter/report/report_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/html/page.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kBarColumns = 40;

std::uint64_t highest(const ReportBars& bars) {
  return bars.bars.empty() ? 0 : std::ranges::max(bars.bars, {}, &DecisionBar::height).height();
}

std::string bars_title(const ReportBars& bars) {
  return fmt::format("Messages by {}", bars.unit);
}

std::string left_out_text(const ReportBars& bars) {
  return format_count(bars.left_out) + " older messages are not in the picture.";
}

// Cuts each part at its end position, so that the parts together are as long as the whole.
std::string bar_text(const DecisionBar& bar, std::uint64_t most) {
  std::string text;
  std::uint64_t so_far = 0;
  const auto add = [&](char mark, std::uint64_t count) {
    so_far += count;
    const double end = static_cast<double>(so_far) * kBarColumns / static_cast<double>(most);
    text.resize(std::max(text.size(), static_cast<std::size_t>(std::lround(end))), mark);
  };
  add('#', bar.delivered);
  add('-', bar.checked);
  add('.', bar.exempt);
  add('x', bar.refused);
  if (text.empty() && so_far != 0) text = "|";
  return text;
}

std::string bars_text(const ReportBars& bars) {
  if (bars.bars.empty()) return {};
  const std::uint64_t most = std::max<std::uint64_t>(highest(bars), 1);
  const std::size_t width = format_count(most).size();
  std::string text = bars_title(bars) + "\n";
  for (std::size_t i = 0; i < bars.bars.size(); ++i) {
    text += fmt::format("  {}  {:>{}}", bars.labels[i], format_count(bars.bars[i].height()), width);
    if (const std::string bar = bar_text(bars.bars[i], most); !bar.empty()) text += "  " + bar;
    text += '\n';
  }
  text += "  # deliver, - check, . exempt, x refuse\n";
  if (bars.left_out != 0) text += "  " + left_out_text(bars) + '\n';
  return text + '\n';
}

std::string table_text(const ReportSection& section) {
  std::vector<std::size_t> widths;
  for (const ReportColumn& column : section.columns) widths.push_back(column.name.size());
  for (const auto& row : section.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = cell_of(i);
      line += section.columns[i].is_number ? fmt::format("  {:>{}}", cell, widths[i])
                                           : fmt::format("  {:<{}}", cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_line([&](std::size_t i) -> const std::string& { return section.columns[i].name; });
  for (const auto& row : section.rows) add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  return text;
}

std::string section_text(const ReportSection& section) {
  std::string text = section.title + '\n';
  std::size_t width = 0;
  for (const ReportFact& fact : section.facts) width = std::max(width, fact.value.size());
  for (const ReportFact& fact : section.facts) text += fmt::format("  {:>{}}  {}\n", fact.value, width, fact.caption);
  if (!section.rows.empty()) text += table_text(section);
  for (const std::string& note : section.notes) text += "  " + note + '\n';
  return text + '\n';
}

// The outcomes, whose names have colours, and the words for these colours.
bool has_colour(std::string_view word) noexcept {
  return word == "deliver" || word == "check" || word == "refuse";
}

// Whether the text has a word that does not fit on a telephone beside others.
bool has_long_word(std::string_view text) noexcept {
  constexpr std::size_t kLong = 10;  // a date has 10
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > kLong) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

std::string cell_html(const ReportColumn& column, const std::string& cell, bool is_name) {
  std::string_view kind;
  if (column.is_number) {
    kind = "n";
  } else if (has_colour(cell)) {
    kind = cell;
  } else if (has_long_word(cell)) {
    kind = "w";
  }
  const std::string class_of = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  return is_name ? fmt::format("<th scope=\"row\"{}>{}</th>", class_of, escaped(cell))
                 : fmt::format("<td{}>{}</td>", class_of, escaped(cell));
}

std::string table_html(const ReportSection& section) {
  std::vector<std::string> heads;
  for (const ReportColumn& column : section.columns) heads.push_back(column.name + (column.is_number ? "#" : ""));
  std::string rows = head_row(std::vector<std::string_view>(heads.begin(), heads.end()));
  for (const auto& row : section.rows) {
    rows += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      rows += cell_html(section.columns[i], row[i], i == section.name_column);
    }
    rows += "</tr>\n";
  }
  return table(section.caption.empty() ? "Messages by " + section.columns.front().name : section.caption, rows);
}

std::string section_html(const ReportSection& section) {
  std::string html = section.needs_action ? "<section class=\"act\">" : "<section>";
  html += "<h2>" + escaped(section.title) + "</h2>\n";
  if (!section.facts.empty()) {
    html += "<div class=\"row\">\n";
    for (const ReportFact& each : section.facts) {
      const std::string value = escaped(each.value);
      html += fact(has_colour(each.kind) ? fmt::format("<span class=\"{}\">{}</span>", each.kind, value) : value,
                   escaped(each.caption));
    }
    html += "</div>\n";
  }
  if (!section.rows.empty()) html += table_html(section);
  for (const std::string& note : section.notes) html += "<p class=\"soft\">" + escaped(note) + "</p>\n";
  return html + "</section>\n";
}

std::string bars_html(const ReportBars& bars) {
  if (bars.bars.empty()) return {};
  const std::string most = fmt::format("At most {} in one {}", format_count(highest(bars)), bars.unit);
  std::string html = "<section><h2>" + escaped(bars_title(bars)) + "</h2>\n";
  html += chart(bars.bars, most, std::array{bars.labels.front(), bars.labels.back()}) + chart_legend();
  if (bars.left_out != 0) html += "<p class=\"soft\">" + left_out_text(bars) + "</p>\n";
  return html + "</section>\n";
}

// A text of the log: printable() leaves no line break in it.
std::string label_of(std::string_view milter) {
  std::string label;
  for (const char c : printable(milter)) {
    if (c == '"' || c == '\\') label += '\\';
    label += c;
  }
  return label;
}

}  // namespace

// The first section is about all messages; the picture follows it.
std::string report_text(const ReportContent& content) {
  std::string text = "Bloomgate report\n";
  for (const std::string& line : content.scope) text += "  " + line + '\n';
  text += '\n';
  for (std::size_t i = 0; i < content.sections.size(); ++i) {
    text += section_text(content.sections[i]);
    if (i == 0) text += bars_text(content.bars);
  }
  text.pop_back();
  return text;
}

std::string report_html(const ReportContent& content) {
  std::string html = page_head("Bloomgate report") + "<header><h1>Bloomgate report</h1>\n";
  for (const std::string& line : content.scope) html += "<p class=\"soft\">" + escaped(line) + "</p>\n";
  html += "</header><main>\n";
  for (std::size_t i = 0; i < content.sections.size(); ++i) {
    html += section_html(content.sections[i]);
    if (i == 0) html += bars_html(content.bars);
  }
  return html + "</main></body></html>\n";
}

std::string bypassed_metrics(const Figures& figures, const ReadCounts& counts, LogTime now) {
  std::string text;
  const auto begin = [&](std::string_view name, std::string_view help) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  };
  const auto add = [&](std::string_view name, std::string_view help, auto number) {
    begin(name, help);
    text += fmt::format("{} {}\n", name, number);
  };
  const auto add_each = [&](std::string_view name, std::string_view help, auto number_of) {
    begin(name, help);
    for (const auto& [milter, each] : figures.unasked) {
      text += fmt::format("{}{{milter=\"{}\"}} {}\n", name, label_of(milter), number_of(each));
    }
  };
  const auto seconds = [](LogTime time) { return time.time_since_epoch().count(); };
  add_each("bloomgate_bypassed_sessions",
           "Sessions in which the mail server could not ask a milter, in the time that the report is about.",
           [](const UnaskedMilter& milter) { return milter.sessions; });
  add_each("bloomgate_bypassed_first_timestamp_seconds", "When the first of them was.",
           [&](const UnaskedMilter& milter) { return seconds(milter.first); });
  add_each("bloomgate_bypassed_last_timestamp_seconds", "When the last of them was.",
           [&](const UnaskedMilter& milter) { return seconds(milter.last); });
  add("bloomgate_bypassed_report_lines", "Lines of the mail server's log that were read for these figures.",
      counts.lines);
  add("bloomgate_bypassed_report_timestamp_seconds", "When the mail server's log was read for these figures.",
      seconds(now));
  return text;
}

}  // namespace bloomgate
