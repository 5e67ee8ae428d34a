// What --doctor examines in Postfix. It asks postconf and postmap, so that it sees the files as Postfix itself does.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <sstream>
#include <utility>

#include "filter/base/ascii.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_access.hpp"
#include "milter/doctor/doctor_connection.hpp"
#include "milter/doctor/run_program.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr std::string_view kSetupPostfix = "setup-postfix shows what to change, and does it with --apply";
constexpr std::string_view kMark = "X-Bloomgate: deliver; reason=listed; host=mx.example.org";

std::string without_line_end(std::string_view output) {
  return std::string(ascii::trimmed_back(output, " \n"));
}

// The items of a Postfix list: separated by blanks and commas; an item in braces is kept whole.
std::vector<std::string> items(std::string_view text) {
  std::vector<std::string> found;
  std::string item;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '{') - (c == '}');
    const bool separates = c == ' ' || c == ',' || c == '\t' || c == '\n';
    if (depth > 0 || !separates) {
      item += c;
    } else if (!item.empty()) {
      found.push_back(std::exchange(item, {}));
    }
  }
  if (!item.empty()) found.push_back(item);
  return found;
}

// The address in an item of smtpd_milters, which may be in braces with options behind it.
std::string_view address_of(std::string_view milter) {
  const std::size_t begin = milter.find_first_not_of("{ ");
  if (begin == std::string_view::npos) return {};
  return milter.substr(begin, milter.find_first_of(", }", begin) - begin);
}

std::string after_equals(const std::string& line) {
  return line.substr(std::min(line.size(), line.find('=') + 1));
}

// Whether other servers bring mail to that service of master.cf: to port 25, or to smtpd behind postscreen.
bool takes_mail_of_servers(std::string_view service) {
  if (service.ends_with("/pass")) return true;
  return service == "smtp/inet" || service == "25/inet" || service.ends_with(":smtp/inet") ||
         service.ends_with(":25/inet");
}

class Postfix {
 public:
  Postfix(const DaemonOptions& options, std::string folder, std::vector<DoctorFinding>& findings)
      : options_(options), folder_(std::move(folder)), findings_(findings), queue_folder_(value("queue_directory")) {}

  void examine() {
    const std::vector<std::string> milters = items(value("smtpd_milters"));
    const auto ours = find_ours(milters);
    if (ours == milters.end()) {
      problem(
          "Postfix (" + folder_ + ") does not ask " + to_string(options_.socket) + ": smtpd_milters does not name it",
          std::string(kSetupPostfix));
      return;
    }
    findings_.push_back({Level::ok, "postfix", "Postfix (" + folder_ + ") asks the daemon"});
    const bool is_followed = ours + 1 != milters.end();
    const std::string content_filter = value("content_filter");
    // Bloomgate is then the whole check: nothing else looks at mail that it has not seen.
    const bool is_last = asks_deep_check(options_) && content_filter.empty() && !is_followed;
    examine_fallback(*ours, is_last);
    examine_access();
    examine_services(*ours);
    examine_others(milters, ours);
    examine_logins();
    if (!content_filter.empty()) {
      examine_light_path(content_filter);
      examine_next_hop(content_filter, "the later stage", "mail that is not listed waits in the queue");
    } else if (!is_followed && !is_last) {
      problem("nothing checks mail that is not listed: there is no content_filter, and no milter after Bloomgate",
              std::string(kSetupPostfix) + "; or set deep-check");
    }
    examine_forged_marks(content_filter.empty() && is_followed);
    examine_results(ours != milters.begin());
  }

 private:
  void problem(std::string text, std::string remedy) {
    findings_.push_back({Level::problem, "postfix", std::move(text), std::move(remedy)});
  }

  std::string value(const std::string& name) {
    return without_line_end(run_program({"postconf", "-c", folder_, "-xh", name}).output);
  }

  // The daemon's place among the milters.
  std::vector<std::string>::const_iterator find_ours(const std::vector<std::string>& milters) const {
    return std::ranges::find_if(milters, [this](const std::string& milter) {
      const std::string_view address = address_of(milter);
      if (options_.socket.family != SocketAddress::Family::unix_path) {
        return address.starts_with("inet") && address.ends_with(":" + options_.socket.port);
      }
      const auto found = postfix_milter_address(address, queue_folder_);
      return found && found->path == options_.socket.path;
    });
  }

  // What the tables say about a header field; empty if they say nothing.
  std::string action(const std::string& tables, const std::string& field) {
    for (const std::string& table : items(tables)) {
      std::string found = without_line_end(run_program({"postmap", "-c", folder_, "-q", field, table}).output);
      if (!found.empty()) return found;
    }
    return {};
  }

