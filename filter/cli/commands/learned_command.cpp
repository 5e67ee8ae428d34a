// `bloomgate learned`: what the daemon has learned from outgoing mail, to look at, to take somebody out of, and as a
// dated list.
#include <sysexits.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/contacts/contact_sorter.hpp"
#include "filter/contacts/dated_list_writer.hpp"
#include "filter/contacts/erase_from_lists.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/learned/is_of_people.hpp"
#include "filter/learned/learned_file.hpp"
#include "filter/learned/learned_use.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;
using namespace std::chrono_literals;

// Of what is sorted, before it goes to disk.
constexpr std::uint64_t kSorterBytes = std::uint64_t{128} << 20;

// A daemon looks once a second, and one that could not use the file tries again after five.
constexpr auto kDaemonPatience = 10s;
constexpr auto kBetweenLooks = 20ms;

// Where nothing is learned, and lists alone are to be changed.
constexpr std::string_view kNoFile = "-";

struct LearnedCommand {
  std::string action;
  std::string file;
  std::vector<Entry> people;
  std::string output;
  std::string date;
  std::string newest;
  std::vector<std::string> folders;  // of lists
  bool json = false;
};

Entry parse_person(const std::string& text) {
  const Entry person = canonicalize_line(text);
  if (!person.is_key()) {
    const std::string why = person.kind() == EntryKind::rejected ? ": " + reject_text(person) : "";
    throw UsageError("'" + printable(text) + "' is no address, @domain or @.domain (for all below it as well)" + why);
  }
  return person;
}

// The first day of what --newest takes.
Day first_day(const LearnedCommand& command) {
  return command.newest.empty() ? Day{} : today() - parse_age(command.newest, "--newest") + std::chrono::days(1);
}

void check(const LearnedCommand& command) {
  const bool is_export = command.action == "export";
  if (command.action != "list" && command.action != "forget" && !is_export) {
    constexpr std::array<std::string_view, 3> kActions = {"list", "forget", "export"};
    throw UsageError("there is 'list', 'forget' and 'export', not '" + command.action + "'" +
                     nearest_word_hint(command.action, kActions));
  }
  if (command.file.empty()) throw UsageError("name the file, which the daemon's option learn-file names");
  if (is_export == command.output.empty()) throw UsageError("--output goes with 'export', and must be given there");
  if (!is_export && !command.date.empty()) throw UsageError("--date goes with 'export'");
  if (is_export && !command.people.empty()) throw UsageError("'export' takes one file");
  if (command.action == "forget" && command.people.empty()) throw UsageError("name at least one address to forget");
  if (command.action == "forget" && !command.newest.empty()) throw UsageError("'forget' takes no --newest");
  if (command.action != "forget" && !command.folders.empty()) throw UsageError("--lists goes with 'forget'");
  if (command.file == kNoFile && command.folders.empty()) throw UsageError("without a FILE ('-'), give --lists");
  if (!command.date.empty() && !parse_day(command.date)) {
    throw UsageError("--date takes a day such as 2026-11-20, not '" + command.date + "'");
  }
  first_day(command);  // throws for an invalid age
}

// Nothing given: --help was.
std::optional<LearnedCommand> parse_learned(const Arguments& arguments) {
  LearnedCommand command;
  std::vector<std::string> operands;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&command.output)->value_name("FOLDER"),
       "export: where to put the list, a file such as 2026-11-20.txt.zst for each run")  //
      ("lists", po::value(&command.folders)->composing()->value_name("FOLDER"),
       "forget: also remove them from the dated lists in FOLDER (LISTS in update.conf), so that the next runs do not "
       "add them again; may be repeated")  //
      ("newest", po::value(&command.newest)->value_name("AGE"),
       "list, export: only pairs that were used within AGE, such as 180d, 26w or 1y")  //
      ("date", po::value(&command.date)->value_name("DAY"),
       "export: the list's day, such as 2026-11-20 (default: today, in UTC)");
  add_json(command.json, visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate learned list FILE [ADDRESS...] [OPTION...]\n"
                   "       bloomgate learned forget FILE ADDRESS... [--lists FOLDER] [--json]\n"
                   "       bloomgate learned export FILE --output FOLDER [OPTION...]",
       .purpose = "Shows what the daemon has learned (its option learn), removes people from it, or writes it as a "
                  "list of pairs for 'bloomgate build'. The daemon may run meanwhile. ADDRESS is that of a user or of "
                  "a correspondent. It may be @domain, or @.domain for that domain and all domains below it.",
       .examples =
           "  bloomgate learned list /var/lib/bloomgate/learned/learned.db ann@example.net\n"
           "  bloomgate learned forget /var/lib/bloomgate/learned/learned.db joe@example.org\n"
           "  bloomgate learned forget /var/lib/bloomgate/learned/learned.db ann@example.net --lists "
           "/var/lib/bloomgate/lists\n"
           "  bloomgate learned export /var/lib/bloomgate/learned/learned.db --output /var/lib/bloomgate/lists\n"});
  if (arguments == Arguments{kListOptions}) {
    std::cout << "word\tlist\tshow what was learned\n"
                 "word\tforget\tremove all pairs of a person\n"
                 "word\texport\twrite a dated list of pairs\n";
  }
  if (!values) return std::nullopt;
  if (operands.empty()) throw UsageError("say what to do: list, forget or export");
  command.action = operands[0];
  if (operands.size() > 1) command.file = operands[1];
  for (std::size_t i = 2; i < operands.size(); ++i) command.people.push_back(parse_person(operands[i]));
  check(command);
  return command;
}

