// The resolver with name servers of our own: it follows resolv.conf, and does not wait for servers that fail.
#include "milter/names/resolver.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "filter/system/file_descriptor.hpp"
#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/local_name_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using test::LocalNameServer;
using test::write_file;
using Mode = LocalNameServer::Mode;
using Clock = Resolver::Clock;

// A resolver, and what it reported.
class Asking {
 public:
  explicit Asking(const ResolverOptions& options)
      : resolver_(options, {.on_servers =
                                [this](const std::string& text) {
                                  const std::lock_guard lock(mutex_);
                                  servers_.push_back(text);
                                },
                            .on_failing =
                                [this](bool failing) {
                                  const std::lock_guard lock(mutex_);
                                  failing_.push_back(failing);
                                }}) {}

  Resolver& operator*() noexcept { return resolver_; }
  TxtRecord ask(const std::string& name, std::chrono::milliseconds patience = 10s) {
    const auto lookup = resolver_.start(name);
    return resolver_.wait(*lookup, Clock::now() + patience);
  }
  std::vector<std::string> servers() const {
    const std::lock_guard lock(mutex_);
    return servers_;
  }
  std::vector<bool> failing() const {
    const std::lock_guard lock(mutex_);
    return failing_;
  }
  bool is_failing() const { return !failing().empty() && failing().back(); }
  bool wait_until_failing(bool wanted) const {
    for (int i = 0; i < 6000 && is_failing() != wanted; ++i) std::this_thread::sleep_for(10ms);
    return is_failing() == wanted;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> servers_;
  std::vector<bool> failing_;
  Resolver resolver_;
};

// A port that no other program can have meanwhile: its socket takes datagrams of one other port alone, so all others
// are refused.
struct RefusingPort {
  RefusingPort() : socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const auto as_any = [&] { return reinterpret_cast<sockaddr*>(&address); };
    REQUIRE(bind(socket.get(), as_any(), size) == 0);
    REQUIRE(getsockname(socket.get(), as_any(), &size) == 0);
    port = ntohs(address.sin_port);
    address.sin_port = htons(1);
    REQUIRE(connect(socket.get(), as_any(), size) == 0);
  }

  FileDescriptor socket;
  std::uint16_t port = 0;
};

std::string names(const LocalNameServer& server) {
  return "nameserver " + server.address() + "\n";
}

ResolverOptions following(const std::string& path) {
  ResolverOptions options;
  options.resolv_conf = path;
  return options;
}

TEST_CASE("a resolver that started without resolv.conf uses its servers as soon as it exists") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("resolv.conf");
  const LocalNameServer server("one");
  Asking asking(following(path));
  CHECK_THAT((*asking).description(), Catch::Contains("the Internet's own name servers, since no server is named in"));
  write_file(path, "# not yet\noptions edns0\n");
  static_cast<void>((*asking).start("a.example"));
  CHECK(asking.servers().empty());
  write_file(path, "nameserver bad\n" + names(server));
  CHECK(asking.ask("a.example").text == "one");
  REQUIRE(asking.servers().size() == 1);
  CHECK(asking.servers()[0] == (*asking).description());
  CHECK_THAT((*asking).description(), Catch::StartsWith("from " + server.address() + " in " + path) &&
                                          Catch::Contains("without its bad line 1: nameserver bad"));
}

TEST_CASE("each way to replace resolv.conf brings other servers, and a file without one leaves the last ones in use") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("resolv.conf"), other = folder.file("other");
  const LocalNameServer one("one"), two("two");
  write_file(path, names(one));
  Asking asking(following(path));
  struct Case {
    std::string_view name;
    std::function<void()> change;
    std::string want;
    std::size_t lines;
  };
  const Case cases[] = {
      {"nothing", [] {}, "one", 0},
      {"in place", [&] { write_file(path, names(two)); }, "two", 1},
      {"the same again", [&] { write_file(path, names(two) + "options edns0\n"); }, "two", 1},
      {"renamed over it", [&] { write_file(other, names(one)), std::filesystem::rename(other, path); }, "one", 2},
      {"removed", [&] { std::filesystem::remove(path); }, "one", 2},
      {"a link that leads nowhere", [&] { std::filesystem::create_symlink("run/stub", path); }, "one", 2},
      {"where the link leads to",
       [&] {
         std::filesystem::create_directory(folder.path() / "run");
         write_file(folder.file("run/stub"), names(two));
       },
       "two", 3},
      {"empty", [&] { write_file(folder.file("run/stub"), ""); }, "two", 3},
      {"another link",
       [&] {
         write_file(other, names(one)), std::filesystem::remove(path);
         std::filesystem::create_symlink("other", path);
       },
       "one", 4},
  };
  int number = 0;
  for (const Case& c : cases) {
    INFO(c.name);
    c.change();
    CHECK(asking.ask("name" + std::to_string(++number) + ".example").text == c.want);
    CHECK(asking.servers().size() == c.lines);
  }
}

