// What --doctor finds of the servers around the daemon, which stand-ins play here.
#include <algorithm>
#include <filesystem>

#include "milter/doctor/doctor.hpp"
#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/milter/doctor/shown_findings.hpp"
#include "tests/support/berlin_time.hpp"
#include "tests/support/local_name_server.hpp"
#include "tests/support/stand_in_programs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(InFolder, "clamd is asked at the address that is given") {
  const std::string path = folder.file("clamd");
  const auto found = [&](const std::string& address) {
    std::vector<DoctorFinding> findings;
    examine_clamd(address, findings);
    return findings;
  };
  check_found(found("unix:" + path),
              {"problem clamd: clamd does not listen on unix:" + path + ": viruses are not found"});
  {
    LoopbackServer clamd(replies("PONG\n"), path);
    check_found(found("unix:" + path), {"ok clamd: clamd answers on unix:" + path});
  }
  std::filesystem::remove(path);
  LoopbackServer other(replies("PIN"), path);
  check_found(found("unix:" + path),
              {"problem clamd: what listens on unix:" + path + " does not answer as clamd: viruses are not found"});
  LoopbackServer over_tcp(replies("PONG"));
  const std::string address = "inet:127.0.0.1:" + over_tcp.address().port;
  check_found(found(address), {"ok clamd: clamd answers on " + address});
  check_found(found("nonsense"), {"warning clamd: 'nonsense' is no address of clamd that can be asked"});
}

TEST_CASE_METHOD(InFolder, "the checkers are asked, and the folder for long messages is looked at") {
  LoopbackServer checker(answers("SPAMD/1.1 0 PONG\r\n"));
  const std::string name = to_string(checker.spamd());
  std::vector<std::string> words = {
      "--config", "/dev/null", "--deep-check", "spamd:inet:1@127.0.0.1", "--deep-check-folder", folder.path()};
  const auto found = [&] {
    DaemonOptions options = read_daemon_command(words).options;
    options.deep_check.servers.push_back(checker.spamd());
    std::vector<DoctorFinding> findings;
    examine_deep_check(options, findings);
    return findings;
  };
  check_lines({shown(found()).at(1)}, {"ok deep-check: " + name + " answers"});
  CHECK_THAT(shown(found()).at(0), StartsWith("problem deep-check: spamd:inet:1@127.0.0.1 cannot be asked: "));
  words.back() = folder.file("none");
  check_lines({shown(found()).at(2)},
              {"problem deep-check: " + words.back() + " is not a folder: long messages cannot be kept"});
  write_file(words.back(), "");
  CHECK(shown(found()).at(2).starts_with("problem deep-check: "));
  words.insert(words.end(), {"--mode", "observe"});
  CHECK(found().empty());
}

TEST_CASE("name servers are asked for a key where the daemon verifies signatures") {
  LocalNameServer server;
  std::vector<std::string> words = {"--config",      "/dev/null",      "--authentication", "required",
                                    "--dns-servers", server.address(), "--verify-dkim",    "yes"};
  const auto found = [&] {
    DaemonOptions options = read_daemon_command(words).options;
    options.dns_timeout = std::chrono::milliseconds(300);
    std::vector<DoctorFinding> findings;
    examine_names(options, findings);
    return findings;
  };
  check_lines({shown(found()).at(0)}, {"ok names: names are looked up; keys are *"});
  server.set(LocalNameServer::Mode::fails);
  check_lines({shown(found()).at(0)}, {"problem names: the name servers fail; keys are *"});
  server.set(LocalNameServer::Mode::hangs);
  const auto silent = found();
  check_lines({shown(silent).at(0)}, {"problem names: no name server answers in time; keys are *"});
  CHECK(silent[0].remedy ==
        "name working servers in dns-servers or /etc/resolv.conf; without keys every message of a listed sender is "
        "checked");
  words.insert(words.end(), {"--dns-trust-anchor", "/nonexistent/anchor"});
  CHECK_THAT(found().at(0).remedy, StartsWith("mend that option; without keys"));
  words[7] = "no";
  CHECK(found().empty());
}

TEST_CASE_METHOD(InFolder, "the daemon's own findings are read from wherever it shows them") {
  const std::string body = R"([{"rule": "a", "severity": "notice", "what": "b", "how": "c"}])";
  const auto found = [](const SocketAddress& address) {
    DaemonOptions options = {};
    options.metrics = address;
    std::vector<DoctorFinding> findings;
    examine_daemons_findings(options, findings);
    return findings;
  };
  LoopbackServer over_tcp(answers(http_reply(body))), by_path(answers(http_reply(body)), folder.file("m"));
  check_found(found(over_tcp.address()), {"warning a: b"});
  check_found(found(by_path.address()), {"warning a: b"});
  if (LoopbackServer::has_ipv6()) {
    LoopbackServer over_ipv6(answers(http_reply(body)), LoopbackServer::OverIpv6());
    check_found(found(over_ipv6.address()), {"warning a: b"});
  }
  LoopbackServer refusing(answers(http_reply(body, 404)));
  check_found(found(refusing.address()), {"problem metrics: the daemon's findings at inet:" + refusing.address().port +
                                          "@127.0.0.1 cannot be read: status 404"});
}

