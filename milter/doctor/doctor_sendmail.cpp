// Examines Sendmail: its sendmail.cf has a line `Xname, S=socket, F=flag, T=times` for each milter, and `O
// InputMailFilters=` gives their order.
#include <fstream>
#include <map>
#include <sstream>

#include "filter/base/ascii.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_connection.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr std::string_view kSetupSendmail = "setup-sendmail shows what to change, and does it with --apply";
constexpr std::string_view kFilters = "O InputMailFilters=";

struct Milter {
  std::string socket;
  std::string fallback;  // F=: R, T, 4, or empty: mail passes
};

struct Configuration {
  std::map<std::string, Milter> milters;
  std::vector<std::string> order;
  bool refuses_forged_marks = false;
  bool refuses_forged_results = false;
};

std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) found.emplace_back(ascii::trimmed(part, " \t\r"));
  return found;
}

Configuration read_configuration(std::istream& file) {
  Configuration configuration;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("X")) {
      const std::vector<std::string> words = parts(line.substr(1));
      if (words.empty()) continue;
      Milter& milter = configuration.milters[words[0]];
      for (const std::string& word : words) {
        if (word.starts_with("S=")) milter.socket = word.substr(2);
        if (word.starts_with("F=")) milter.fallback = word.substr(2);
      }
    } else if (line.starts_with(kFilters)) {
      configuration.order = parts(line.substr(kFilters.size()));
    } else if (line.starts_with("HX-Bloomgate:")) {
      configuration.refuses_forged_marks = true;
    } else if (line.starts_with("HAuthentication-Results:")) {
      configuration.refuses_forged_results = true;
    }
  }
  return configuration;
}

bool is_ours(const Milter& milter, const SocketAddress& socket) {
  if (socket.family == SocketAddress::Family::unix_path) {
    return milter.socket == "local:" + socket.path || milter.socket == "unix:" + socket.path;
  }
  return milter.socket.starts_with("inet") && milter.socket.find(":" + socket.port + "@") != std::string::npos;
}

// Sendmail writes `local:PATH`, `unix:PATH` and `inet:PORT@HOST`, as the daemon's own option does.
void examine_others(const Configuration& configuration, std::size_t ours, std::vector<DoctorFinding>& findings) {
  for (std::size_t index = 0; index < configuration.order.size(); ++index) {
    const auto found = configuration.milters.find(configuration.order[index]);
    if (index == ours || found == configuration.milters.end()) continue;
    const auto address = parse_socket_address(found->second.socket);
    if (!address) continue;
    const std::string name = found->first + " (" + found->second.socket + ")";
    const DoctorConnection connection = connect_to(*address);
    if (connection.is_open() && answers_as_milter(connection)) {
      findings.push_back({Level::ok, "milter", name + " answers"});
    } else {
      findings.push_back(
          {Level::problem, "milter",
           "the milter " + name + " does not answer" + (index < ours ? ": no results of it reach Bloomgate" : ""),
           "start it, or see its log; if it is not wanted, take it out of sendmail.mc"});
    }
  }
}

// The milters before Bloomgate: whether one of them lets mail pass when it is down, so that forged results would stay.
void examine_before(const Configuration& configuration, std::size_t ours, std::vector<DoctorFinding>& findings) {
  if (ours == 0) {
    findings.push_back({Level::problem, "authentication",
                        "no milter before Bloomgate authenticates senders, so no sender counts as listed",
                        "install opendkim, see config/mta/authentication; " + std::string(kSetupSendmail)});
    return;
  }
  bool waits = false;
  for (std::size_t index = 0; index < ours; ++index) {
    const auto found = configuration.milters.find(configuration.order[index]);
    waits = waits || (found != configuration.milters.end() && !found->second.fallback.empty());
  }
  if (!waits || !configuration.refuses_forged_results) {
    findings.push_back({Level::problem, "authentication",
                        "results that a sender has forged stay if OpenDKIM is down or cannot read them",
                        "give OpenDKIM F=T, and add the rules of config/mta/sendmail/forged_results.mc; " +
                            std::string(kSetupSendmail)});
    return;
  }
  findings.push_back({Level::ok, "authentication", "forged results are removed or refused"});
}

}  // namespace

bool examine_sendmail(const DaemonOptions& options, const std::string& folder, std::vector<DoctorFinding>& findings) {
  std::ifstream file(folder + "/sendmail.cf");
  if (!file) return false;
  const Configuration configuration = read_configuration(file);
  std::size_t ours = 0;
  for (; ours < configuration.order.size(); ++ours) {
    const auto found = configuration.milters.find(configuration.order[ours]);
    if (found != configuration.milters.end() && is_ours(found->second, options.socket)) break;
  }
  if (ours == configuration.order.size()) {
    findings.push_back({Level::problem, "sendmail",
                        "Sendmail (" + folder + ") does not ask " + to_string(options.socket) +
                            ": no milter of sendmail.cf has that address",
                        std::string(kSetupSendmail)});
    return true;
  }
  findings.push_back({Level::ok, "sendmail", "Sendmail (" + folder + ") asks the daemon"});
  examine_others(configuration, ours, findings);
  const bool waits = !configuration.milters.at(configuration.order[ours]).fallback.empty();
  // Bloomgate is then the only check: nothing else examines mail that Bloomgate has not seen.
  const bool is_last = asks_deep_check(options) && ours + 1 == configuration.order.size();
  if (is_last) {
    findings.push_back(
        {Level::ok, "sendmail",
         waits ? "while Bloomgate is down all mail waits at its sender (F=)"
               : "while Bloomgate is down mail is delivered unchecked: it is the whole check, and has no F= "
                 "(F=T would let mail wait)"});
  }
  if (waits && !is_last) {
    findings.push_back({Level::warning, "sendmail", "while Bloomgate is down mail is refused or waits (F=)",
                        "leave out F=: mail without a mark is checked"});
  }
  if (ours + 1 == configuration.order.size() && !is_last) {
    findings.push_back({Level::problem, "sendmail",
                        "nothing checks mail that is not listed: no milter comes after Bloomgate",
                        std::string(kSetupSendmail)});
  }
  if (!configuration.refuses_forged_marks && !(is_last && waits)) {
    findings.push_back({Level::problem, "sendmail",
                        "while Bloomgate is down a forged mark would count: nothing refuses it",
                        "add the rules of config/mta/sendmail/bloomgate.mc; " + std::string(kSetupSendmail)});
  }
  if (options.authentication == AuthenticationRule::off) return true;
  if (verifies_signatures(options) && options.trusted_authserv_ids.empty()) {
    findings.push_back({Level::ok, "authentication", "the daemon verifies signatures itself, and trusts no results"});
    return true;
  }
  examine_before(configuration, ours, findings);
  if (options.trusted_fields == 0) {
    findings.push_back({Level::problem, "authentication",
                        "long results that a sender has forged are neither removed by OpenDKIM nor seen by Sendmail",
                        "set trusted-fields to the number of milters before Bloomgate that write results"});
  }
  return true;
}

}  // namespace bloomgate
