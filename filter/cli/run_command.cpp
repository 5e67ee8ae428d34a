#include "filter/cli/run_command.hpp"

#include <sysexits.h>

#include <csignal>
#include <iostream>
#include <string>

#include "filter/cli/failure.hpp"
#include "filter/system/bus_fault.hpp"

namespace bloomgate::cli {

void prepare_for_commands() {
  install_bus_fault_handler();
  use_names_of_options();
  std::signal(SIGXFSZ, SIG_IGN);
}

int run_command(std::string_view name, const CommandFunction& command, const Arguments& arguments) {
  const std::string who = "bloomgate " + std::string(name);
  try {
    const int status = command(arguments);
    std::cout.flush();
    if (std::cout) return status;
    std::cerr << who << ": cannot write to standard output\n";
    return EX_IOERR;
  } catch (...) {
    return tell_failure(current_failure(), who, "; '" + who + " --help' shows what it takes", arguments);
  }
}

int tell_failure(const Failure& failure, std::string_view who, std::string_view advice, const Arguments& arguments) {
  std::string line = std::string(who) + ": " + failure.what;
  // In the same line: the last line that a program has written is what others show of it.
  if (failure.kind == FailureKind::usage) line += advice;
  std::cerr << line + '\n';
  if (asks_for_json(arguments)) std::cout << json_of(failure).dump(-1) + '\n' << std::flush;
  return failure.status;
}

}  // namespace bloomgate::cli