TEST_CASE("what the rules find in the files of the daemon has the level of its severity") {
  DaemonCommand command =
      read_daemon_command({"--config", "/dev/null", "--whitelist", "/nonexistent/w", "--mode", "observe"});
  std::vector<DoctorFinding> findings;
  examine_health(command, findings);
  const std::vector<std::string> lines = shown(findings);
  const auto begins = [&](const std::string& words) {
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.starts_with(words); });
  };
  CHECK(begins("problem whitelist-unusable: "));
  CHECK(begins("warning mode-observe: "));
  CHECK_FALSE(findings[0].remedy.empty());
}

struct MailLog : InFolder {
  std::vector<DoctorFinding> found() const {
    std::vector<DoctorFinding> findings;
    examine_bypassed({"/a.log", "/b.log"}, findings);
    return findings;
  }

  const Berlin berlin;
  const StandInPrograms programs;
};

TEST_CASE_METHOD(MailLog, "mail that bypassed a milter is found in the mail server's log, with the hours") {
  programs.put_noting_words("bloomgate",
                            "echo 'bloomgate_bypassed_report_lines 9\n"
                            "bloomgate_bypassed_sessions{milter=\"unix:/b\"} 12\n"
                            "bloomgate_bypassed_first_timestamp_seconds{milter=\"unix:/b\"} 1784000100\n"
                            "bloomgate_bypassed_last_timestamp_seconds{milter=\"unix:/b\"} 1784086500\n"
                            "bloomgate_bypassed_sessions{milter=\"unix:/c\"} 1'");
  const std::string begins = "problem bypassed: in the last 24 hours the mail server could not ask the milter unix:/";
  check_found(found(), {begins + "b in 12 sessions, from 2026-07-14 05:35 to 2026-07-15 05:35: it accepted their mail "
                                 "without asking the milter",
                        begins + "c in 1 sessions, from 1970-01-01 01:00 to 1970-01-01 01:00*"});
  CHECK(programs.words() == "report\n--prometheus\n--quiet\n--since\n24h\n/a.log\n/b.log\n");
  CHECK_THAT(found()[0].remedy, EndsWith("bloomgate report --since 24h /a.log /b.log"));
}

TEST_CASE_METHOD(MailLog, "it is said where the mail server's log shows nothing, and why") {
  const std::string unknown = "warning bypassed: it is not known whether mail bypassed the daemon: ";
  programs.put("bloomgate", "echo 'bloomgate_bypassed_report_lines 1'");
  check_found(found(),
              {"ok bypassed: the mail server's log of the last 24 hours has no session that bypassed a milter"});
  programs.put("bloomgate", "echo 'bloomgate_bypassed_report_lines 0'");
  check_found(found(), {unknown + "the mail server's log is empty"});
  programs.put("bloomgate", "echo");
  check_found(found(), {unknown + "the mail server's log is empty"});
  programs.put("bloomgate", "exit 1");
  check_found(found(), {unknown + "the mail server's log cannot be read"});
  programs.remove("bloomgate");
  check_found(found(), {unknown + "the program bloomgate, which reads the log, is not installed"});
}

TEST_CASE_METHOD(InFolder, "the doctor examines everything, in the order in which an operator would look") {
  const StandInPrograms programs;
  programs.put("bloomgate", "exit 1");
  programs.put("systemctl", "echo ActiveState=active");
  DaemonCommand command = read_daemon_command({"--config",
                                               "/dev/null",
                                               "--doctor",
                                               "--socket",
                                               "unix:" + folder.file("s"),
                                               "--whitelist",
                                               folder.file("w"),
                                               "--revoked",
                                               folder.file("revoked"),
                                               "--learn",
                                               "outbound",
                                               "--learn-file",
                                               folder.file("none/learned.db"),
                                               "--own-domains",
                                               "ours.example",
                                               "--deep-check",
                                               "spamd:unix:/nonexistent",
                                               "--deep-check-folder",
                                               folder.path(),
                                               "--clamd",
                                               "nonsense",
                                               "--postfix-config",
                                               folder.file("none"),
                                               "--sendmail-config",
                                               folder.file("none"),
                                               "--log",
                                               folder.file("log"),
                                               "--authentication",
                                               "off",
                                               "--verify-dkim",
                                               "no"});
  std::vector<std::string> subjects;
  for (const DoctorFinding& each : examine(command)) subjects.push_back(each.subject);
  const std::vector<std::string> order = {
      "configuration", "whitelist-unusable", "socket", "whitelist",   "revoked", "learn", "service",
      "metrics",       "deep-check",         "clamd",  "mail server", "bypassed"};
  std::vector<std::string> ordered;
  for (const std::string& each : subjects) {
    if (std::ranges::count(order, each) != 0) ordered.push_back(each);
  }
  CHECK(ordered == order);
  write_file(folder.file("sendmail.cf"), "");
  command.doctor.sendmail_config = folder.path();
  subjects.clear();
  for (const DoctorFinding& each : examine(command)) subjects.push_back(each.subject);
  CHECK(std::ranges::count(subjects, "mail server") == 0);
  CHECK(std::ranges::count(subjects, "sendmail") == 1);
}

}  // namespace
}  // namespace bloomgate::test
