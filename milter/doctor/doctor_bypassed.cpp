// Examines the mail server's log for mail that bypassed a milter. The daemon cannot know of such mail.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "milter/doctor/doctor.hpp"
#include "milter/doctor/run_program.hpp"
#include "milter/doctor/shown_figures.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr std::chrono::seconds kReportPatience{60};  // for a day's log of a large server

std::string local_time(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  localtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

// The logs for the report; empty: there is none.
std::vector<std::string> log_sources(const std::vector<std::string>& named) {
  if (!named.empty()) return named;
  // The older file has what was written before the last rotation.
  std::vector<std::string> usual;
  for (const char* const path : {"/var/log/mail.log.1", "/var/log/mail.log"}) {
    if (access(path, R_OK) == 0) usual.emplace_back(path);
  }
  if (!usual.empty()) return usual;
  if (access("/run/systemd/system", F_OK) == 0) return {"--journal"};
  return {};
}

}  // namespace

void examine_bypassed(const std::vector<std::string>& logs, std::vector<DoctorFinding>& findings) {
  const std::vector<std::string> sources = log_sources(logs);
  if (sources.empty()) return;
  std::vector<std::string> words = {"bloomgate", "report", "--prometheus", "--quiet", "--since", "24h"};
  words.insert(words.end(), sources.begin(), sources.end());
  const ProgramResult result = run_program(words, kReportPatience);
  std::string own_report = "bloomgate report --since 24h";
  for (const std::string& source : sources) own_report += " " + source;
  const auto warn = [&](const std::string& why, const std::string& remedy) {
    findings.push_back(
        {Level::warning, "bypassed", "it is not known whether mail bypassed the daemon: " + why, remedy});
  };
  if (!result.started) return warn("the program bloomgate, which reads the log, is not installed", "install bloomgate");
  if (result.status != 0) return warn("the mail server's log cannot be read", "see why: " + own_report);
  const ShownFigures figures(result.output);
  if (figures.value("bypassed_report_lines").value_or(0) == 0) {
    return warn("the mail server's log is empty", "name its log: --log FILE");
  }
  const auto time_of = [&](const char* name, const ShownFigure& milter) {
    return local_time(figures.value(name, milter.labels).value_or(0));
  };
  const std::vector<ShownFigure> milters = figures.all("bypassed_sessions");
  for (const ShownFigure& each : milters) {
    findings.push_back(
        {Level::problem, "bypassed",
         fmt::format("in the last 24 hours the mail server could not ask the milter {} in {:.0f} sessions, from {} to "
                     "{}: it accepted their mail without asking the milter",
                     label_value(each.labels, "milter"), each.value, time_of("bypassed_first_timestamp_seconds", each),
                     time_of("bypassed_last_timestamp_seconds", each)),
         "if it continues, see the other findings; the mail server's words: " + own_report});
  }
  if (milters.empty()) {
    findings.push_back(
        {Level::ok, "bypassed", "the mail server's log of the last 24 hours has no session that bypassed a milter"});
  }
}

}  // namespace bloomgate
