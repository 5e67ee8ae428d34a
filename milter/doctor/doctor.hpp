// `bloomgate-milter doctor`: examines the running system as a new operator would, and says what is wrong and what to do
// about it. Called by main(); changes nothing. It reads files, connects to the daemon's socket, and runs setup-postfix,
// postmap and systemctl.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"

namespace bloomgate {

struct DoctorFinding {
  enum class Level { ok, warning, problem };

  Level level = Level::ok;
  std::string subject;  // one word: what was examined
  std::string text;
  std::string remedy = {};  // what to do; empty if there is no fault
};

// Examines everything, in the order in which an operator would look. Takes some seconds if anything hangs.
std::vector<DoctorFinding> examine(const DaemonCommand& command);

// The parts of the examination.
// The daemon's socket. Returns the user that runs the daemon; if no program listens, the user of the shipped unit.
std::string examine_listener(const DaemonOptions& options, std::vector<DoctorFinding>& findings);
// `fingerprints` are those of the whitelists on other servers; if there are any, each whitelist here must have one of
// them. `user` must be able to read the files.
void examine_whitelists(const DaemonOptions& options, const std::vector<std::string>& fingerprints,
                        const std::string& user, std::vector<DoctorFinding>& findings);
void examine_taken_manifests(const DaemonOptions& options, const std::string& user,
                             std::vector<DoctorFinding>& findings);
void examine_exact_lists(const DaemonOptions& options, const std::string& user, std::vector<DoctorFinding>& findings);
// Whether the database of learned entries can be read, and `user` can write to it.
void examine_learning(const DaemonOptions& options, const std::string& user, std::vector<DoctorFinding>& findings);
// The findings of the table of rules (milter/health) that the configuration and the files of the lists allow.
void examine_health(const DaemonCommand& command, std::vector<DoctorFinding>& findings);
void examine_settings(const DaemonCommand& command, std::vector<DoctorFinding>& findings);
// `properties` is what `systemctl show` prints of ActiveState and StatusText; empty if there is no systemd.
void examine_service(std::string_view properties, std::vector<DoctorFinding>& findings);
// Whether the configured servers answer, and the folder for long messages is usable.
void examine_deep_check(const DaemonOptions& options, std::vector<DoctorFinding>& findings);
// What the running daemon has found about itself, at the address of its option `metrics`; without that option there are
// no findings. Waits some seconds for the daemon.
void examine_daemons_findings(const DaemonOptions& options, std::vector<DoctorFinding>& findings);
// `text` is what answered there, from whatever program. Findings that `findings` already has are omitted.
void examine_daemons_findings(std::string_view text, std::vector<DoctorFinding>& findings);
// Whether the keys of signatures can be looked up.
void examine_names(const DaemonOptions& options, std::vector<DoctorFinding>& findings);

// Asks clamd at the address `given`, `unix:PATH` or `inet:HOST:PORT`. If `given` is empty, the address is the one in
// ClamAV's files in /etc/clamav; without either there are no findings.
void examine_clamd(const std::string& given, std::vector<DoctorFinding>& findings);

// Whether the mail server could not reach a milter lately, according to these logs; if none is given, to the usual log
// or the journal. The program bloomgate reads the logs. Takes up to a minute.
void examine_bypassed(const std::vector<std::string>& logs, std::vector<DoctorFinding>& findings);

// Sends messages through the mail server, if that was requested (DoctorOptions::send), and finds the fate of each.
// Takes up to some minutes.
void examine_by_mail(const DaemonCommand& command, std::vector<DoctorFinding>& findings);

// If `folder` has no configuration of that mail server, the functions find nothing and return false.
bool examine_postfix(const DaemonOptions& options, const std::string& folder, std::vector<DoctorFinding>& findings);
bool examine_sendmail(const DaemonOptions& options, const std::string& folder, std::vector<DoctorFinding>& findings);

// One line for each finding, with its remedy indented below; safe for a terminal whatever the files contain.
std::string findings_text(std::span<const DoctorFinding> findings);

// [{"level": "ok|warning|problem", "subject", "text", "remedy"}].
std::string findings_json(std::span<const DoctorFinding> findings);

// 1 if there is a problem, else 0.
int doctor_exit_status(std::span<const DoctorFinding> findings) noexcept;

}  // namespace bloomgate
