// What --doctor makes of what it is told. What it finds in real set-ups: tests/e2e/test_doctor.py.
#include "milter/doctor/doctor.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include "filter/base/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

TEST_CASE("systemd's state of the service becomes findings") {
  struct Case {
    std::string_view name;
    std::string_view properties;
    std::vector<Level> want;
  };
  const Case cases[] = {
      {"no systemd", "", {Level::warning}},
      {"stopped", "ActiveState=inactive\nStatusText=\n", {Level::problem}},
      {"failed", "ActiveState=failed\nStatusText=stopping\n", {Level::problem}},
      {"running", "ActiveState=active\nStatusText=serving /w: 3 entries\n", {Level::ok}},
      {"reload refused",
       "ActiveState=active\nStatusText=reload refused: /w is damaged; still serving /w\n",
       {Level::ok, Level::problem}},
      {"options wait for a restart",
       "ActiveState=active\nStatusText=serving /w: 3 entries; waits for a restart: socket\n",
       {Level::ok, Level::warning}},
      {"a slow store",
       "ActiveState=active\nStatusText=slow: /w.store did not always answer within confirm-timeout; serving /w\n",
       {Level::ok, Level::warning}},
      {"damaged", "ActiveState=active\nStatusText=damaged: /w cannot be read\n", {Level::ok, Level::problem}},
      {"revoked is lost",
       "ActiveState=active\nStatusText=the list revoked cannot be read, so no message is delivered\n",
       {Level::ok, Level::problem}},
      {"opt-out is lost",
       "ActiveState=active\nStatusText=the list opt-out cannot be read, so no message is delivered\n",
       {Level::ok, Level::problem}},
      {"nothing is learned",
       "ActiveState=active\nStatusText=serving /w: 3 entries; nothing is learned: /l.db: the disk is full\n",
       {Level::ok, Level::problem}},
      {"no trusted results",
       "ActiveState=active\nStatusText=serving /w; no message of the last 1000 had an Authentication-Results field "
       "that "
       "is trusted\n",
       {Level::ok, Level::problem}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    std::vector<DoctorFinding> findings;
    examine_service(c.properties, findings);
    std::vector<Level> levels;
    for (const DoctorFinding& finding : findings) levels.push_back(finding.level);
    CHECK(levels == c.want);
  }
}

TEST_CASE("options that decide what proves a sender are told where they open much, or were never chosen") {
  struct Case {
    std::string_view name, lines;
    std::vector<std::string_view> want;  // what each warning starts with
  };
  const Case cases[] = {
      {"a new installation", "", {}},
      {"an envelope sender that must be listed", "identity = envelope", {"spf-proves is not set"}},
      {"both senders", "identity = both", {"spf-proves is not set"}},
      {"a default that was written down", "identity = both\nspf-proves = domain", {}},
      {"results of other milters",
       "trusted-authserv-id = mx.example.net",
       {"alignment is not set", "spf-proves is not set"}},
      {"those of the mail server's name", "verify-dkim = no", {"alignment is not set", "spf-proves is not set"}},
      {"defaults for them that were written down", "verify-dkim = no\nalignment = parent\nspf-proves = domain", {}},
      {"relaxed alignment", "alignment = relaxed", {"alignment = relaxed: "}},
      {"authentication that may be missing", "authentication = preferred\nidentity = both\nverify-dkim = no", {}},
      {"no authentication", "authentication = off\nidentity = both\nalignment = relaxed", {}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const test::TemporaryFolder folder;
    test::write_file(folder.file("conf"), c.lines);
    std::vector<DoctorFinding> findings;
    examine_proof(read_daemon_command({"--doctor", "--config", folder.file("conf")}), findings);
    REQUIRE(findings.size() == c.want.size());
    for (std::size_t i = 0; i < findings.size(); ++i) {
      CHECK(findings[i].level == Level::warning);
      CHECK_THAT(findings[i].text, Catch::StartsWith(std::string(c.want[i])));
      CHECK(!findings[i].remedy.empty());
    }
  }
}

TEST_CASE_METHOD(test::InFolder,
                 "a database of learned pairs that is unreadable, or whose folder is missing, is a finding") {
  DaemonOptions options = {};
  options.learn = DaemonOptions::Learn::outbound;
  options.learn_file = folder.file("learned.db");
  const auto found = [&] {
    std::vector<DoctorFinding> findings;
    examine_learning(options, "", findings);
    REQUIRE(findings.size() == 1);
    return findings.front();
  };
  CHECK(found().level == Level::ok);
  test::write_file(options.learn_file, "no database, but some text");
  CHECK(found().level == Level::problem);
  CHECK(found().text.find("learned.db") != std::string::npos);
  options.learn_file = folder.file("missing/learned.db");
  CHECK(found().level == Level::problem);
  CHECK(found().remedy.find("install -d") != std::string::npos);
  options.learn = DaemonOptions::Learn::none;
  std::vector<DoctorFinding> findings;
  examine_learning(options, "", findings);
  CHECK(findings.empty());
}

TEST_CASE_METHOD(test::InFolder, "what has failed of the last bloomgate-update is a problem") {
  DaemonOptions options = {};
  options.whitelists = {{.name = "w", .path = folder.file("w.bloom")}};
  std::vector<DoctorFinding> findings;
  examine_update(options, findings);
  CHECK(findings.empty());
  test::write_file(folder.file("w.bloom.update"), "2026-11-20T03:00:00Z\t2026-11-20T03:00:00Z\tbuild\t65\tno room\n");
  examine_update(options, findings);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().level == Level::problem);
  CHECK(findings_json(findings).find(
            "w.bloom: bloomgate-update: build has failed since 2026-11-20T03:00:00Z: no room") != std::string::npos);
  CHECK(findings.front().remedy.find("journalctl -u bloomgate-update") != std::string::npos);
}

TEST_CASE("a finding is one line and its remedy another, whatever bytes are in them") {
  const DoctorFinding findings[] = {{Level::ok, "socket", "well"},
                                    {Level::problem, "whitelist", "/a\nb\x1b[2J", "chmod /a\nb"}};
  CHECK(findings_text(findings) ==
        "ok       socket: well\n"
        "problem  whitelist: /a\\x0ab\\x1b[2J\n"
        "         -> chmod /a\\x0ab\n");
  CHECK(findings_json(findings).find("\\\\x1b") != std::string::npos);
}

TEST_CASE_METHOD(test::InFolder,
                 "a daemon that accepts no connection is a problem, and does not make the doctor wait for ever") {
  DaemonOptions options;
  options.socket.family = SocketAddress::Family::unix_path;
  options.socket.path = folder.file("milter.sock");
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  options.socket.path.copy(name.sun_path, sizeof name.sun_path - 1);
  const FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  REQUIRE(listen(listener.get(), 0) == 0);
  // The one place in its queue.
  const FileDescriptor first(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(connect(first.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  std::vector<DoctorFinding> findings;
  examine_listener(options, findings);
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].level == Level::problem);
}

TEST_CASE("only a problem makes the exit status 1") {
  const std::vector<DoctorFinding> well = {{Level::ok, "a", "b"}, {Level::warning, "a", "b"}};
  CHECK(doctor_exit_status(well) == 0);
  const std::vector<DoctorFinding> ill = {{Level::problem, "a", "b"}, {Level::ok, "a", "b"}};
  CHECK(doctor_exit_status(ill) == 1);
}

}  // namespace
}  // namespace bloomgate
