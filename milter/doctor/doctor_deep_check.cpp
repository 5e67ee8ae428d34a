// Examines the checkers, if the daemon itself asks a deeper check.
#include <sys/stat.h>
#include <unistd.h>

#include "filter/base/shell_word.hpp"
#include "milter/deep_check/checkers.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_access.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr std::chrono::seconds kCheckerPatience{5};

void examine_server(const DeepCheckServer& server, std::vector<DoctorFinding>& findings) {
  const std::string name = to_string(server);
  const std::string fault = reach(server, kCheckerPatience);
  if (fault.empty()) {
    findings.push_back({Level::ok, "deep-check", name + " answers"});
  } else {
    findings.push_back({Level::problem, "deep-check", name + " cannot be asked: " + fault,
                        "make sure that it runs and listens there, and that the user bloomgate may connect"});
  }
}

void examine_folder(const std::string& folder, std::vector<DoctorFinding>& findings) {
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    findings.push_back({Level::problem, "deep-check", folder + " is not a folder: long messages cannot be kept",
                        "make it, or set deep-check-folder to another"});
  } else if (user_exists(kDaemonUser) && !user_may(kDaemonUser, folder, W_OK | X_OK)) {
    findings.push_back({Level::problem, "permissions",
                        folder + " cannot be written by the user bloomgate: long messages cannot be kept",
                        "chown bloomgate " + shell_word(folder, "FOLDER") + ", or set deep-check-folder to another"});
  }
}

}  // namespace

void examine_deep_check(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  if (!asks_deep_check(options)) return;
  for (const DeepCheckServer& server : options.deep_check.servers) examine_server(server, findings);
  examine_folder(options.deep_check.temporary_folder, findings);
}

}  // namespace bloomgate
