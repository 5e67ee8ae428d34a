#include "filter/report/bypassed_metrics.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

// A log's text: printable() leaves no line break in it.
std::string label_of(std::string_view milter) {
  std::string label;
  for (const char c : printable(milter)) {
    if (c == '"' || c == '\\') label += '\\';
    label += c;
  }
  return label;
}

class Writer {
 public:
  void gauge(std::string_view name, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  }
  void value(std::string_view labels, std::int64_t number) {
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", name_, labels, number);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string_view name_;
  std::string text_;
};

}  // namespace

std::string bypassed_metrics(const Figures& figures, const ReadCounts& counts, LogTime now) {
  const auto each = [&](Writer& writer, auto number) {
    for (const auto& [name, milter] : figures.unasked) {
      writer.value(fmt::format("{{milter=\"{}\"}}", label_of(name)), number(milter));
    }
  };
  const auto seconds = [](LogTime time) { return std::int64_t{time.time_since_epoch().count()}; };
  Writer writer;
  writer.gauge("bloomgate_bypassed_sessions",
               "Sessions in which the mail server could not ask a milter, in the time that the report is about.");
  each(writer, [](const UnaskedMilter& milter) { return static_cast<std::int64_t>(milter.sessions); });
  writer.gauge("bloomgate_bypassed_first_timestamp_seconds", "When the first of them was.");
  each(writer, [&](const UnaskedMilter& milter) { return seconds(milter.first); });
  writer.gauge("bloomgate_bypassed_last_timestamp_seconds", "When the last of them was.");
  each(writer, [&](const UnaskedMilter& milter) { return seconds(milter.last); });
  writer.gauge("bloomgate_bypassed_report_lines", "Lines of the mail server's log that were read for these figures.");
  writer.value("", static_cast<std::int64_t>(counts.lines));
  writer.gauge("bloomgate_bypassed_report_timestamp_seconds", "When the mail server's log was read for these figures.");
  writer.value("", seconds(now));
  return std::move(writer).text();
}

}  // namespace bloomgate
