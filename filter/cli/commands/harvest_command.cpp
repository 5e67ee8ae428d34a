// `bloomgate harvest`: from logs, sent mail and address books to a dated list of those to whom our users write.
#include <sys/stat.h>
#include <sysexits.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "filter/cli/commands/commands.hpp"
#include "filter/cli/harvest/contact_sorter.hpp"
#include "filter/cli/harvest/dated_list_writer.hpp"
#include "filter/cli/harvest/harvest.hpp"
#include "filter/cli/lists/input_files.hpp"
#include "filter/cli/lists/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

struct HarvestCommand {
  std::string output;
  std::string date;
  std::string memory;
  std::vector<std::string> own_domains;
  std::uint32_t most_recipients = 20;
  std::uint64_t at_least = 1;
  unsigned threads = default_threads();
  bool for_all = false;
  bool pairs = false;
  bool without_login = false;
  bool quiet = false;
  bool json = false;
  std::vector<std::string> sources;
};

// Nothing given: --help was.
std::optional<HarvestCommand> parse(const Arguments& arguments) {
  HarvestCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&command.output)->required()->value_name("FOLDER"),
       "where to put the list: a file such as 2026-11-20.txt.zst for each run")  //
      ("own-domain", po::value(&command.own_domains)->required()->composing()->value_name("DOMAIN"),
       "a domain of your own users, or .DOMAIN for all below it as well; may be given several times")  //
      ("for-all", po::bool_switch(&command.for_all),
       "write addresses: whoever one user has written to is listed for all users")  //
      (
          "pairs", po::bool_switch(&command.pairs),
          "write pairs: whoever a user has written to is listed for that user (this version builds no filter of them "
          "yet)")  //
      (
          "at-least", po::value(&command.at_least)->default_value(1)->value_name("N"),
          "leave out whom fewer than N users have written to; with --pairs, to whom a user has written less than N "
          "times")  //
      ("most-recipients", po::value(&command.most_recipients)->default_value(20)->value_name("N"),
       "leave out messages to more than N recipients")  //
      (
          "without-login", po::bool_switch(&command.without_login),
          "also take messages of clients that have not logged in, for a server that takes mail from its own network "
          "only")  //
      ("date", po::value(&command.date)->value_name("DAY"),
       "the list's day, such as 2026-11-20 (default: today, in UTC)")  //
      ("memory", po::value(&command.memory)->default_value("256M")->value_name("M"),
       "memory for what was found; the rest goes to disk, into the folder")  //
      ("threads", po::value(&command.threads)->value_name("N"),
       "use N threads (default: one for each processor)")             //
      ("quiet", po::bool_switch(&command.quiet), "show no progress")  //
      ("json", po::bool_switch(&command.json), "print the report as JSON, for scripts");
  const auto values = parse_command_line(
      arguments, visible, &command.sources,
      {.synopsis = "bloomgate harvest --output FOLDER --own-domain DOMAIN --for-all|--pairs [OPTION...] SOURCE...",
       .purpose = "Makes a list of those to whom your users write, from the logs of Postfix and Sendmail. SOURCE is a\n"
                  "file, a folder of files, or - for standard input; compressed files are recognised by their content.",
       .examples =
           "  bloomgate harvest --output /var/lib/bloomgate/lists --own-domain example.net --for-all "
           "/var/log/mail.log*\n"
           "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom --newest 180d /var/lib/bloomgate/lists\n"});
  if (!values) return std::nullopt;
  if (command.sources.empty()) throw UsageError("name at least one log, or - for standard input");
  if (command.for_all == command.pairs) throw UsageError("give either --for-all or --pairs");
  if (command.at_least == 0) throw UsageError("--at-least takes a number from 1");
  if (!command.date.empty() && !parse_day(command.date)) {
    throw UsageError("--date takes a day such as 2026-11-20, not '" + command.date + "'");
  }
  checked_threads(command.threads);
  return command;
}

struct SourceFile {
  std::string path;
  std::uint64_t bytes = 0;
  timespec changed = {};
};

// In the order in which they were written, since a message may begin in one log and end in the next: rotated logs keep
// the time of their last line. Standard input comes last.
std::vector<SourceFile> files_of(const std::vector<std::string>& sources) {
  std::vector<SourceFile> files;
  for (std::string& path : list_files(sources)) {
    struct stat status = {};
    const bool is_file = path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    files.push_back({.path = std::move(path)});
    files.back().bytes = is_file ? static_cast<std::uint64_t>(status.st_size) : 0;
    files.back().changed =
        is_file ? status.st_mtim : timespec{.tv_sec = std::numeric_limits<time_t>::max(), .tv_nsec = 0};
  }
  std::ranges::stable_sort(files, [](const SourceFile& a, const SourceFile& b) {
    return std::pair(a.changed.tv_sec, a.changed.tv_nsec) < std::pair(b.changed.tv_sec, b.changed.tv_nsec);
  });
  return files;
}

