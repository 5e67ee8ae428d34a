// The program `bloomgate`: finds the subcommand and reports what goes wrong in it. See bloomgate.1.
#include <sysexits.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/base/nearest_word.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/failure.hpp"
#include "filter/system/bus_fault.hpp"

namespace {

using namespace bloomgate;
using namespace bloomgate::cli;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);
};

constexpr std::array kCommands = {
    Command{"build", "build a filter from lists of addresses", run_build},
    Command{"update", "change a store, and make the filter that goes with it", run_update},
    Command{"add", "add entries to a filter of the layout counting", run_add},
    Command{"remove", "remove entries from a filter of the layout counting", run_remove},
    Command{"export", "make the filter of one of the layout counting", run_export},
    Command{"append", "add entries to a folder of layers, as a new one", run_append},
    Command{"fold", "make one layer of all in a folder", run_fold},
    Command{"harvest", "make a list of those to whom our users write", run_harvest},
    Command{"learned", "show, forget or export what the daemon has learned", run_learned},
    Command{"report", "show what the daemon decided, from its log", run_report},
    Command{"query", "tell whether addresses are listed", run_query},
    Command{"info", "show what a filter file holds", run_info},
    Command{"verify", "check a filter file, and that it holds the lists it was built from", run_verify},
    Command{"sign", "make keys, and sign filters with them", run_sign},
    Command{"share", "show other hosts what the daemon has learned, as hashes", run_share},
    Command{"pull", "bring a folder up to what is published", run_pull},
    Command{"rollback", "put an earlier filter back, or earlier layers, that --keep has kept", run_rollback},
    Command{"merge", "combine filters: listed by any of them", run_merge},
    Command{"intersect", "combine filters: listed by all of them", run_intersect},
    Command{"part", "read one part of lists, as one of many jobs, into a store", run_part},
    Command{"join", "put the parts of a filter together", run_join},
    Command{"compare", "estimate what two filters have in common", run_compare},
    Command{"size", "calculate size, hashes and false-positive rate", run_size},
};

void print_help(std::ostream& out) {
  out << "usage: bloomgate COMMAND [OPTION...]\n\n"
         "Builds and examines the whitelist filters of bloomgate-milter.\n\ncommands:\n";
  for (const Command& command : kCommands) {
    out << "  " << command.name << std::string(11 - command.name.size(), ' ') << command.summary << '\n';
  }
  out << "\n'bloomgate COMMAND --help' shows a command's options; --version shows the version.\n"
         "The manual is bloomgate(1).\n";
}

// A sentence for a person on standard error, and for a script that asked for JSON an object on standard output.
int report(const Failure& failure, std::string_view who, std::string_view advice, const Arguments& arguments) {
  std::cerr << who << ": " << failure.what;
  // In the same line: the last line that a program has written is what others show of it.
  if (failure.kind == FailureKind::usage) std::cerr << advice;
  std::cerr << '\n';
  if (asks_for_json(arguments)) std::cout << json_of(failure).dump(-1) << '\n';
  return failure.status;
}

int run(const Command& command, const Arguments& arguments) {
  const std::string who = "bloomgate " + std::string(command.name);
  try {
    const int status = command.run(arguments);
    std::cout.flush();
    if (std::cout) return status;
    std::cerr << who << ": cannot write to standard output\n";
    return EX_IOERR;
  } catch (...) {
    return report(current_failure(), who, "; '" + who + " --help' shows what it takes", arguments);
  }
}

// A line `command`, its name and its purpose between tabs, and then its options.
int list_all_options() {
  for (const Command& command : kCommands) {
    std::cout << "command\t" << command.name << '\t' << command.summary << '\n';
    if (const int status = run(command, {kListOptions}); status != EX_OK) return status;
  }
  return EX_OK;
}

// The whole help would push what is said out of sight.
int refuse_command(std::string_view name, const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  const std::string_view word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::string what = "there is no command '" + printable(name) + "'" + nearest_word_hint(word, names);
  if (name.starts_with('-')) what += "; a command is a word without dashes, before all options";
  return report(usage_failure(std::move(what)), "bloomgate", "; 'bloomgate --help' lists the commands", arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty()) {
    print_help(std::cerr);
    return EX_USAGE;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(std::cout);
    return EX_OK;
  }
  if (name == "--version") {
    std::cout << "bloomgate " BLOOMGATE_VERSION "\n";
    return EX_OK;
  }
  if (name == kListOptions) return list_all_options();
  const auto* const command = std::ranges::find(kCommands, name, &Command::name);
  if (command == kCommands.end()) {
    return refuse_command(name, arguments);
  }
  install_bus_fault_handler();
  use_names_of_options();
  // A file that grows past `ulimit -f` is a write that fails, and is reported as one.
  std::signal(SIGXFSZ, SIG_IGN);
  return run(*command, {arguments.begin() + 1, arguments.end()});
}