  void examine_fallback(const std::string& milter, bool is_last) {
    const std::size_t at = milter.find("default_action");
    const std::string action = at == std::string::npos ? value("milter_default_action") : milter.substr(at);
    const bool accepts = action.find("accept") != std::string::npos;
    if (is_last) {
      findings_.push_back({Level::ok, "postfix",
                           accepts ? "while Bloomgate is down mail goes on unchecked: it is the whole check, and its "
                                     "default_action is accept (tempfail would let mail wait)"
                                   : "while Bloomgate is down all mail waits at its sender (default_action)"});
      return;
    }
    if (accepts) return;
    problem("while Bloomgate is down mail is refused or waits: its default_action is not accept",
            "give it default_action=accept in smtpd_milters: mail without a mark is checked");
  }

  void examine_access() {
    if (options_.socket.family != SocketAddress::Family::unix_path) return;
    const std::string user = value("mail_owner");
    if (access(options_.socket.path.c_str(), F_OK) == 0 && !user_may(user, options_.socket.path, W_OK)) {
      findings_.push_back({Level::problem, "permissions",
                           "Postfix's user " + user + " may not connect to " + options_.socket.path,
                           "usermod -a -G bloomgate " + user + " && postfix reload"});
    }
  }

  struct Service {
    std::string command;
    bool in_chroot = false;
  };

