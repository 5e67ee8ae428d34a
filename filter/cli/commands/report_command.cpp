// `bloomgate report`: what the daemon decided, from its log.
#include <sysexits.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <optional>

#include "filter/base/number_text.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/log/journal.hpp"
#include "filter/report/figures_json.hpp"
#include "filter/report/log_reading.hpp"
#include "filter/report/report_pages.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr int kNothingFound = 1;

struct ReportCommand {
  std::string since;
  std::uint64_t top = 10;
  unsigned threads = default_threads();
  bool journal = false;
  bool html = false;
  bool json = false;
  bool prometheus = false;
  bool quiet = false;
  std::vector<std::string> logs;
};

// Nothing given: --help was.
std::optional<ReportCommand> parse_report(const Arguments& arguments) {
  constexpr std::uint64_t kMostTop = 1000;
  ReportCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("journal", po::bool_switch(&command.journal),
       "read the daemon's and the mail server's part of the journal, by journalctl; without --since, of the last 24 "
       "hours")  //
      ("since", po::value(&command.since)->value_name("WHEN"),
       "leave out what is older: 24h, 7d, 2026-11-20, '2026-11-20 06:00'")  //
      ("top", po::value(&command.top)->default_value(10)->value_name("N"),
       "show N domains or senders, and N kinds of warnings")                                  //
      ("html", po::bool_switch(&command.html), "print a page for a browser, with a picture")  //
      ("prometheus", po::bool_switch(&command.prometheus),
       "print only how much mail bypassed a milter, for a collector of Prometheus")  //
      ("threads", po::value(&command.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("quiet", po::bool_switch(&command.quiet), "show no progress");
  add_json(command.json, visible);
  const auto values = parse_command_line(
      arguments, visible, &command.logs,
      {.synopsis = "bloomgate report [OPTION...] LOG...\n       bloomgate report [OPTION...] --journal",
       .purpose =
           "Shows what bloomgate-milter decided: the shares of deliver and check, by hour and by day; listed\n"
           "senders that were held (suspended, burst, replay); listed domains that did not authenticate their mail,\n"
           "and why; top senders, reasons, forged marks, slow decisions, what the checkers were spared, warnings,\n"
           "and the mail that bypassed a milter. LOG is a log of syslog's, plain or compressed, what journalctl\n"
           "--output=short-iso has printed, or - for standard input.",
       .examples = "  bloomgate report --journal --since 7d\n"
                   "  bloomgate report --html --since 24h /var/log/mail.log.1 /var/log/mail.log > report.html\n"
                   "  bloomgate report /var/log/mail.log*\n"});
  if (!values) return std::nullopt;
  if (command.journal != command.logs.empty()) {
    throw UsageError("name at least one log, - for standard input, or --journal, and not both");
  }
  if (int{command.html} + int{command.json} + int{command.prometheus} > 1) {
    throw UsageError("give one of --html, --json and --prometheus");
  }
  if (command.top == 0 || command.top > kMostTop) throw UsageError("--top takes a number from 1 to 1000");
  checked_threads(command.threads);
  return command;
}

// What was looked at, and what may be wrong with it.
void tell_of_nothing(const ReportCommand& command, const LogReading& reading) {
  const ReadCounts& counts = reading.counts();
  std::cerr << "bloomgate report: no decision found in ";
  if (command.journal) {
    std::cerr << "the journal of the unit bloomgate-milter";
  } else {
    for (std::size_t i = 0; i < command.logs.size(); ++i) {
      std::cerr << (i == 0 ? "" : ", ") << (command.logs[i] == "-" ? "standard input" : printable(command.logs[i]));
    }
  }
  std::cerr << ": " << format_counted(counts.lines, "line", "lines") << ", " << format_count(counts.daemon_lines)
            << " of them of bloomgate-milter";
  if (counts.older_lines != 0) std::cerr << ", of which " << format_count(counts.older_lines) << " are older";
  std::cerr << '\n';
  if (counts.daemon_lines == 0) {
    std::cerr << "Does the daemon log to another place? Its option log-target says where; try "
              << (command.journal ? "/var/log/mail.log" : "--journal") << '\n';
  } else if (counts.older_lines != 0) {
    std::cerr << "Give --since an earlier time\n";
  } else {
    std::cerr << "The daemon writes a line for each message only if its option log-level is info\n";
  }
}

void read_all(const ReportCommand& command, std::optional<LogTime> since, LogTime now,
              const std::vector<TimedFile>& files, LogReading& reading) {
  if (command.journal) {
    const LogTime from = since.value_or(now - std::chrono::hours(24));
    // The mail server's lines have syslog's facility 2 (mail).
    Journal journal({"_SYSTEMD_UNIT=bloomgate-milter.service", "+", "SYSLOG_FACILITY=2",
                     "--since=@" + std::to_string(from.time_since_epoch().count())});
    reading.read(journal.path());
    journal.finish();
  }
  for (const TimedFile& file : files) reading.read(file.path);
}

}  // namespace

int run_report(const Arguments& arguments) {
  const std::optional<ReportCommand> command = parse_report(arguments);
  if (!command) return EX_OK;
  const std::atomic<bool>& stop = stop_flag();
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress
  const LogTime now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::optional<LogTime> since;
  if (!command->since.empty()) since = parse_since(command->since, now);
  // Before the work, so that what is missing shows at once; the oldest first.
  const std::vector<TimedFile> files = files_by_time(command->logs);
  const std::uint64_t total = total_bytes(files);
  LogReading reading(since.value_or(LogTime::min()), now, command->threads, stop);
  JobProgress progress(command->quiet);
  progress.begin(
      [&]() -> WorkState { return {.doing = "reading", .done_bytes = reading.done_bytes(), .total_bytes = total}; });
  read_all(*command, since, now, files, reading);
  progress.end();
  const Figures& figures = reading.figures();
  if (command->prometheus) {
    std::cout << bypassed_metrics(figures, reading.counts(), now);
    return EX_OK;
  }
  if (figures.messages == 0 && figures.warnings.size() == 0 && figures.unasked.empty()) {
    tell_of_nothing(*command, reading);
    return kNothingFound;
  }
  const auto most = static_cast<std::size_t>(command->top);
  if (command->json) {
    std::cout << figures_json(figures, reading.counts(), most);
    return EX_OK;
  }
  const ReportContent content = {
      .scope = scope_of(figures, reading.counts()), .bars = bars_of(figures), .sections = sections_of(figures, most)};
  std::cout << (command->html ? report_html(content) : report_text(content));
  return EX_OK;
}

}  // namespace bloomgate::cli
