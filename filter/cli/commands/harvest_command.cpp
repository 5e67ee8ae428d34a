// `bloomgate harvest`: from logs, sent mail and address books to a dated list of those to whom our users write.
#include <sysexits.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

#include "filter/address/entry_forms.hpp"
#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/harvest/contact_sorter.hpp"
#include "filter/cli/harvest/dated_list_writer.hpp"
#include "filter/cli/harvest/harvest.hpp"
#include "filter/cli/harvest/list_posts.hpp"
#include "filter/cli/lists/files_by_time.hpp"
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
  std::string user;
  std::vector<std::string> own_domains;
  std::vector<std::string> received;
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
std::optional<HarvestCommand> parse_harvest(const Arguments& arguments) {
  HarvestCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&command.output)->required()->value_name("FOLDER"),
       "where to put the list: a file such as 2026-11-20.txt.zst for each run")  //
      ("own-domain", po::value(&command.own_domains)->required()->composing()->value_name("DOMAIN"),
       "a domain of your own users, or .DOMAIN for all below it as well; may be given several times")  //
      ("for-all", po::bool_switch(&command.for_all),
       "write addresses: whoever one user has written to is listed for all users")  //
      ("pairs", po::bool_switch(&command.pairs),
       "write pairs: whoever a user has written to is listed for that user only")  //
      ("at-least", po::value(&command.at_least)->default_value(1)->value_name("N"),
       "leave out whom fewer than N users have written to; with --pairs, to whom a user has written less than N "
       "times")  //
      ("most-recipients", po::value(&command.most_recipients)->default_value(20)->value_name("N"),
       "leave out messages to more than N recipients")  //
      ("without-login", po::bool_switch(&command.without_login),
       "also take messages of clients that have not logged in, for a server that takes mail from its own network "
       "only")  //
      ("mailing-lists", po::value(&command.received)->composing()->value_name("RECEIVED"),
       "also write the mailing lists that users have posted to, list:HOST: RECEIVED is received mail, which shows "
       "their "
       "names; a message, an mbox or a folder; may be given several times")  //
      ("user", po::value(&command.user)->value_name("ADDRESS"),
       "whose the address books are: needed for --pairs")  //
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
       .purpose =
           "Makes a list of those to whom your users write. SOURCE is a log of Postfix or Sendmail, a message or an\n"
           "mbox of sent mail, an address book (vCard, CSV), a folder of such files (a Maildir, too), or - for\n"
           "standard input. What a file is, and whether it is compressed, its content says.",
       .examples =
           "  bloomgate harvest --output /var/lib/bloomgate/lists --own-domain example.net --for-all "
           "/var/log/mail.log*\n"
           "  bloomgate harvest --output lists --own-domain example.net --for-all /home/*/Maildir/.Sent contacts.vcf\n"
           "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom --newest 180d /var/lib/bloomgate/lists\n"});
  if (!values) return std::nullopt;
  if (command.sources.empty()) throw UsageError("name at least one source, or - for standard input");
  if (command.for_all == command.pairs) throw UsageError("give either --for-all or --pairs");
  if (command.at_least == 0) throw UsageError("--at-least takes a number from 1");
  if (!command.date.empty() && !parse_day(command.date)) {
    throw UsageError("--date takes a day such as 2026-11-20, not '" + command.date + "'");
  }
  if (!command.user.empty()) {
    const Entry user = canonicalize_path(command.user);
    if (user.kind() != EntryKind::address) throw UsageError("--user takes an address, not '" + command.user + "'");
    command.user = user.key();
  }
  checked_threads(command.threads);
  return command;
}

// Of a Maildir, what is still being delivered, and drafts.
bool is_unsent(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (folder.filename() == "tmp" && std::filesystem::is_directory(folder.parent_path() / "cur", ignored)) return true;
  const std::string name = path.filename().string();
  const std::size_t flags = name.rfind(":2,");
  return folder.filename() == "cur" && flags != std::string::npos && name.find('D', flags) != std::string::npos;
}