bool is_asked_for(const LearnedPair& pair, const LearnedCommand& command, Day first) {
  if (pair.last_use < first) return false;
  if (command.people.empty()) return true;
  return std::ranges::any_of(command.people, [&](const Entry& person) {
    return is_of_person(pair.user, person) || is_of_person(pair.correspondent, person);
  });
}

void require_no_stop() {
  if (stop_flag()) throw BloomgateError(ErrorCode::interrupted, "stopped by a signal");
}

void list(const LearnedCommand& command) {
  LearnedFile file(command.file, LearnedFile::Access::read);
  const Day first = first_day(command);
  const char* before = "";
  if (command.json) std::cout << "{\n  \"pairs\": [";
  file.for_each([&](const LearnedPair& pair) {
    require_no_stop();
    if (!is_asked_for(pair, command, first)) return;
    const std::string first_use = format_day(pair.first_use);
    const std::string last_use = format_day(pair.last_use);
    if (!command.json) {
      std::cout << last_use << '\t' << first_use << '\t' << pair_line(pair.correspondent, pair.user) << '\n';
      return;
    }
    const Json json = {{"correspondent", std::string(pair.correspondent)},
                       {"user", std::string(pair.user)},
                       {"first_use", first_use},
                       {"last_use", last_use}};
    std::cout << before << "\n    " << json.dump(-1);
    before = ",";
  });
  if (command.json) std::cout << "\n  ]\n}\n";
}

