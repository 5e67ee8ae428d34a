// What --doctor makes of what it is told. What it finds in real set-ups: tests/e2e/test_doctor.py.
#include "milter/doctor/doctor.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

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
      {"what is wrong comes first",
       "ActiveState=active\nStatusText=damaged: /w; serving /w: 3 entries\n",
       {Level::ok, Level::problem}},
      {"options that wait for a restart are no fault",
       "ActiveState=active\nStatusText=waits for a restart: socket; serving /w: 3 entries\n",
       {Level::ok, Level::warning}},
      {"options that wait, and a fault",
       "ActiveState=active\nStatusText=waits for a restart: socket; damaged: /w; serving /w: 3 entries\n",
       {Level::ok, Level::warning, Level::problem}},
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

TEST_CASE_METHOD(test::InFolder, "a place for taken manifests that the daemon's user cannot write to is a finding") {
  DaemonOptions options = {};
  options.whitelists = {{.name = "w", .path = folder.file("w"), .taken_manifests = folder.file("taken")}};
  const auto levels = [&](const std::string& user) {
    std::vector<DoctorFinding> findings;
    examine_taken_manifests(options, user, findings);
    std::vector<Level> all;
    for (const DoctorFinding& each : findings) all.push_back(each.level);
    return all;
  };
  CHECK(levels("root").empty());
  options.whitelists.front().trusted_keys = {test::signing_key().public_key()};
  CHECK(levels("root") == std::vector{Level::ok});
  CHECK(levels("no-such-user").empty());
  std::filesystem::permissions(folder.file("."), std::filesystem::perms::owner_all);
  if (geteuid() == 0) CHECK(levels("nobody") == std::vector{Level::problem});
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
  DaemonOptions options = {};
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