  // The services of master.cf by name and type, such as smtp/inet.
  std::map<std::string, Service> services() {
    std::map<std::string, Service> found;
    // The default, which is written as a dash (master(5)).
    const bool is_default = value("compatibility_level") == "0";
    std::istringstream lines(run_program({"postconf", "-c", folder_, "-F", "*/*/command", "*/*/chroot"}).output);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t equals = line.find(" = ");
      if (equals == std::string::npos) continue;
      const std::string_view name = std::string_view(line).substr(0, equals);
      Service& service = found[std::string(name.substr(0, name.rfind('/')))];
      if (name.ends_with("/command")) service.command = line.substr(equals + 3);
      if (name.ends_with("/chroot"))
        service.in_chroot = line.ends_with(" = y") || (is_default && line.ends_with(" = -"));
    }
    return found;
  }

  // Each smtpd may have milters of its own, and be in a chroot: a path from / then means another place.
  void examine_services(const std::string& usual_milter) {
    for (const auto& [name, service] : services()) {
      if (service.command != "smtpd" && !service.command.starts_with("smtpd ")) continue;
      const std::string own = override_of(name, "smtpd_milters");
      const std::vector<std::string> milters = own.empty() ? std::vector{usual_milter} : items(after_equals(own));
      const auto ours = find_ours(milters);
      if (ours == milters.end()) {
        if (!takes_mail_of_servers(name)) continue;
        problem(name + " of master.cf has smtpd_milters of its own, and does not ask Bloomgate",
                std::string(kSetupPostfix));
      } else if (service.in_chroot && address_of(*ours).starts_with("unix:/") && !hands_mail_back(name)) {
        problem(name + " of master.cf runs in a chroot and cannot see " + options_.socket.path +
                    ": its mail has no mark, and nothing is learned of it",
                "run setup-postfix --apply again, or: postconf -F " + name + "/chroot=n && postfix reload");
      }
    }
  }

  // The line `service/name = value` where the service has that option; else empty.
  std::string override_of(const std::string& service, const std::string& name) {
    return run_program({"postconf", "-c", folder_, "-xP", service + "/" + name}).output;
  }

  bool hands_mail_back(const std::string& service) {
    return override_of(service, "receive_override_options").find("no_milters") != std::string::npos;
  }

  void examine_light_path(const std::string& content_filter) {
    const std::string found = action(value("milter_header_checks"), std::string(kMark));
    if (!found.starts_with("FILTER ")) {
      problem("mail that Bloomgate marks still takes the deep check (" + content_filter +
                  "): milter_header_checks has no FILTER for it",
              std::string(kSetupPostfix));
      return;
    }
    const std::string transport = found.substr(7, found.find(':') - 7);
    if (without_line_end(run_program({"postconf", "-c", folder_, "-M", transport + "/unix"}).output).empty()) {
      problem("listed mail is sent to the transport " + transport + ", which master.cf does not have",
              std::string(kSetupPostfix));
      return;
    }
    findings_.push_back({Level::ok, "postfix", "listed mail takes the light path, the rest goes to " + content_filter});
    examine_next_hop(found.substr(7), "the light path", "listed mail waits in the queue");
  }

  // Who may write with the address of another user teaches for him.
  void examine_logins() {
    if (options_.learn == DaemonOptions::Learn::none) return;
    // In main.cf, or of a service in master.cf.
    const std::string settings =
        run_program({"postconf", "-c", folder_, "-n"}).output + run_program({"postconf", "-c", folder_, "-P"}).output;
    const bool is_bound = settings.find("sender_login_mismatch") != std::string::npos &&
                          settings.find("smtpd_sender_login_maps") != std::string::npos;
    if (is_bound) {
      findings_.push_back({Level::ok, "learn", "Postfix lets a login write with its own addresses alone"});
      return;
    }
    findings_.push_back({Level::warning, "learn",
                         "Postfix lets a user who has logged in write with any address, and so list senders for "
                         "another user",
                         "set smtpd_sender_login_maps, and reject_sender_login_mismatch in smtpd_sender_restrictions"});
  }

  // The other milters, before Bloomgate and after it.
  void examine_others(const std::vector<std::string>& milters, std::vector<std::string>::const_iterator ours) {
    for (auto milter = milters.begin(); milter != milters.end(); ++milter) {
      if (milter == ours) continue;
      const std::string name(address_of(*milter));
      const auto address = postfix_milter_address(name, queue_folder_);
      if (!address) continue;
      const DoctorConnection connection = connect_to(*address);
      if (connection.is_open() && answers_as_milter(connection)) {
        findings_.push_back({Level::ok, "milter", name + " answers"});
        continue;
      }
      const std::string fault = connection.is_open()         ? " does not answer a mail server"
                                : connection.error == EACCES ? " may not be asked: permission denied"
                                                             : " does not listen";
      findings_.push_back({Level::problem, "milter",
                           "the milter " + name + fault + (milter < ours ? ": no results of it reach Bloomgate" : ""),
                           "start it, or see its log; if it is not wanted, take it out of smtpd_milters"});
    }
  }

  // `destination` is TRANSPORT:NEXTHOP; a transport that is a program has no port to try.
  void examine_next_hop(const std::string& destination, const std::string& stage, const std::string& means) {
    const std::size_t colon = destination.find(':');
    if (colon == std::string::npos) return;
    const auto address = next_hop_address(std::string_view(destination).substr(colon + 1));
    if (!address) return;
    const DoctorConnection connection = connect_to(*address);
    if (connection.is_open() && greets_with(connection, "220")) {
      findings_.push_back({Level::ok, "postfix", stage + " (" + destination + ") answers"});
    } else {
      problem(stage + " (" + destination + ") does not answer: " + means, "start what listens there, or see its log");
    }
  }

  bool removes(const std::string& field) { return action(value("header_checks"), field).starts_with("IGNORE"); }

  // A milter after Bloomgate reads the mark; while Bloomgate is down, nothing else would remove a forged one.
  void examine_forged_marks(bool mark_is_read) {
    const bool removes_marks = removes(std::string(kMark));
    if (mark_is_read && !removes_marks) {
      problem("while Bloomgate is down a forged mark would count: header_checks does not remove X-Bloomgate",
              std::string(kSetupPostfix));
    } else if (!removes_marks || (asks_deep_check(options_) && !removes("X-Spam-Flag: NO"))) {
      findings_.push_back({Level::warning, "postfix",
                           std::string("header_checks does not remove ") + (removes_marks ? "X-Spam" : "X-Bloomgate") +
                               " fields that come with a message: a message with many of them is refused",
                           "take over header_checks from config/mta"});
    } else {
      findings_.push_back({Level::ok, "postfix", "forged marks are removed before the milters"});
    }
  }

  void examine_results(bool is_preceded) {
    if (options_.authentication == AuthenticationRule::off) return;
    if (!is_preceded && !verifies_signatures(options_)) {
      findings_.push_back({Level::problem, "authentication",
                           "no milter before Bloomgate authenticates senders, so no sender counts as listed",
                           "install opendkim, see config/mta/authentication, and put it before Bloomgate"});
    }
    std::vector<std::string> names = options_.trusted_authserv_ids;
    if (names.empty() && options_.verify_dkim != DaemonOptions::VerifyDkim::no) {
      findings_.push_back(
          {Level::ok, "authentication", "the daemon verifies signatures itself, and trusts no results"});
      return;
    }
    if (names.empty()) names.push_back(value("myhostname"));
    for (const std::string& name : names) {
      const std::string field = "Authentication-Results: " + name + "; dkim=pass header.d=example.org";
      if (action(value("header_checks"), field).starts_with("IGNORE")) continue;
      findings_.push_back({Level::problem, "authentication",
                           "results that a sender has forged in the name " + name + " are not removed by header_checks",
                           std::string(kSetupPostfix)});
      return;
    }
    findings_.push_back({Level::ok, "authentication", "forged results are removed before the milters"});
  }

  const DaemonOptions& options_;
  std::string folder_;
  std::vector<DoctorFinding>& findings_;
  const std::string queue_folder_;
};

}  // namespace

bool examine_postfix(const DaemonOptions& options, const std::string& folder, std::vector<DoctorFinding>& findings) {
  if (access((folder + "/main.cf").c_str(), F_OK) != 0) return false;
  const ProgramResult works = run_program({"postconf", "-c", folder, "-h", "mail_version"});
  if (works.timed_out) {
    findings.push_back({Level::problem, "postfix", "postconf does not end", "run postconf -c " + folder + " by hand"});
    return true;
  }
  if (!works.started || works.status != 0) {
    findings.push_back({Level::problem, "postfix", "postconf cannot read the configuration in " + folder,
                        "run postfix check, and fix what it reports"});
    return true;
  }
  Postfix(options, folder, findings).examine();
  return true;
}

}  // namespace bloomgate
