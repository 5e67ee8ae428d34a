// The daemon bloomgate-milter: reads its command line, and runs what that asks for. See bloomgate-milter(8).
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "config/option_table.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/bus_fault.hpp"
#include "milter/commands/commands.hpp"
#include "milter/daemon/daemon.hpp"
#include "milter/dkim/verifier_child.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/health/alerts.hpp"
#include "milter/judge/policy_of_options.hpp"

namespace {

using namespace bloomgate;

int doctor(const DaemonCommand& command) {
  judge_rules(command);
  const std::vector<DoctorFinding> findings = examine(command);
  std::cout << (command.doctor.json ? findings_json(findings) + "\n" : findings_text(findings));
  return doctor_exit_status(findings);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments.front() == kListOptions) {
    std::cout << daemon_option_list();
    return EX_OK;
  }
  if (arguments.size() == 1 && arguments.front() == kListAlerts) {
    std::cout << alerts_text();
    return EX_OK;
  }
  const DaemonCommand command = read_daemon_command(arguments);
  switch (command.action) {
    case DaemonCommand::Action::help:
      std::cout << daemon_help_text(command.help_for);
      return EX_OK;
    case DaemonCommand::Action::version:
      std::cout << "bloomgate-milter " BLOOMGATE_VERSION "\n";
      return EX_OK;
    case DaemonCommand::Action::check_config:
      check_config(command, std::cout);
      return EX_OK;
    case DaemonCommand::Action::reload:
      return reload(command);
    case DaemonCommand::Action::doctor:
      return doctor(command);
    case DaemonCommand::Action::edit_list:
      return edit_list(command, std::cout);
    case DaemonCommand::Action::explain:
      explain(command, isatty(STDIN_FILENO) != 0 ? nullptr : &std::cin, std::cout);
      return EX_OK;
    case DaemonCommand::Action::moved:
      moved(command, std::cin, std::cout);
      return EX_OK;
    case DaemonCommand::Action::suspended:
      return suspended(command, std::cout);
    case DaemonCommand::Action::why:
      return why(command, std::cin, std::cout);
    case DaemonCommand::Action::run:
      break;
  }
  run_daemon(command, arguments);
}

int fail(int exit_status, const char* what) {
  std::cerr << "bloomgate-milter: " << printable(what) << '\n';
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == kVerifierArgument) return run_verifier_child();
  // Until the daemon listens, a reload request would end it; it can wait.
  sigset_t reload_signal;
  sigemptyset(&reload_signal);
  sigaddset(&reload_signal, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &reload_signal, nullptr);
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  // A temporary file that may not grow further (LimitFSIZE= of the unit) is an error of the write.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  try {
    install_bus_fault_handler();
    return run({argv + std::min(argc, 1), argv + argc});
  } catch (const ConfigErrors& errors) {
    for (const std::string& each : errors.texts()) fail(EX_OK, each.c_str());
    return exit_status(errors.code());
  } catch (const BloomgateError& error) {
    return fail(exit_status(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(EX_OSERR, "out of memory");
  } catch (const std::exception& error) {
    return fail(EX_SOFTWARE, error.what());
  }
}
