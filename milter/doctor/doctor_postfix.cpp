// Examines Postfix. setup-postfix reads Postfix's configuration through postconf, and postmap its tables. So the doctor
// sees the files as Postfix itself does.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/base/json.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_access.hpp"
#include "milter/doctor/doctor_connection.hpp"
#include "milter/doctor/run_program.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr std::string_view kSetupPostfix = "setup-postfix shows what to change, and does it with --apply";
constexpr std::chrono::seconds kReadPatience{60};  // it runs postconf several times for each service
constexpr std::string_view kMark = "X-Bloomgate: deliver; reason=listed; host=mx.example.org";

std::string without_line_end(std::string_view output) {
  return std::string(ascii::trimmed_back(output, " \n"));
}

using Milters = std::span<const Json>;

std::string text_of(const Json& value) {
  return std::string(value.text().value_or(""));
}

class Postfix {
 public:
  Postfix(const DaemonOptions& options, std::string folder, const Json& read, std::vector<DoctorFinding>& findings)
      : options_(options),
        folder_(std::move(folder)),
        read_(read),
        findings_(findings),
        queue_folder_(value("queue_directory")) {}

  void examine() {
    const Milters milters = read_.at("milters").elements();
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
    // Bloomgate is then the only check: nothing else examines mail that Bloomgate has not seen.
    const bool is_last = asks_deep_check(options_) && content_filter.empty() && !is_followed;
    examine_fallback(text_of(ours->at("text")), is_last);
    examine_access();
    examine_services();
    examine_others(milters, ours);
    examine_logins();
    if (!content_filter.empty()) {
      examine_light_path(content_filter);
      examine_next_hop(content_filter, "the later stage", "mail that is not listed waits in the queue");
    } else if (!is_followed && !is_last) {
      problem(
          "nothing checks mail that is not listed: there is no content_filter, and no milter after Bloomgate",
          "setup-postfix --recipe rspamd (or spamassassin, content-filter, deep-check) shows what to change, and does "
          "it with --apply");
    }
    examine_forged_marks(content_filter.empty() && is_followed);
    examine_results(ours != milters.begin());
  }

 private:
  void problem(std::string text, std::string remedy) {
    findings_.push_back({Level::problem, "postfix", std::move(text), std::move(remedy)});
  }

  std::string value(const char* name) const { return text_of(read_.at(name)); }

  // The daemon's position among the milters.
  Milters::iterator find_ours(Milters milters) const {
    return std::ranges::find_if(milters, [this](const Json& milter) {
      const std::string address = text_of(milter.at("address"));
      if (options_.socket.family != SocketAddress::Family::unix_path) {
        return address.starts_with("inet") && address.ends_with(":" + options_.socket.port);
      }
      const auto found = postfix_milter_address(address, queue_folder_);
      return found && found->path == options_.socket.path;
    });
  }

