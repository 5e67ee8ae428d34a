#include "milter/service_status.hpp"

#include <catch2/catch.hpp>

#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"

namespace bloomgate {
namespace {

TEST_CASE("the status tells what is served") {
  const test::WhitelistFile file(test::numbered_addresses(0, 10));
  const std::string served = "serving " + file.path() +
                             ": 10 entries, [0-9]+ bits, expected false-positive rate .* %, loaded "
                             "20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} UTC";
  CHECK_THAT(service_status(*file.load_alone()), Catch::Matches(served));
  CHECK(service_status(LoadedLists()) == "no whitelist is loaded: all mail is sent to the deeper checks");
}

TEST_CASE("the status tells of all whitelists and of the exact lists") {
  const test::WhitelistFile one({"joe@example.org"});
  const test::WhitelistFile other({"ann@example.org", "eve@example.org"});
  ListParts lists;
  lists.whitelists = {{"one", one.load()}, {"missing", nullptr}, {"other", other.load()}};
  lists.revoked = std::make_shared<const ExactList>(read_exact_list("a@example.org\nb@example.org\n").list);
  lists.extra = std::make_shared<const ExactList>(read_exact_list("@example.net\n").list);
  CHECK_THAT(service_status(LoadedLists(lists)),
             Catch::Matches("serving " + one.path() + ": 1 entries, .* UTC; " + other.path() +
                            ": 2 entries, .* UTC; 2 revoked entries; 1 extra entries"));
}

TEST_CASE("the status of a damaged whitelist says so, first of all") {
  install_bus_fault_handler();
  const test::WhitelistFile file({"joe@example.org"});
  const test::WhitelistFile good({"joe@example.org"});
  const auto lists = file.load_alone();
  const LoadedLists two({.whitelists = {{"good", good.load()}, lists->parts().whitelists.front()}});
  file.truncate();
  CHECK_FALSE(lists->parts().whitelists.front().filter->view().may_contain("joe@example.org"));
  const std::string damaged = "damaged: " + file.path() + " can no longer be read in full; ";
  CHECK(service_status(*lists) == damaged + "all mail is sent to the deeper checks until a good file is loaded");
  CHECK_THAT(service_status(two),
             Catch::StartsWith(damaged + "it lists nobody until a good file is loaded; " + "serving " + good.path()));
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
