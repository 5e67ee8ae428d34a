// `bloomgate-milter --doctor`: looks at the running system as a new operator would, and says what is wrong and what to
// do about it. Called by main(); changes nothing. It reads files, connects to the daemon's socket, and runs
// setup-postfix, postmap and systemctl.
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
  std::string subject;  // one word: what was looked at
  std::string text;
  std::string remedy = {};  // what to do; empty if all is well
};

// Examines everything, in the order in which an operator would look. Takes some seconds if something hangs.
std::vector<DoctorFinding> examine(const DaemonCommand& command);

// The parts of it.
// The daemon's socket. Returns as whom the daemon runs: if nothing listens, as whom the shipped unit runs it.
std::string examine_listener(const DaemonOptions& options, std::vector<DoctorFinding>& findings);
// `fingerprints` are those of other servers' whitelists; if there are some, each here must be one of them. `user` has
// to be able to read the files.
void examine_whitelists(const DaemonOptions& options, const std::vector<std::string>& fingerprints,
                        const std::string& user, std::vector<DoctorFinding>& findings);
void examine_taken_manifests(const DaemonOptions& options, const std::string& user,
                             std::vector<DoctorFinding>& findings);
void examine_exact_lists(const DaemonOptions& options, const std::string& user, std::vector<DoctorFinding>& findings);
// Whether the database of what is learned can be read, and `user` can write to it.
void examine_learning(const DaemonOptions& options, const std::string& user, std::vector<DoctorFinding>& findings);
// What needs action by the table of rules (milter/health): what the configuration and the files of the lists tell.
void examine_health(const DaemonCommand& command, std::vector<DoctorFinding>& findings);
void examine_settings(const DaemonCommand& command, std::vector<DoctorFinding>& findings);
// `properties` is what `systemctl show` prints of ActiveState and StatusText; empty if there is no systemd.
void examine_service(std::string_view properties, std::vector<DoctorFinding>& findings);
// Whether the configured servers answer, and the folder can be used.
void examine_deep_check(const DaemonOptions& options, std::vector<DoctorFinding>& findings);
// What the running daemon has found of itself, at the address of its option `metrics`; without one nothing is found.
// Waits some seconds for it.
void examine_daemons_findings(const DaemonOptions& options, std::vector<DoctorFinding>& findings);
// `text` is what answers there, whatever program that is. What `findings` has already is left out.
void examine_daemons_findings(std::string_view text, std::vector<DoctorFinding>& findings);
// Whether the keys of signatures can be looked up.
void examine_names(const DaemonOptions& options, std::vector<DoctorFinding>& findings);

// Where clamd listens, as `unix:PATH` or `inet:HOST:PORT`; empty: as ClamAV's files in /etc/clamav say. Without either
// nothing is found.
void examine_clamd(const std::string& given, std::vector<DoctorFinding>& findings);

// Whether the mail server could not ask a milter lately, as these logs say; without one, as the usual log or the
// journal does. The program bloomgate reads them. Takes up to a minute.
void examine_bypassed(const std::vector<std::string>& logs, std::vector<DoctorFinding>& findings);

// Sends messages through the mail server, if that was asked for (DoctorOptions::send), and finds what became of each.
// Takes up to some minutes.
void examine_by_mail(const DaemonCommand& command, std::vector<DoctorFinding>& findings);

// If `folder` has no configuration of that mail server, they find nothing and return false.
bool examine_postfix(const DaemonOptions& options, const std::string& folder, std::vector<DoctorFinding>& findings);
bool examine_sendmail(const DaemonOptions& options, const std::string& folder, std::vector<DoctorFinding>& findings);

// One line per finding, with its remedy indented below; safe for a terminal whatever the files contain.
std::string findings_text(std::span<const DoctorFinding> findings);

// [{"level": "ok|warning|problem", "subject", "text", "remedy"}].
std::string findings_json(std::span<const DoctorFinding> findings);

// 1 if there is a problem, else 0.
int doctor_exit_status(std::span<const DoctorFinding> findings) noexcept;

}  // namespace bloomgate