TEST_CASE("a look-up in progress ends on the old servers") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("resolv.conf");
  LocalNameServer slow("slow");
  const LocalNameServer other("other");
  slow.set(Mode::hangs);
  write_file(path, names(slow));
  Asking asking(following(path));
  const auto lookup = (*asking).start("a.example");
  write_file(path, names(other));
  CHECK(asking.ask("b.example").text == "other");
  slow.set(Mode::answers);  // libunbound asks again after two seconds
  CHECK((*asking).wait(*lookup, Clock::now() + 10s).text == "slow");
}

TEST_CASE("a port that refuses is noticed at once, look-ups then fail at once, and an answer ends that") {
  std::optional<RefusingPort> refusing(std::in_place);
  const std::uint16_t port = refusing->port;
  Asking asking({.servers = {"127.0.0.1@" + std::to_string(port)}});
  CHECK(asking.ask("a.example").status == TxtStatus::not_asked);
  REQUIRE(asking.wait_until_failing(true));  // the resolver reports it after the answer
  for (int i = 0; i < 100; ++i) CHECK(asking.ask("name" + std::to_string(i)).status == TxtStatus::not_asked);
  refusing.reset();
  const LocalNameServer server("back", port);
  REQUIRE(asking.wait_until_failing(false));
  CHECK(asking.ask("b.example").text == "back");
  CHECK(asking.failing() == std::vector<bool>{true, false});
}

TEST_CASE("servers that hang or fail for all names are not waited for, and names found before are still answered") {
  for (const Mode mode : {Mode::hangs, Mode::fails}) {
    INFO(static_cast<int>(mode));
    LocalNameServer server;
    Asking asking({.servers = {server.address()}});
    REQUIRE(asking.ask("known.example").status == TxtStatus::found);
    server.set(mode);
    std::vector<std::shared_ptr<Resolver::Lookup>> all;
    for (int i = 0; i < 3; ++i) all.push_back((*asking).start("name" + std::to_string(i) + ".example"));
    REQUIRE(asking.wait_until_failing(true));
    CHECK(asking.ask("other.example").status == TxtStatus::not_asked);
    CHECK(asking.ask("known.example").text == "found");
    server.set(Mode::answers);
    REQUIRE(asking.wait_until_failing(false));
    CHECK(asking.ask("other.example").status == TxtStatus::found);
  }
}

TEST_CASE("one name without an answer does not count as a failure of the servers") {
  LocalNameServer server;
  server.set(Mode::hangs);
  Asking asking({.servers = {server.address()}});
  CHECK(asking.ask("a.example", 4s).status == TxtStatus::timed_out);
  CHECK(asking.failing().empty());
}

TEST_CASE("names of a domain whose own name servers hang do not stop the look-ups of other domains") {
  const LocalNameServer server;
  Asking asking({.servers = {server.address()}});
  std::vector<std::shared_ptr<Resolver::Lookup>> hanging;
  const Clock::time_point end = Clock::now() + 5s;
  for (int i = 0; Clock::now() < end; ++i) {
    const std::string number = std::to_string(i);
    for (int j = 0; j < 20; ++j)
      hanging.push_back((*asking).start("s" + number + "x" + std::to_string(j) + ".hanging.example"));
    if (hanging.size() > 200) hanging.erase(hanging.begin(), hanging.begin() + 20);
    CHECK(asking.ask("s" + number + ".good.example").status == TxtStatus::found);
    CHECK(asking.ask("s" + number + ".missing.example").status == TxtStatus::not_found);
    std::this_thread::sleep_for(20ms);
  }
  CHECK(asking.failing().empty());
}

TEST_CASE("many threads ask at once while the servers come and go, and each gets an answer to its question") {
  LocalNameServer server;
  Asking asking({.servers = {server.address()}});
  std::atomic<int> wrong = 0;
  test::at_once(5, [&](int thread) {
    for (int i = 0; i < 40; ++i) {
      const std::string name = "t" + std::to_string(thread) + "x" + std::to_string(i);
      if (thread == 0) {
        server.set(i % 2 == 0 ? Mode::hangs : Mode::answers);
        std::this_thread::sleep_for(10ms);
        continue;
      }
      const TxtStatus found = asking.ask(name + (i % 2 == 0 ? ".good.example" : ".missing.example"), 200ms).status;
      const TxtStatus other = i % 2 == 0 ? TxtStatus::not_found : TxtStatus::found;
      wrong += found == other ? 1 : 0;
    }
    if (thread == 0) server.set(Mode::answers);
  });
  CHECK(wrong == 0);
  CHECK(asking.wait_until_failing(false));
  CHECK(asking.ask("last.good.example").status == TxtStatus::found);
}

}  // namespace
}  // namespace bloomgate
