#include <sysexits.h>

#include <iostream>
#include <string>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "milter/commands/commands.hpp"
#include "milter/daemon/reload_outcome.hpp"
#include "milter/daemon/served_options.hpp"
#include "milter/judge/policy_of_options.hpp"

namespace bloomgate {

int reload(const DaemonCommand& command) {
  judge_rules(command);
  require_temporary_folder(command.options);
  const std::string folder = runtime_folder();
  if (folder.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "--reload: expected the daemon's folder in RUNTIME_DIRECTORY, which systemd sets; use "
                         "'systemctl reload bloomgate-milter'");
  }
  const ReloadOutcome outcome = request_reload(command.reload_process, folder);
  (outcome.accepted ? std::cout : std::cerr) << printable(outcome.text) << '\n';
  return outcome.accepted ? EX_OK : EX_DATAERR;
}

}  // namespace bloomgate
