// The program `bloomgate-mpi`: see bloomgate-mpi.1.
#include <sysexits.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <string_view>

#include "filter/cli/mpi/commands.hpp"
#include "filter/cli/mpi/failure.hpp"
#include "filter/system/bus_fault.hpp"

namespace {

using bloomgate::cli::Arguments;
using bloomgate::mpi::Communicator;

constexpr std::string_view kUsage =
    "usage: mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...\n"
    "       mpirun [-n RANKS] bloomgate-mpi update --store FILE --output FILE [--add LIST]... [--remove LIST]...\n\n"
    "Builds a filter, or updates a store and its filter, by the ranks of an MPI job. 'bloomgate-mpi build --help' and\n"
    "'bloomgate-mpi update --help' show the options; --version shows the version. The manual is bloomgate-mpi(1).\n";

using Command = int (*)(Communicator& communicator, const Arguments& arguments);

// Null: there is no such command.
Command command_of(std::string_view name) noexcept {
  if (name == "build") return bloomgate::cli::run_build;
  if (name == "update") return bloomgate::cli::run_update;
  return nullptr;
}

int run(Communicator& communicator, const Arguments& arguments) {
  const bool speaks = communicator.rank() == 0;
  const Command command = arguments.empty() ? nullptr : command_of(arguments.front());
  if (command == nullptr) {
    const bool asked = !arguments.empty() && (arguments.front() == "--help" || arguments.front() == "-h");
    const bool version = !arguments.empty() && arguments.front() == "--version";
    if (speaks && version) std::cout << "bloomgate-mpi " BLOOMGATE_VERSION "\n";
    if (speaks && !version) (asked ? std::cout : std::cerr) << kUsage;
    return asked || version ? EX_OK : EX_USAGE;
  }
  bloomgate::cli::say_failures_of(arguments.front());
  communicator.report_failures_by(bloomgate::cli::report_failure);
  try {
    return command(communicator, {arguments.begin() + 1, arguments.end()});
  } catch (const bloomgate::UsageError&) {
    return communicator.report_failure();  // all ranks have met it
  } catch (...) {
    communicator.fail();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Communicator communicator(argc, argv);
  bloomgate::install_bus_fault_handler();
  bloomgate::cli::use_names_of_options();
  // A file that grows past `ulimit -f` is a write that fails, and is reported as one.
  std::signal(SIGXFSZ, SIG_IGN);
  return run(communicator, Arguments(argv + std::min(argc, 1), argv + argc));
}
