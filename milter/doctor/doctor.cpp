#include "milter/doctor/doctor.hpp"

#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "filter/base/error.hpp"
#include "filter/base/file_descriptor.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/mapped_filter.hpp"
#include "milter/doctor/doctor_access.hpp"
#include "milter/doctor/run_program.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

// Lists are rebuilt every hour or every night; after a week something must have stopped.
constexpr std::chrono::hours kOldAfter{24 * 7};
constexpr timeval kPatience{5, 0};
constexpr const char* kUnit = "bloomgate-milter.service";

std::string days(std::chrono::seconds age) {
  return std::to_string(age.count() / 86400) + " days";
}

void examine_whitelist(const std::string& path, std::vector<DoctorFinding>& findings) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    findings.push_back({Level::problem, "whitelist", path + " cannot be found: " + std::strerror(errno),
                        "build it: bloomgate build --output " + path + " LIST..."});
    return;
  }
  try {
    const MappedFilter whitelist(path);
    const std::chrono::seconds age(time(nullptr) - info.st_mtime);
    const std::string text =
        path + ": " + std::to_string(entries_of(whitelist.header())) + " entries, " + days(age) + " old";
    if (age > kOldAfter) {
      findings.push_back({Level::warning, "whitelist", text, "find out why it is not built again: cron, a timer?"});
    } else {
      findings.push_back({Level::ok, "whitelist", text});
    }
  } catch (const BloomgateError& error) {
    findings.push_back({Level::problem, "whitelist", error.what(), "build it again: bloomgate build"});
  }
  if ((info.st_mode & S_IWOTH) != 0) {
    findings.push_back({Level::problem, "permissions", path + " can be written by everybody", "chmod o-w " + path});
  }
  if (user_exists(kDaemonUser) && !user_may(kDaemonUser, path, R_OK)) {
    findings.push_back({Level::problem, "permissions",
                        path + " cannot be read by " + kDaemonUser + ", the user that the daemon runs as",
                        "chmod a+r " + path + ", and a+x its folders"});
  }
}

// A connection to the daemon's socket; -1 if there is none.
FileDescriptor connect_to(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::unix_path) {
    FileDescriptor descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    if (address.path.size() >= sizeof name.sun_path) return FileDescriptor(-1);
    std::memcpy(name.sun_path, address.path.data(), address.path.size());
    // A listener that accepts nobody any more keeps a client waiting once its queue is full (unix(7)).
    setsockopt(descriptor.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    if (connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
      return FileDescriptor(-1);
    return descriptor;
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) return FileDescriptor(-1);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
  FileDescriptor descriptor(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  setsockopt(descriptor.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (connect(descriptor.get(), found->ai_addr, found->ai_addrlen) != 0) return FileDescriptor(-1);
  return descriptor;
}

// Offers everything that a mail server can do, in the first packet (SMFIC_OPTNEG), and waits for any answer.
bool answers(const FileDescriptor& descriptor) {
  setsockopt(descriptor.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  constexpr std::array<unsigned char, 17> kOffer = {0, 0, 0, 13, 'O', 0, 0, 0, 6, 0, 0, 1, 0xff, 0, 0x1f, 0xff, 0xff};
  if (send(descriptor.get(), kOffer.data(), kOffer.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kOffer.size())) {
    return false;
  }
  std::array<unsigned char, 5> reply = {};
  return recv(descriptor.get(), reply.data(), reply.size(), MSG_WAITALL) == static_cast<ssize_t>(reply.size()) &&
         reply[4] == 'O';
}

std::string_view level_name(Level level) {
  return level == Level::ok ? "ok" : level == Level::warning ? "warning" : "problem";
}

}  // namespace

void examine_whitelists(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  for (const WhitelistSource& source : options.whitelists) examine_whitelist(source.path, findings);
}

void examine_settings(const DaemonCommand& command, std::vector<DoctorFinding>& findings) {
  findings.push_back({Level::ok, "configuration", command.config_path + " is good"});
  struct stat info = {};
  if (stat(command.config_path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IWOTH) != 0) {
    findings.push_back({Level::problem, "permissions", command.config_path + " can be written by everybody",
                        "chmod o-w " + command.config_path});
  }
  if (command.options.mode == Mode::observe) {
    findings.push_back({Level::warning, "configuration", "mode = observe: no message is marked",
                        "when the log shows what you want, set mode = enforce and restart the daemon"});
  }
  if (command.options.authentication == DaemonOptions::Authentication::off) {
    findings.push_back({Level::warning, "configuration", "authentication = off: anyone can forge a listed sender",
                        "let OpenDKIM or another milter check senders, and set authentication = required"});
  }
}

void examine_socket(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  const std::string name = to_string(options.socket);
  const FileDescriptor descriptor = connect_to(options.socket);
  if (descriptor.get() < 0) {
    findings.push_back({Level::problem, "socket", "nothing listens on " + name,
                        std::string("start the daemon: systemctl start ") + kUnit});
  } else if (!answers(descriptor)) {
    findings.push_back({Level::problem, "socket", "what listens on " + name + " does not answer a mail server",
                        std::string("check whether it is the daemon, and restart it: systemctl restart ") + kUnit});
  } else {
    findings.push_back({Level::ok, "socket", "the daemon answers on " + name});
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
  // See service_status.hpp.
  if (properties.find("the list revoked cannot be read") != std::string_view::npos) {
    findings.push_back({Level::problem, "service", "the list revoked cannot be read, so nobody is delivered",
                        "write it again; an empty file revokes nobody"});
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
  examine_whitelists(options, findings);
  const bool has_systemd = access("/run/systemd/system", F_OK) == 0;
  examine_service(has_systemd ? run_program({"systemctl", "show", "-p", "ActiveState,StatusText", kUnit}).output : "",
                  findings);
  examine_socket(options, findings);
  examine_deep_check(options, findings);
  examine_names(options, findings);
  const bool has_postfix = examine_postfix(options, command.doctor.postfix_config, findings);
  const bool has_sendmail = examine_sendmail(options, command.doctor.sendmail_config, findings);
  if (!has_postfix && !has_sendmail) {
    findings.push_back({Level::problem, "mail server",
                        "no configuration of Postfix or Sendmail is in " + command.doctor.postfix_config + " or " +
                            command.doctor.sendmail_config,
                        "say where it is: --postfix-config or --sendmail-config"});
  }
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
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
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
