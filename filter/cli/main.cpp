// The program `bloomgate`: finds the subcommand and reports what goes wrong in it. See bloomgate.1.
#include <sysexits.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/base/nearest_word.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/failure.hpp"
#include "filter/cli/other_program.hpp"
#include "filter/cli/run_command.hpp"

namespace {

using namespace bloomgate;
using namespace bloomgate::cli;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);  // null: the command is a program of its own
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
    Command{"import", "make a list of those of SpamAssassin, rspamd and other programs", run_import},
    Command{"learned", "show, forget or export what the daemon has learned", run_learned},
    Command{"report", "show what the daemon decided, from its log", run_report},
    Command{"query", "tell whether addresses are listed", run_query},
    Command{"info", "show what a filter file holds", run_info},
    Command{"verify", "check a filter file, and that it holds the lists it was built from", run_verify},
    Command{"sign", "make keys, and sign filters with them", run_sign},
    Command{"share", "show other hosts what the daemon has learned, as hashes", run_share},
    Command{"pull", "bring a folder up to what is published", nullptr},
    Command{"rollback", "put an earlier filter back, or earlier layers, that --keep has kept", run_rollback},
    Command{"merge", "combine filters: listed by any of them", run_merge},
    Command{"intersect", "combine filters: listed by all of them", run_intersect},
    Command{"part", "read one part of lists, as one of many jobs, into a store", run_part},
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

int run(const Command& command, const Arguments& arguments) {
  if (command.run != nullptr) return run_command(command.name, command.run, arguments);
  const auto become = [&](const Arguments& words) -> int { become_program(command.name, words); };
  return run_command(command.name, become, arguments);
}

// A line `command`, its name and its purpose between tabs, and then its options.
int list_all_options() {
  for (const Command& command : kCommands) {
    std::cout << "command\t" << command.name << '\t' << command.summary << '\n';
    const Arguments lists = {kListOptions};
    const int status = command.run == nullptr ? call_program(command.name, lists) : run(command, lists);
    if (status != EX_OK) return status;
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
  return tell_failure(usage_failure(std::move(what)), "bloomgate", "; 'bloomgate --help' lists the commands",
                      arguments);
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
  prepare_for_commands();
  return run(*command, {arguments.begin() + 1, arguments.end()});
}
