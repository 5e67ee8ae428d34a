#include "milter/service_status.hpp"

#include <catch2/catch.hpp>

#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"

namespace bloomgate {
namespace {

TEST_CASE("the status tells what is served") {
  const test::WhitelistFile file(test::numbered_addresses(0, 10));
  CHECK_THAT(service_status(file.load().get()),
             Catch::Matches("serving " + file.path() +
                            ": 10 entries, [0-9]+ bits, expected false-positive rate .* %, loaded "
                            "20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} UTC"));
  CHECK(service_status(nullptr) == "no whitelist is loaded: all mail is sent to the deeper checks");
}

TEST_CASE("the status of a damaged whitelist says so") {
  install_bus_fault_handler();
  const test::WhitelistFile file({"joe@example.org"});
  const auto loaded = file.load();
  file.truncate();
  CHECK_FALSE(loaded->view().may_contain("joe@example.org"));
  CHECK_THAT(service_status(loaded.get()), Catch::StartsWith("damaged: " + file.path() + " cannot be read"));
}

TEST_CASE("systemd is told in its own words") {
  const test::NotifySocket systemd;
  notify_ready("serving");
  CHECK(systemd.next() == "READY=1\nSTATUS=serving");
  notify_reloading();
  CHECK_THAT(systemd.next(), Catch::Matches("RELOADING=1\nMONOTONIC_USEC=[0-9]{6,}\nSTATUS=loading the whitelist"));
  notify_status("damaged");
  CHECK(systemd.next() == "STATUS=damaged");
  notify_stopping();
  CHECK(systemd.next() == "STOPPING=1\nSTATUS=stopping");
}

TEST_CASE("without systemd nothing happens") {
  unsetenv("NOTIFY_SOCKET");
  notify_ready("serving");
  notify_stopping();
}

}  // namespace
}  // namespace bloomgate