// In the order in which they were written, since a message may begin in one log and end in the next.
std::vector<TimedFile> files_of(const std::vector<std::string>& sources) {
  std::vector<TimedFile> files = files_by_time(sources);
  std::erase_if(files, [](const TimedFile& file) { return !file.named && is_unsent(file.path); });
  return files;
}

// Files of folders that gave nothing. Users go on meanwhile: they move and delete mail, and may have put anything
// there.
struct Skipped {
  std::uint64_t no_sources = 0;
  std::uint64_t vanished = 0;
  std::uint64_t unreadable = 0;  // to the end; each is named on standard error, up to kMostNamed
};

constexpr std::uint64_t kMostNamed = 20;

bool is_of_one_file(ErrorCode code) noexcept {
  return code == ErrorCode::cannot_open || code == ErrorCode::cannot_read || code == ErrorCode::bad_input ||
         code == ErrorCode::changed_while_open;
}

void skip_unreadable(const TimedFile& file, const BloomgateError& error, Skipped& skipped) {
  std::error_code unknown;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file.path, unknown))) {
    ++skipped.vanished;
  } else if (++skipped.unreadable <= kMostNamed) {
    std::cerr << "bloomgate harvest: skipped: " << printable(error.what()) << '\n';
  }
}

// `what` is what the sources may be.
void read_all(const std::vector<TimedFile>& files, const std::function<bool(const std::string&)>& read,
              const std::string& what, Skipped& skipped) {
  for (const TimedFile& file : files) {
    try {
      if (read(file.path)) continue;
    } catch (const BloomgateError& error) {
      if (file.named || !is_of_one_file(error.code())) throw;
      skip_unreadable(file, error, skipped);
      continue;
    }
    if (file.named) {
      throw BloomgateError(ErrorCode::bad_input, file.path + " is " + what + "; its first line shows none of them",
                           {.path = file.path});
    }
    ++skipped.no_sources;
  }
}

Skipped read_sources(const std::vector<TimedFile>& sources, const std::vector<TimedFile>& received, Harvest& harvest) {
  Skipped skipped;
  read_all(
      sources, [&](const std::string& path) { return harvest.read(path); },
      "neither a log of Postfix or Sendmail, a message, an mbox, a vCard nor a table with a column of mail addresses",
      skipped);
  read_all(
      received, [&](const std::string& path) { return harvest.read_received(path); },
      "neither a message nor an mbox, as --mailing-lists takes", skipped);
  return skipped;
}

struct Written {
  std::uint64_t entries = 0;
  std::uint64_t mailing_lists = 0;  // among them
};

// Written in order, each once.
Written write_list(ContactSorter& sorter, const HarvestCommand& command, DatedListWriter& list) {
  Written written;
  std::string contact;
  std::uint64_t users = 0;
  const auto write = [&](const std::string& line) {
    list.write(line);
    ++written.entries;
    if (is_mailing_list_key(line)) ++written.mailing_lists;
  };
  const auto flush = [&] {
    if (users >= command.at_least) write(address_line(contact));
    users = 0;
  };
  sorter.for_each([&](std::string_view found, std::string_view user, std::uint64_t times) {
    if (command.pairs) {
      if (times >= command.at_least) write(pair_line(found, user));
      return;
    }
    if (users != 0 && found != contact) flush();
    contact = found;
    ++users;
  });
  if (users != 0) flush();
  return written;
}

struct HarvestReport {
  std::string list;
  Written written;
  bool wants_lists;
  Skipped skipped;
  HarvestCounts counts;
  std::uint64_t read_bytes;
  std::uint64_t spilled_bytes;
  double seconds;
};

