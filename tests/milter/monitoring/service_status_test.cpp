#include "milter/monitoring/service_status.hpp"

#include "tests/milter/daemon/notify_socket.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"

namespace bloomgate::test {
namespace {

constexpr IdentityRule kEither = IdentityRule::either;

TEST_CASE("the rate of a message follows from its rule and from every whitelist that serves") {
  const WhitelistFile one(numbered_addresses(0, 5000));
  const WhitelistFile other(numbered_addresses(0, 4500));
  ListParts parts = {.whitelists = {{"one", one.load()}, {"missing", nullptr}, {"other", other.load()}}};
  const double p = parts.whitelists.front().filter->false_positive_rate();
  const double q = parts.whitelists.back().filter->false_positive_rate();
  const double of_sender = 1 - (1 - p) * (1 - q);
  const LoadedLists lists(std::move(parts));
  const auto rate = [&](IdentityRule rule) {
    const std::string text = message_rate(lists, rule);
    const std::string before = "expected false-positive rate ";
    REQUIRE_THAT(text, StartsWith(before));
    return std::stod(text.substr(before.size())) / 100;
  };
  CHECK(p > 0.001);
  CHECK(rate(IdentityRule::envelope) == Approx(of_sender).epsilon(0.01));
  CHECK(rate(IdentityRule::header_from) == Approx(of_sender).epsilon(0.01));
  CHECK(rate(IdentityRule::either) == Approx(1 - (1 - of_sender) * (1 - of_sender)).epsilon(0.01));
  CHECK(rate(IdentityRule::both) == Approx(of_sender).epsilon(0.01));
  CHECK(message_rate(LoadedLists(), IdentityRule::both).empty());
}

TEST_CASE("the status names the whitelist that is served") {
  const WhitelistFile file(numbered_addresses(0, 10));
  const std::string served =
      "serving " + file.path() +
      ": 10 entries, [0-9]+ bits, expected false-positive rate below 1 in 10\\^12 per look-up, loaded "
      "20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} UTC; "
      "expected false-positive rate below 1 in 10\\^12 per message \\(identity = either\\)";
  CHECK_THAT(service_status(*file.load_alone(), kEither), Matches(served));
  CHECK(service_status(LoadedLists(), kEither) == "no whitelist is loaded: all mail is sent to the deeper checks");
}

TEST_CASE("the status names all whitelists and the exact lists") {
  const WhitelistFile one({"joe@example.org"});
  const WhitelistFile other({"ann@example.org", "eve@example.org"});
  ListParts lists;
  lists.whitelists = {{"one", one.load()}, {"missing", nullptr}, {"other", other.load()}};
  lists.revoked.list = std::make_shared<const ExactList>(read_exact_list("a@example.org\nb@example.org\n").list);
  lists.extra.list = std::make_shared<const ExactList>(read_exact_list("@example.net\n").list);
  const std::string served = "serving " + one.path() + ": 1 entry, .* UTC; " + other.path() +
                             ": 2 entries, .* UTC; expected .* per message .*; ";
  CHECK_THAT(service_status(LoadedLists(lists), kEither), Matches(served + "2 revoked entries; 1 extra entry"));
  lists.extra.list = std::make_shared<const ExactList>(read_exact_list("@example.net > ann@ours.example\n").list);
  CHECK_THAT(service_status(LoadedLists(lists), kEither),
             Matches(served + "2 revoked entries; 1 extra entry, with pairs"));
  lists.opt_out.list = std::make_shared<const ExactList>(read_exact_list("@quiet.example\n").list);
  CHECK_THAT(service_status(LoadedLists(lists), kEither), EndsWith("; 1 opt-out entry"));
  lists.opt_out.list = nullptr;
  lists.revoked.list = lists.extra.list;
  CHECK_THAT(service_status(LoadedLists(lists), kEither),
             Matches(served + "1 revoked entry, with pairs; 1 extra entry, with pairs"));
}

TEST_CASE("the status names lost exact lists first") {
  const WhitelistFile file({"joe@example.org"});
  ListParts lists;
  lists.whitelists = {{"one", file.load()}};
  lists.revoked.is_lost = true;
  CHECK_THAT(service_status(LoadedLists(lists), kEither),
             StartsWith(std::string(kRevokedIsLost) + "; serving " + file.path()));
  lists.extra.is_lost = true;
  CHECK_THAT(service_status(LoadedLists(lists), kEither),
             StartsWith(std::string(kRevokedIsLost) +
                        "; the list extra cannot be read, so it lists no sender; serving " + file.path()));
  lists.opt_out.is_lost = true;
  CHECK_THAT(service_status(LoadedLists(lists), kEither),
             StartsWith(std::string(kRevokedIsLost).append("; ").append(kOptOutIsLost) + "; the list extra"));
}

TEST_CASE("the status names lists with lines that are left out, and what that means") {
  ListParts lists;
  lists.opt_out.list = std::make_shared<const ExactList>();
  CHECK(list_faults(LoadedLists(lists)).empty());
  lists.opt_out.left_out = 2;
  lists.revoked.left_out = 1;
  const std::vector<std::string> faults = list_faults(LoadedLists(lists));
  REQUIRE(faults.size() == 2);
  CHECK_THAT(faults[0], StartsWith("the list revoked has invalid lines (1), so it does not revoke their senders: "));
  CHECK_THAT(faults[1],
             StartsWith("the list opt-out has invalid lines (2), so mail to their recipients may be delivered: "));
}

TEST_CASE("the status of a damaged whitelist says so, first of all") {
  install_bus_fault_handler();
  const WhitelistFile file({"joe@example.org"});
  const WhitelistFile good({"joe@example.org"});
  const auto lists = file.load_alone();
  const LoadedLists two({.whitelists = {{"good", good.load()}, lists->parts().whitelists.front()}});
  file.truncate();
  CHECK_FALSE(lists->parts().whitelists.front().filter->view().may_contain("joe@example.org"));
  const std::string damaged = "damaged: " + file.path() + " can no longer be read in full; ";
  CHECK(service_status(*lists, kEither) ==
        damaged + "all mail is sent to the deeper checks until a good file is loaded");
  CHECK_THAT(service_status(two, kEither),
             StartsWith(damaged + "it lists no sender until a good file is loaded; " + "serving " + good.path()));
}

TEST_CASE("systemd is notified in its own words") {
  const NotifySocket systemd;
  notify_ready("serving");
  CHECK(systemd.next() == "READY=1\nSTATUS=serving");
  notify_reloading(123'456'789);
  CHECK(systemd.next() == "RELOADING=1\nMONOTONIC_USEC=123456789\nSTATUS=loading the whitelist");
  notify_status("damaged");
  CHECK(systemd.next() == "STATUS=damaged");
  notify_stopping();
  CHECK(systemd.next() == "STOPPING=1\nSTATUS=stopping");
}

TEST_CASE("without systemd the notifications do nothing") {
  unsetenv("NOTIFY_SOCKET");
  notify_ready("serving");
  notify_stopping();
}

TEST_CASE("the status names a store, its fault, and a pair that is not complete yet") {
  const PairFiles files(numbered_addresses(0, 10'000));
  flip_byte(files.store_path(), kHeaderBytes + 100);
  make_old(files.store_path());
  const auto filter = files.load();
  CHECK_THAT(service_status(LoadedLists({.whitelists = {{"whitelist", filter}}}), kEither),
             StartsWith("serving " + files.path() + ": 10000 entries, 98304 bits, confirmed by " + files.store_path() +
                        ", expected false-positive rate below 1 in 10^9 per look-up") &&
                 EndsWith("expected false-positive rate below 1 in 10^9 per message (identity = either)"));
  // One without a store, and without entries, takes nothing from that.
  const WhitelistFile empty({});
  const LoadedLists both({.whitelists = {{"whitelist", filter}, {"empty", empty.load()}}});
  CHECK_THAT(message_rate(both, kEither), Contains("rate below 1 in 10^9 per message"));
  CHECK_THAT(service_status(LoadedLists({.whitelists = {{"whitelist", filter, true}}}), kEither),
             Contains(" UTC, until the file and the store that replace it belong together; expected"));
  const auto deadline = StoreReaders::Clock::now() + std::chrono::seconds(60);
  for (int i = 0; !filter->store_had(Confirmation::damaged); ++i) {
    filter->confirm(filter->question_about("user" + std::to_string(i) + "@example.org")->hash, deadline, {});
  }
  CHECK_THAT(service_status(LoadedLists({.whitelists = {{"whitelist", filter}}}), kEither),
             StartsWith("damaged: " + files.store_path() +
                        " has a bad page; its senders are sent to the "
                        "deeper checks until a good pair is loaded; serving "));
}

}  // namespace
}  // namespace bloomgate::test