// Written in order, each once.
std::uint64_t write_list(ContactSorter& sorter, const HarvestCommand& command, DatedListWriter& list) {
  std::uint64_t entries = 0;
  std::string contact;
  std::uint64_t users = 0;
  // In a list, a line that starts with '#' is a comment.
  const auto as_line = [](std::string_view key) {
    return key.starts_with('#') ? "<" + std::string(key) + ">" : std::string(key);
  };
  const auto flush = [&] {
    if (users >= command.at_least) {
      list.write(as_line(contact));
      ++entries;
    }
    users = 0;
  };
  sorter.for_each([&](std::string_view found, std::string_view user, std::uint64_t times) {
    if (command.pairs) {
      if (times < command.at_least) return;
      list.write(as_line(found) + " > " + as_line(user));
      ++entries;
      return;
    }
    if (users != 0 && found != contact) flush();
    contact = found;
    ++users;
  });
  if (users != 0) flush();
  return entries;
}

struct Report {
  std::string list;
  std::uint64_t entries;
  HarvestCounts counts;
  std::uint64_t read_bytes;
  std::uint64_t spilled_bytes;
  double seconds;
};

void print_text(const Report& report) {
  std::cout << "harvested " << report.list << "\nentries   " << format_count(report.entries) << "\nmessages  "
            << format_count(report.counts.messages) << " of your users, " << format_count(report.counts.contacts)
            << " recipients\n";
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    if (const std::uint64_t times = report.counts.left_out[kind]) {
      std::cout << "left out  " << format_count(times) << ' ' << kLeftOutTexts[kind] << '\n';
    }
  }
  if (report.spilled_bytes != 0) {
    std::cout << "spilled   " << format_bytes(report.spilled_bytes) << " to disk, for lack of memory\n";
  }
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s, " << format_short_bytes(report.read_bytes)
            << " read\n";
}

void print_json(const Report& report) {
  nlohmann::ordered_json left_out = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    left_out[std::string(kLeftOutNames[kind])] = report.counts.left_out[kind];
  }
  const nlohmann::ordered_json json = {
      {"list", report.list},
      {"entries", report.entries},
      {"messages", report.counts.messages},
      {"recipients", report.counts.contacts},
      {"left_out", left_out},
      {"read_bytes", report.read_bytes},
      {"spilled_bytes", report.spilled_bytes},
      {"seconds", report.seconds},
  };
  // A path need not be UTF-8; other bytes are replaced.
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace

int run_harvest(const Arguments& arguments) {
  const std::optional<HarvestCommand> command = parse(arguments);
  if (!command) return EX_OK;
  const std::atomic<bool>& stop = stop_flag();
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  const auto start = std::chrono::steady_clock::now();
  const HarvestRules rules = {.own_domains = OwnDomains(command->own_domains),
                              .most_recipients = command->most_recipients,
                              .without_login = command->without_login};
  const std::vector<SourceFile> files = files_of(command->sources);
  std::uint64_t total_bytes = 0;
  for (const SourceFile& file : files) total_bytes += file.bytes;
  // Before the sources are read, so that a folder that cannot be written to shows at once.
  DatedListWriter list(command->output, command->date.empty() ? today() : *parse_day(command->date));
  // Sorting takes as much again.
  ContactSorter sorter(parse_bytes(command->memory, "--memory") / 2, command->output);
  Harvest harvest(rules, sorter, command->threads, stop);
  const Progress::Style style = command->quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  Progress progress(
      style,
      [&]() -> Progress::State {
        return {.doing = "reading", .done_bytes = harvest.done_bytes(), .total_bytes = total_bytes};
      },
      Progress::interval_of(style));
  for (const SourceFile& file : files) harvest.read(file.path);
  const std::uint64_t entries = write_list(sorter, *command, list);
  const std::string path = list.finish();
  progress.stop();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  (command->json ? print_json : print_text)(
      {path, entries, harvest.counts(), harvest.done_bytes(), sorter.spilled_bytes(), elapsed.count()});
  return EX_OK;
}

}  // namespace bloomgate::cli
