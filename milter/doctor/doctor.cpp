#include "milter/doctor/doctor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "milter/doctor/run_program.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

std::string_view level_name(Level level) {
  return level == Level::ok ? "ok" : level == Level::warning ? "warning" : "problem";
}

}  // namespace

void examine_settings(const DaemonCommand& command, std::vector<DoctorFinding>& findings) {
  if (geteuid() != 0) {
    findings.push_back({Level::warning, "doctor", "it does not run as root, so it may not look at everything",
                        "run it as root: sudo bloomgate-milter doctor"});
  }
  findings.push_back({Level::ok, "configuration", command.config_path + " is good"});
  struct stat info = {};
  if (stat(command.config_path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IWOTH) != 0) {
    findings.push_back({Level::problem, "permissions", command.config_path + " can be written by everybody",
                        "chmod o-w " + shell_word(command.config_path, "FILE")});
  }
}

void examine_service(std::string_view properties, std::vector<DoctorFinding>& findings) {
  if (properties.empty()) {
    findings.push_back({Level::warning, "service", "systemd is not running here: the state of the service is not known",
                        "make sure that something starts the daemon, and restarts it when it ends"});
  } else if (properties.find("ActiveState=active") == std::string_view::npos) {
    findings.push_back({Level::problem, "service", std::string(kUnit) + " is not running",
                        std::string("systemctl enable --now ") + kUnit});
    return;
  } else {
    findings.push_back({Level::ok, "service", std::string(kUnit) + " is running"});
  }
  constexpr std::string_view kStatus = "StatusText=";
  const std::size_t begin = properties.find(kStatus);
  if (begin == std::string_view::npos) return;
  std::string status(properties.substr(begin + kStatus.size()));
  status.erase(std::min(status.find('\n'), status.size()));
  // The status begins with the faults, part by part (supervisor.cpp); a pending restart is not a fault.
  constexpr std::string_view kWaitsForRestart = "waits for a restart: ", kEnd = "; ";
  if (const std::size_t waits = status.find(kWaitsForRestart); waits != std::string::npos) {
    const std::size_t end = std::min(status.find(kEnd, waits), status.size());
    findings.push_back({Level::warning, "service", "the daemon " + status.substr(waits, end - waits),
                        std::string("when it suits you: systemctl restart ") + kUnit});
    status.erase(waits, end + kEnd.size() - waits);
  }
  if (status.empty() || status.starts_with("serving ")) return;
  findings.push_back({Level::problem, "service", "the daemon says: " + status,
                      std::string("correct what it names; the daemon's log says more: journalctl -u ") + kUnit});
}

std::vector<DoctorFinding> examine(const DaemonCommand& command) {
  const DaemonOptions& options = command.options;
  std::vector<DoctorFinding> findings;
  examine_settings(command, findings);
  examine_health(command, findings);
  const std::string user = examine_listener(options, findings);
  examine_whitelists(options, command.doctor.fingerprints, user, findings);
  examine_taken_manifests(options, user, findings);
  examine_exact_lists(options, user, findings);
  examine_learning(options, user, findings);
  const bool has_systemd = access("/run/systemd/system", F_OK) == 0;
  examine_service(has_systemd ? run_program({"systemctl", "show", "-p", "ActiveState,StatusText", kUnit}).output : "",
                  findings);
  examine_daemons_findings(options, findings);
  examine_deep_check(options, findings);
  examine_names(options, findings);
  examine_clamd(command.doctor.clamd, findings);
  const bool has_postfix = examine_postfix(options, command.doctor.postfix_config, findings);
  const bool has_sendmail = examine_sendmail(options, command.doctor.sendmail_config, findings);
  if (!has_postfix && !has_sendmail) {
    findings.push_back({Level::problem, "mail server",
                        "no configuration of Postfix or Sendmail is in " + command.doctor.postfix_config + " or " +
                            command.doctor.sendmail_config,
                        "say where it is: --postfix-config or --sendmail-config"});
  }
  examine_bypassed(command.doctor.logs, findings);
  examine_by_mail(command, findings);
  return findings;
}

std::string findings_text(std::span<const DoctorFinding> findings) {
  std::string text;
  for (const DoctorFinding& finding : findings) {
    std::string level(level_name(finding.level));
    level.resize(9, ' ');
    text.append(level).append(finding.subject).append(": ").append(printable(finding.text)).append("\n");
    if (!finding.remedy.empty()) text.append("         -> ").append(printable(finding.remedy)).append("\n");
  }
  return text;
}

std::string findings_json(std::span<const DoctorFinding> findings) {
  Json all = Json::array();
  for (const DoctorFinding& finding : findings) {
    all.push_back({{"level", level_name(finding.level)},
                   {"subject", finding.subject},
                   {"text", printable(finding.text)},
                   {"remedy", printable(finding.remedy)}});
  }
  return all.dump(2);
}

int doctor_exit_status(std::span<const DoctorFinding> findings) noexcept {
  for (const DoctorFinding& finding : findings) {
    if (finding.level == Level::problem) return 1;
  }
  return 0;
}

}  // namespace bloomgate