  // What the tables of that name say about a header field; empty if they say nothing.
  std::string action(const char* name, const std::string& field) {
    for (const Json& table : read_.at(name).elements()) {
      std::string found = without_line_end(run_program({"postmap", "-c", folder_, "-q", field, text_of(table)}).output);
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
                           accepts
                               ? "while Bloomgate is down mail is delivered unchecked: it is the whole check, and its "
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

  // Each smtpd may have its own milters, and may be in a chroot: an absolute path then means another file.
  void examine_services() {
    for (const auto& [name, service] : read_.at("services").members()) {
      const Milters milters = service.at("milters").elements();
      const auto ours = find_ours(milters);
      if (ours == milters.end()) {
        if (!service.at("is_incoming").is_true()) continue;
        problem(name + " of master.cf has smtpd_milters of its own, and does not ask Bloomgate",
                std::string(kSetupPostfix));
      } else if (service.at("is_chrooted").is_true() && text_of(ours->at("address")).starts_with("unix:/") &&
                 !service.at("asks_no_milters").is_true()) {
        problem(name + " of master.cf runs in a chroot and cannot see " + options_.socket.path +
                    ": its mail has no mark, and nothing is learned of it",
                "run setup-postfix --apply again, or: postconf -F " + name + "/chroot=n && postfix reload");
      }
    }
  }

  void examine_light_path(const std::string& content_filter) {
    const std::string found = action("milter_header_checks", std::string(kMark));
    if (!found.starts_with("FILTER ")) {
      problem("mail that Bloomgate marks still takes the deep check (" + content_filter +
                  "): milter_header_checks has no FILTER for it",
              std::string(kSetupPostfix));
      return;
    }
    const std::string transport = found.substr(7, found.find(':') - 7);
    if (std::ranges::none_of(read_.at("transports").elements(),
                             [&transport](const Json& each) { return each.text() == transport; })) {
      problem("listed mail is sent to the transport " + transport + ", which master.cf does not have",
              std::string(kSetupPostfix));
      return;
    }
    findings_.push_back({Level::ok, "postfix", "listed mail takes the light path, the rest goes to " + content_filter});
    examine_next_hop(found.substr(7), "the light path", "listed mail waits in the queue");
  }

  // A user who may write with the address of another user teaches in that user's name.
  void examine_logins() {
    if (options_.learn == DaemonOptions::Learn::none) return;
    if (read_.at("binds_logins").is_true()) {
      findings_.push_back({Level::ok, "learn", "Postfix lets a login write with its own addresses alone"});
      return;
    }
    findings_.push_back({Level::warning, "learn",
                         "Postfix lets a user who has logged in write with any address, and so list senders for "
                         "another user",
                         "set smtpd_sender_login_maps, and reject_sender_login_mismatch in smtpd_sender_restrictions"});
  }

  // The other milters, before Bloomgate and after it.
  void examine_others(Milters milters, Milters::iterator ours) {
    for (auto milter = milters.begin(); milter != milters.end(); ++milter) {
      if (milter == ours) continue;
      const std::string name = text_of(milter->at("address"));
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

  bool removes(const std::string& field) { return action("header_checks", field).starts_with("IGNORE"); }

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
      if (action("header_checks", field).starts_with("IGNORE")) continue;
      findings_.push_back({Level::problem, "authentication",
                           "results that a sender has forged in the name " + name + " are not removed by header_checks",
                           std::string(kSetupPostfix)});
      return;
    }
    findings_.push_back({Level::ok, "authentication", "forged results are removed before the milters"});
  }

  const DaemonOptions& options_;
  std::string folder_;
  const Json& read_;  // in the form of scripts/mta_setup/postfix_reading.py
  std::vector<DoctorFinding>& findings_;
  const std::string queue_folder_;
};

}  // namespace

bool examine_postfix(const DaemonOptions& options, const std::string& folder,
                     std::vector<DoctorFinding>& findings) try {
  if (access((folder + "/main.cf").c_str(), F_OK) != 0) return false;
  const auto problem = [&findings](const std::string& text, const std::string& remedy) {
    findings.push_back({Level::problem, "postfix", text, remedy});
    return true;
  };
  const ProgramResult read = run_program({"setup-postfix", "--read", folder}, kReadPatience);
  if (read.timed_out) return problem("postconf does not end", "run postconf -c " + folder + " by hand");
  if (!read.started) return problem("setup-postfix is not installed, so nothing is known of Postfix", "install it");
  if (read.status != 0) {
    return problem("postconf cannot read the configuration in " + folder, "run postfix check, and fix what it reports");
  }
  const Json answer = Json::parse(read.output);
  if (!answer.at("milters").is_array()) throw JsonError("is not what this version's prints");
  Postfix(options, folder, answer, findings).examine();
  return true;
} catch (const JsonError& error) {
  findings.push_back({Level::problem, "postfix", std::string("what setup-postfix --read prints ") + error.what(),
                      "see which setup-postfix is the first in PATH, and install this version's"});
  return true;
}

}  // namespace bloomgate
