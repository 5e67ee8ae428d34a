// The program `bloomgate-mpi`: see bloomgate-mpi.1.
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/failure.hpp"
#include "filter/cli/mpi/commands.hpp"
#include "filter/cli/run_command.hpp"
#include "filter/mpi/shared_section.hpp"

namespace {

using namespace bloomgate;
using namespace bloomgate::cli;
using bloomgate::mpi::Communicator;

constexpr std::string_view kUsage =
    "usage: mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...\n"
    "       mpirun [-n RANKS] bloomgate-mpi update-store --store FILE --output FILE [--add LIST]... [--remove "
    "LIST]...\n\n"
    "Builds a filter, or updates a store and its filter, by the ranks of an MPI job. 'bloomgate-mpi build --help' and\n"
    "'bloomgate-mpi update-store --help' show the options; --version shows the version. The manual is "
    "bloomgate-mpi(1).\n";

struct Command {
  std::string_view name;
  int (*run)(Communicator& communicator, const Arguments& arguments);
  std::string_view old_name = {};  // means the same, and no help shows it
};

constexpr std::array kCommands = {Command{"build", run_build}, Command{"update-store", run_update, "update"}};

// Null: there is no such command.
const Command* find_command(std::string_view name) noexcept {
  const auto* const found = std::ranges::find_if(
      kCommands, [&](const Command& each) { return name == each.name || (name == each.old_name && !name.empty()); });
  return found == kCommands.end() ? nullptr : found;
}

// The words behind the program's name, the command first. Set before there are other threads.
Arguments command_line;

void say(const Communicator& communicator, const Failure& failure) {
  const std::string name = "bloomgate-mpi " + command_line.front();
  std::string who = name;
  if (failure.kind == FailureKind::other) {
    std::string host(HOST_NAME_MAX + 1, '\0');
    if (gethostname(host.data(), host.size() - 1) != 0) host = "?";
    who += ": rank " + std::to_string(communicator.rank()) + " on " + host.c_str();
  } else if (communicator.rank() != 0) {
    return;  // all ranks have met it
  }
  tell_failure(failure, who, "; '" + name + " --help' shows what it takes", command_line);
}

// Says what the current exception is, and which rank has met it. Nothing of a RankFailure, whose rank has done so, and
// of the end of a job that another rank has begun. Returns the exit status for it.
int report_failure(const Communicator& communicator) noexcept {
  try {
    throw;
  } catch (const mpi::RankFailure& failure) {
    return failure.status;
  } catch (...) {
    const Failure failure = current_failure();
    // A job that ends, ends all ranks: one of them says so.
    const bool is_stop = failure.code == error_code_name(ErrorCode::interrupted);
    if (!is_stop || communicator.rank() == 0) say(communicator, failure);
    return failure.status;
  }
}

int refuse_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& each : kCommands) names.push_back(each.name);
  return tell_failure(usage_failure("there is no command '" + printable(name) + "'" + nearest_word_hint(name, names)),
                      "bloomgate-mpi", "; 'bloomgate-mpi --help' lists the commands", command_line);
}

// Help, the version, or what is wrong with the first word.
int run_without_command(std::string_view name, bool speaks) {
  const bool asks_help = name == "--help" || name == "-h" || name == "help";
  const bool asks_version = name == "--version" || name == "-V" || name == "version";
  if (speaks && asks_help) {
    std::cout << kUsage;
  } else if (speaks && asks_version) {
    std::cout << "bloomgate-mpi " BLOOMGATE_VERSION "\n";
  } else if (speaks && name.empty()) {
    std::cerr << kUsage;
  } else if (speaks) {
    return refuse_command(name);
  }
  return asks_help || asks_version ? EX_OK : EX_USAGE;
}

int run(Communicator& communicator) {
  const std::string_view name = command_line.empty() ? "" : std::string_view(command_line.front());
  const Command* const command = find_command(name);
  if (command == nullptr) return run_without_command(name, communicator.rank() == 0);
  communicator.report_failures_by(report_failure);
  try {
    return command->run(communicator, {command_line.begin() + 1, command_line.end()});
  } catch (const UsageError&) {
    return communicator.report_failure();  // all ranks have met it
  } catch (...) {
    communicator.fail();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Communicator communicator(argc, argv);
  prepare_for_commands();
  command_line.assign(argv + std::min(argc, 1), argv + argc);
  return run(communicator);
}
