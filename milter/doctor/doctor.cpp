#include "milter/doctor/doctor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "milter/doctor/run_program.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr const char* kUnit = "bloomgate-milter.service";

std::string_view level_name(Level level) {
  return level == Level::ok ? "ok" : level == Level::warning ? "warning" : "problem";
}

}  // namespace

void examine_settings(const DaemonCommand& command, std::vector<DoctorFinding>& findings) {
  if (geteuid() != 0) {
    findings.push_back({Level::warning, "doctor", "it does not run as root, so it may not look at everything",
                        "run it as root: sudo bloomgate-milter --doctor"});
  }
  findings.push_back({Level::ok, "configuration", command.config_path + " is good"});
  struct stat info = {};
  if (stat(command.config_path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IWOTH) != 0) {
    findings.push_back({Level::problem, "permissions", command.config_path + " can be written by everybody",
                        "chmod o-w " + command.config_path});
  }
  if (command.options.mode == Mode::observe) {
    findings.push_back(
        {Level::warning, "configuration", "mode = observe: no message is marked",
         "when the log shows what you want, set mode = enforce, then: systemctl reload bloomgate-milter"});
  }
  if (command.options.authentication == DaemonOptions::Authentication::off) {
    findings.push_back({Level::warning, "configuration", "authentication = off: anyone can forge a listed sender",
                        "let OpenDKIM or another milter check senders, and set authentication = required"});
  }
}

void examine_service(std::string_view properties, std::vector<DoctorFinding>& findings) {
  if (properties.empty()) {
    findings.push_back({Level::warning, "service", "systemd is not running here: the state of the service is not known",
                        "make sure that something starts the daemon, and restarts it when it ends"});
  } else if (properties.find("ActiveState=active") == std::string_view::npos) {
    findings.push_back({Level::problem, "service", std::string(kUnit) + " is not running",
                        std::string("systemctl enable --now ") + kUnit});
  } else {
    findings.push_back({Level::ok, "service", std::string(kUnit) + " is running"});
  }
  if (properties.find("StatusText=damaged") != std::string_view::npos) {
    findings.push_back({Level::problem, "service", "the whitelist in use is damaged", "build it again"});
  }
  if (properties.find("slow: ") != std::string_view::npos) {
    findings.push_back({Level::warning, "service", "a store did not always answer in time (confirm-timeout)",
                        "find out why its disk is slow, or put the store on a faster one, then reload"});
  }
  if (properties.find("StatusText=reload refused") != std::string_view::npos) {
    findings.push_back({Level::problem, "service", "the last reload was refused, and what was in use before still is",
                        std::string("see why: systemctl status ") + kUnit +
                            "; mend what it names (the last whitelist is put back by: bloomgate rollback FILE); then "
                            "reload"});
  }
  // See service_status.hpp.
  if (properties.find("; waits for a restart: ") != std::string_view::npos) {
    findings.push_back({Level::warning, "service", "options have changed that a reload cannot take in",
                        std::string("see which: systemctl status ") + kUnit + "; then: systemctl restart " + kUnit});
  }
  if (properties.find("; nothing is learned: ") != std::string_view::npos) {
    findings.push_back({Level::problem, "service", "nothing is learned from outgoing mail: the database cannot be used",
                        std::string("see why: systemctl status ") + kUnit + "; it goes on by itself when it can"});
  }
  if (properties.find("the list revoked cannot be read") != std::string_view::npos) {
    findings.push_back({Level::problem, "service", "the daemon cannot read the list revoked, so it delivers no message",
                        "write it again; an empty file revokes nobody"});
  }
  if (properties.find("the list opt-out cannot be read") != std::string_view::npos) {
    findings.push_back({Level::problem, "service", "the daemon cannot read the list opt-out, so it delivers no message",
                        "write it again; with an empty file no recipient has opted out"});
  }
  if (properties.find("had an Authentication-Results field that is trusted") != std::string_view::npos) {
    findings.push_back({Level::problem, "authentication", "no trusted results of authentication arrive",
                        "let a milter before Bloomgate write them, and set trusted-authserv-id to its name"});
  }
}

std::vector<DoctorFinding> examine(const DaemonCommand& command) {
  const DaemonOptions& options = command.options;
  std::vector<DoctorFinding> findings;
  examine_settings(command, findings);
  examine_proof(command, findings);
  const std::string user = examine_listener(options, findings);
  examine_whitelists(options, command.doctor.fingerprints, user, findings);
  examine_update(options, findings);
  examine_exact_lists(options, user, findings);
  examine_learning(options, user, findings);
  const bool has_systemd = access("/run/systemd/system", F_OK) == 0;
  examine_service(has_systemd ? run_program({"systemctl", "show", "-p", "ActiveState,StatusText", kUnit}).output : "",
                  findings);
  examine_metrics(options, findings);
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
