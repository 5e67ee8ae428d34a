// Examines ClamAV: listed mail skips the spam check and should still meet a virus check.
#include <fstream>

#include "filter/base/ascii.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_connection.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

// The value of a line `Name value` in ClamAV's format; empty if there is none.
std::string value_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      found = ascii::trimmed(std::string_view(line).substr(name.size()), " \t\r");
    }
  }
  return found;
}

// clamd's own unix socket, or the one that its milter uses.
std::string configured_clamd() {
  if (const std::string path = value_in("/etc/clamav/clamd.conf", "LocalSocket"); !path.empty()) return "unix:" + path;
  const std::string socket = value_in("/etc/clamav/clamav-milter.conf", "ClamdSocket");
  return socket.starts_with("tcp:") ? "inet:" + socket.substr(4) : socket;
}

}  // namespace

void examine_clamd(const std::string& given, std::vector<DoctorFinding>& findings) {
  const std::string text = given.empty() ? configured_clamd() : given;
  if (text.empty()) return;  // there is no clamd on this machine
  const auto address = postfix_milter_address(text, "/");
  if (!address) {
    findings.push_back({Level::warning, "clamd", "'" + text + "' is no address of clamd that can be asked",
                        "name one: --clamd unix:PATH or inet:HOST:PORT"});
    return;
  }
  const DoctorConnection connection = connect_to(*address);
  if (connection.is_open() && answers_as_clamd(connection)) {
    findings.push_back({Level::ok, "clamd", "clamd answers on " + text});
  } else {
    // Installed does not mean wanted: only an operator who names clamd certainly wants it.
    findings.push_back({given.empty() ? Level::warning : Level::problem, "clamd",
                        std::string(connection.is_open() ? "what listens on " : "clamd does not listen on ") + text +
                            (connection.is_open() ? " does not answer as clamd" : "") + ": viruses are not found",
                        "start it: systemctl start clamav-daemon (it needs a signature database: freshclam)"});
  }
}

}  // namespace bloomgate