// Waits until no daemon uses what was forgotten, or for as long as kDaemonPatience.
ForgetState wait_for_daemon(const std::string& path, std::int64_t forgets) {
  const auto end = std::chrono::steady_clock::now() + kDaemonPatience;
  for (;;) {
    const ForgetState state = forget_state(path, forgets);
    if (state != ForgetState::not_yet || std::chrono::steady_clock::now() >= end) return state;
    require_no_stop();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

struct ForgetText {
  std::string_view json;
  std::string text;
};

ForgetText text_of(ForgetState state) {
  switch (state) {
    case ForgetState::in_force:
      return {"in-force", "in force"};
    case ForgetState::no_daemon:
      return {"none", "no daemon has the file in use"};
    case ForgetState::not_yet:
      break;
  }
  return {"late", "the daemon still uses it after " + std::to_string(kDaemonPatience.count()) + " s: look at its log"};
}

struct Forgotten {
  std::uint64_t pairs = 0;
  std::uint64_t left = 0;
  ForgetState state = ForgetState::no_daemon;
};

Forgotten forget_in_file(const LearnedCommand& command) {
  Forgotten done;
  if (command.file == kNoFile) return done;
  LearnedFile file(command.file, LearnedFile::Access::write);
  for (const Entry& person : command.people) done.pairs += file.forget(person, today());
  done.left = file.count();
  done.state = wait_for_daemon(command.file, file.changes().forgets);
  return done;
}

void erase_from_folder(const std::string& folder, const LearnedCommand& command, Erased& erased) {
  try {
    const FolderLock lock(folder, stop_flag(), [&] {
      std::cerr << "bloomgate learned: waiting for bloomgate-update, which is at work in " << printable(folder)
                << std::endl;
    });
    erase_from_lists(folder, command.people, stop_flag(), erased);
  } catch (const BloomgateError& error) {
    if (error.code() == ErrorCode::interrupted) {
      std::cerr << "bloomgate learned: stopped before all lists were changed; run this again\n";
      throw;
    }
    erased.faults.push_back(error);
  }
}

void print_forgotten(const LearnedCommand& command, const Forgotten& done, const Erased& erased) {
  const bool has_lists = !command.folders.empty();
  const ForgetText daemon = text_of(done.state);
  if (command.json) {
    Json report = {{"forgotten", done.pairs}, {"left", done.left}, {"daemon", std::string(daemon.json)}};
    if (has_lists) {
      Json by_hand = Json::array();
      for (const std::string& list : erased.kept_by_hand) by_hand.push_back(list);
      report["lists"] = Json{{"read", erased.lists},    {"rewritten", erased.rewritten},
                             {"lines", erased.lines},   {"lines_of_no_entry", erased.lines_of_no_entry},
                             {"kept_by_hand", by_hand}, {"failed", erased.faults.size()}};
    }
    return print_report(report);
  }
  if (command.file != kNoFile) {
    std::cout << "forgotten " << format_count(done.pairs) << "\nleft      " << format_count(done.left) << "\ndaemon    "
              << daemon.text << '\n';
  }
  if (has_lists) {
    std::cout << "lists     " << format_counted(erased.lines, "line", "lines") << " removed from "
              << format_count(erased.rewritten) << " of " << format_counted(erased.lists, "list", "lists") << '\n';
    for (const std::string& list : erased.kept_by_hand) {
      std::cout << "by hand   " << printable(list) << " names these people, and was not changed: edit it yourself\n";
    }
    if (erased.lines_of_no_entry != 0) {
      std::cout << "by hand   "
                << format_counted(erased.lines_of_no_entry, "comment or invalid line of a list names these people",
                                  "comments and invalid lines of lists name these people")
                << ", and nothing there was changed\n";
    }
    if (erased.lines != 0) {
      std::cout << "A whitelist file still has these pairs, as hashes. To build it again: systemctl start "
                   "bloomgate-update\nA folder of layers has them until a fold from lists (FOLD_FROM in "
                   "update.conf).\nTo stop a person at once: bloomgate-milter revoke ADDRESS\n";
    }
    std::cout << "Not changed: your logs, mailboxes and backups.\n";
  }
  if (done.pairs == 0 && erased.lines == 0 && erased.faults.empty())
    std::cout << "if a whitelist lists it: bloomgate-milter revoke ADDRESS\n";
}

int forget(const LearnedCommand& command) {
  for (const std::string& folder : command.folders) require_folder_of_lists(folder);
  const Forgotten done = forget_in_file(command);
  Erased erased;
  for (const std::string& folder : command.folders) erase_from_folder(folder, command, erased);
  print_forgotten(command, done, erased);
  for (const BloomgateError& fault : erased.faults) {
    std::cerr << "bloomgate learned: " << printable(fault.what()) << '\n';
  }
  if (!erased.faults.empty()) {
    std::cerr << "bloomgate learned: not all lists were changed; run this again once that is in order\n";
    return exit_status(erased.faults.front().code());
  }
  return done.state == ForgetState::not_yet ? EX_TEMPFAIL : EX_OK;
}

void write_list(const LearnedCommand& command) {
  LearnedFile file(command.file, LearnedFile::Access::read);
  DatedListWriter list(command.output, command.date.empty() ? today() : *parse_day(command.date));
  ContactSorter sorter(kSorterBytes, command.output);
  const Day first = first_day(command);
  file.for_each([&](const LearnedPair& pair) {
    require_no_stop();
    if (is_asked_for(pair, command, first)) sorter.add(pair.correspondent, pair.user);
  });
  std::uint64_t entries = 0;
  sorter.for_each([&](std::string_view correspondent, std::string_view user, std::uint64_t /*times*/) {
    list.write(pair_line(correspondent, user));
    ++entries;
  });
  const std::string path = list.finish();
  if (command.json) {
    print_report({{"list", path}, {"entries", entries}});
  } else {
    std::cout << "exported  " << path << "\nentries   " << format_count(entries) << '\n';
  }
}

}  // namespace

int run_learned(const Arguments& arguments) {
  const std::optional<LearnedCommand> command = parse_learned(arguments);
  if (!command) return EX_OK;
  stop_flag();  // from now on
  if (command->action == "list") {
    list(*command);
  } else if (command->action == "forget") {
    return forget(*command);
  } else {
    write_list(*command);
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
