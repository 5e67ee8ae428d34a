// What --doctor makes of what it is told. What it finds in real set-ups: tests/e2e/test_doctor.py.
#include "milter/doctor/doctor.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include "filter/system/file_descriptor.hpp"
#include "tests/milter/doctor/shown_findings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

TEST_CASE("systemd's state of the service becomes findings") {
  struct Case {
    std::string_view properties;
    std::vector<std::string> wanted;
  };
  const std::string runs = "ok service: bloomgate-milter.service is running";
  const std::string waits = "warning service: the daemon waits for a restart: socket";
  const std::string damaged = "problem service: the daemon says: damaged: /w; serving /w: 3 entries";
  const std::string stopped = "problem service: bloomgate-milter.service is not running";
  for (const Case& c : {
           Case{"", {"warning service: systemd is not running here: the state of the service is not known"}},
           Case{"ActiveState=inactive\nStatusText=\n", {stopped}},
           Case{"ActiveState=failed\nStatusText=stopping\n", {stopped}},
           Case{"ActiveState=active\n", {runs}},
           Case{"ActiveState=active\nStatusText=serving /w: 3 entries\n", {runs}},
           Case{"StatusText=damaged: /w; serving /w: 3 entries\nActiveState=active\n", {runs, damaged}},
           Case{"ActiveState=active\nStatusText=waits for a restart: socket; serving /w: 3 entries\n", {runs, waits}},
           Case{"ActiveState=active\nStatusText=waits for a restart: socket", {runs, waits}},
           Case{"ActiveState=active\nStatusText=waits for a restart: socket; damaged: /w; serving /w: 3 entries\n",
                {runs, waits, damaged}},
       }) {
    INFO(c.properties);
    std::vector<DoctorFinding> findings;
    examine_service(c.properties, findings);
    test::check_found(findings, c.wanted);
  }
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