void print_harvest(const HarvestReport& report) {
  std::cout << "harvested " << report.list << "\nentries   " << format_count(report.written.entries) << "\nmessages  "
            << format_count(report.counts.messages) << " of your users, " << format_count(report.counts.contacts)
            << " recipients\n";
  if (report.wants_lists) {
    std::cout << "lists     " << format_count(report.written.mailing_lists) << " mailing lists, of "
              << format_count(report.counts.named_messages) << " sent messages with a Message-ID and "
              << format_count(report.counts.list_messages) << " received ones that name their list\n";
  }
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    if (const std::uint64_t times = report.counts.left_out[kind]) {
      std::cout << "left out  " << format_count(times) << ' ' << kLeftOutTexts[kind] << '\n';
    }
  }
  const auto print_skipped = [](std::uint64_t files, const char* what) {
    if (files != 0) std::cout << "skipped   " << format_count(files) << " files that " << what << '\n';
  };
  print_skipped(report.skipped.no_sources, "are no sources");
  print_skipped(report.skipped.vanished, "were moved or deleted meanwhile");
  print_skipped(report.skipped.unreadable, "cannot be read to their end");
  if (report.spilled_bytes != 0) {
    std::cout << "spilled   " << format_bytes(report.spilled_bytes) << " to disk, for lack of memory\n";
  }
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s, " << format_short_bytes(report.read_bytes)
            << " read\n";
}

void print_harvest_json(const HarvestReport& report) {
  Json left_out = Json::object();
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    left_out[std::string(kLeftOutNames[kind])] = report.counts.left_out[kind];
  }
  const Json json = {
      {"list", report.list},
      {"entries", report.written.entries},
      {"mailing_lists", report.written.mailing_lists},
      {"messages", report.counts.messages},
      {"recipients", report.counts.contacts},
      {"named_messages", report.counts.named_messages},
      {"list_messages", report.counts.list_messages},
      {"left_out", left_out},
      {"skipped_files", report.skipped.no_sources},
      {"vanished_files", report.skipped.vanished},
      {"unreadable_files", report.skipped.unreadable},
      {"read_bytes", report.read_bytes},
      {"spilled_bytes", report.spilled_bytes},
      {"seconds", report.seconds},
  };
  print_report(json);
}

}  // namespace

int run_harvest(const Arguments& arguments) {
  const std::optional<HarvestCommand> command = parse_harvest(arguments);
  if (!command) return EX_OK;
  const std::atomic<bool>& stop = stop_flag();
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  const auto start = std::chrono::steady_clock::now();
  const HarvestRules rules = {.own_domains = OwnDomains(command->own_domains),
                              .most_recipients = command->most_recipients,
                              .needs_user = command->pairs,
                              .without_login = command->without_login};
  const std::vector<TimedFile> files = files_of(command->sources);
  const std::vector<TimedFile> received = files_of(command->received);
  const std::uint64_t total = total_bytes(files) + total_bytes(received);
  // Before the sources are read, so that a folder that cannot be written to shows at once.
  DatedListWriter list(command->output, command->date.empty() ? today() : *parse_day(command->date));
  const bool wants_lists = !command->received.empty();
  // Sorting takes as much again.
  const std::uint64_t memory_bytes = parse_bytes(command->memory, "--memory") / (wants_lists ? 4 : 2);
  ContactSorter sorter(memory_bytes, command->output);
  ListPosts posts(memory_bytes, command->output);
  Harvest harvest(rules, sorter, command->user, command->threads, stop, wants_lists ? &posts : nullptr);
  const Progress::Style style = command->quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  Progress progress(
      style,
      [&]() -> Progress::State {
        return {.doing = "reading", .done_bytes = harvest.done_bytes(), .total_bytes = total};
      },
      Progress::interval_of(style));
  const Skipped skipped = read_sources(files, received, harvest);
  posts.give_to(sorter);
  const Written written = write_list(sorter, *command, list);
  const std::string path = list.finish();
  progress.stop();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  (command->json ? print_harvest_json
                 : print_harvest)({path, written, wants_lists, skipped, harvest.counts(), harvest.done_bytes(),
                                   sorter.spilled_bytes() + posts.spilled_bytes(), elapsed.count()});
  return EX_OK;
}

}  // namespace bloomgate::cli
