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
  std::string_view topic = {};
  std::string_view old_name = {};  // means the same, and no help shows it
};

constexpr std::string_view kEveryDay = "every day";

// By topic. The commands of the first topic are those that an operator needs first.
constexpr std::array kCommands = {
    Command{"build", "build a filter from lists of addresses", run_build, kEveryDay},
    Command{"query", "show whether addresses are listed", run_query, kEveryDay},
    Command{"info", "show what a filter file holds", run_info, kEveryDay},
    Command{"report", "show what the daemon decided, from its log", run_report, kEveryDay},
    Command{"harvest", "make a list of the people to whom your users write", run_harvest, kEveryDay},
    Command{"rollback", "restore an earlier filter, or earlier layers, that --keep has kept", run_rollback, kEveryDay},
    Command{"import", "convert the lists of SpamAssassin, rspamd and other programs", run_import, "lists"},
    Command{"learned", "show, forget or export what the daemon has learned", run_learned, "lists"},
    Command{"add-layer", "add entries to a folder of layers, as a new layer", run_add_layer, "layers", "append"},
    Command{"fold-layers", "replace all layers of a folder by one", run_fold_layers, "layers", "fold"},
    Command{"update-store", "change a store by lists, and make its filter", run_update_store, "stores", "update"},
    Command{"counting-add", "add entries to a counting filter", run_counting_add, "counters", "add"},
    Command{"counting-remove", "remove entries from a counting filter", run_counting_remove, "counters", "remove"},
    Command{"counting-export", "make the daemon's filter from a counting filter", run_counting_export, "counters",
            "export"},
    Command{"sign", "make keys, and sign filters with them", run_sign, "publishing"},
    Command{"pull", "download published lists into a folder", nullptr, "publishing"},
    Command{"share", "show other hosts what the daemon has learned, as hashes", run_share, "publishing"},
    Command{"part", "build one share of large lists, as one of many jobs", run_part, "parts"},
    Command{"verify", "check a filter file, and that it has all entries of its lists", run_verify, "filters"},
    Command{"merge", "combine filters: what at least one of them lists", run_merge, "filters"},
    Command{"intersect", "combine filters: what all of them list", run_intersect, "filters"},
    Command{"compare", "estimate what two filters have in common", run_compare, "filters"},
    Command{"size", "calculate size, hashes and false-positive rate", run_size, "filters"},
};

constexpr std::size_t kNameColumns = 17;

void print_usage(std::ostream& out) {
  out << "usage: bloomgate COMMAND [OPTION...]\n\n"
         "Builds and examines the whitelist filters of bloomgate-milter.\n";
}

void print_command(const Command& command, std::ostream& out) {
  out << "  " << command.name << std::string(kNameColumns - command.name.size(), ' ') << command.summary << '\n';
}

// The commands of every day, and the names of the others.
void print_short_help(std::ostream& out) {
  print_usage(out);
  std::string_view topic;
  for (const Command& command : kCommands) {
    const bool is_first = command.topic != topic;
    topic = command.topic;
    if (topic == kEveryDay) {
      out << (is_first ? "\n" : "");
      print_command(command, out);
      continue;
    }
    if (is_first) out << "\n  " << topic << ':' << std::string(kNameColumns - topic.size() - 1, ' ');
    out << (is_first ? "" : ", ") << command.name;
  }
  out << "\n\n'bloomgate --help' says what each command does, 'bloomgate COMMAND --help' its options.\n"
         "The manual is bloomgate(1).\n";
}

void print_help(std::ostream& out) {
  print_usage(out);
  std::string_view topic;
  for (const Command& command : kCommands) {
    if (command.topic != topic) out << '\n' << command.topic << ":\n";
    topic = command.topic;
    print_command(command, out);
  }
  out << "\n'bloomgate COMMAND --help' shows a command's options; --version shows the version.\n"
         "The manual is bloomgate(1).\n";
}

int run(const Command& command, const Arguments& arguments) {
  if (command.run != nullptr) return run_command(command.name, command.run, arguments);
  const auto become = [&](const Arguments& words) -> int { become_program(command.name, words); };
  return run_command(command.name, become, arguments);
}

// A line `command`, its name and its purpose between tabs, and then its options. A command that is a program of its own
// lists its options itself.
int list_all_options() {
  for (const Command& command : kCommands) {
    std::cout << "command\t" << command.name << '\t' << command.summary << '\n';
    if (command.run == nullptr) continue;
    const int status = run(command, {kListOptions});
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

// By its name, or by its old one.
const Command* find_command(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kCommands, [&](const Command& each) { return name == each.name || (name == each.old_name && !name.empty()); });
  return found == kCommands.end() ? nullptr : found;
}

int help_of(std::string_view name, const Arguments& arguments) {
  const Command* const command = find_command(name);
  return command == nullptr ? refuse_command(name, arguments) : run(*command, {"--help"});
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty()) {
    print_short_help(std::cerr);
    return EX_USAGE;
  }
  const std::string& name = arguments.front();
  if (name == "-h") {
    print_short_help(std::cout);
    return EX_OK;
  }
  if (name == "help" && arguments.size() > 1) return help_of(arguments[1], arguments);
  if (name == "--help" || name == "help") {
    print_help(std::cout);
    return EX_OK;
  }
  if (name == "--version" || name == "-V" || name == "version") {
    std::cout << "bloomgate " BLOOMGATE_VERSION "\n";
    return EX_OK;
  }
  if (name == kListOptions) return list_all_options();
  const Command* const command = find_command(name);
  if (command == nullptr) return refuse_command(name, arguments);
  prepare_for_commands();
  return run(*command, {arguments.begin() + 1, arguments.end()});
}
