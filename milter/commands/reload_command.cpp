#include <sysexits.h>

#include <charconv>
#include <iostream>
#include <string>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "milter/commands/commands.hpp"
#include "milter/daemon/reload_outcome.hpp"
#include "milter/daemon/served_options.hpp"
#include "milter/doctor/run_program.hpp"
#include "milter/judge/policy_of_options.hpp"

namespace bloomgate {

namespace {

constexpr const char* kFolderOfUnit = "/run/bloomgate";

// The main process of the unit.
pid_t process_of_unit() {
  const std::string text = run_program({"systemctl", "show", "-p", "MainPID", "--value", kUnit}).output;
  pid_t process = 0;
  std::from_chars(text.data(), text.data() + text.size(), process);
  if (process > 0) return process;
  throw BloomgateError(ErrorCode::cannot_open,
                       std::string("reload: systemd has no running ") + kUnit +
                           "; start it: systemctl start bloomgate-milter. A daemon without systemd reloads at SIGUSR1");
}

}  // namespace

int reload(const DaemonCommand& command) {
  judge_rules(command);
  require_temporary_folder(command.options);
  const bool is_of_unit = command.reload_process == 0;
  const pid_t process = is_of_unit ? process_of_unit() : command.reload_process;
  std::string folder = runtime_folder();
  if (folder.empty() && is_of_unit) folder = kFolderOfUnit;
  if (folder.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "reload: expected the daemon's folder in RUNTIME_DIRECTORY, which systemd sets; use "
                         "'bloomgate-milter reload', or without systemd send the daemon SIGUSR1");
  }
  const ReloadOutcome outcome = request_reload(process, folder);
  (outcome.accepted ? std::cout : std::cerr) << printable(outcome.text) << '\n';
  return outcome.accepted ? EX_OK : EX_DATAERR;
}

}  // namespace bloomgate
