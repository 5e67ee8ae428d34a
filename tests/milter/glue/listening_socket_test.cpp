#include "milter/glue/listening_socket.hpp"

#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <filesystem>

#include "filter/base/error.hpp"
#include "milter/glue/pool_waker.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/stream_sockets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

SocketAddress unix_socket(const std::string& path) {
  return *parse_socket_address("unix:" + path);
}

bool connects(const std::string& path) {
  const FileDescriptor client(socket(AF_UNIX, SOCK_STREAM, 0));
  const sockaddr_un target = path_address(path);
  return connect(client.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0;
}

// A port of the loopback interface that was free a moment ago.
std::string free_port() {
  const FileDescriptor probe(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return std::to_string(ntohs(address.sin_port));
}

TEST_CASE_METHOD(WithPath, "a unix socket has its mode, accepts connections, and is removed with its object") {
  for (const mode_t mode : {0600U, 0660U, 0666U}) {
    const ListeningSocket listening(unix_socket(path), mode, "");
    struct stat status = {};
    REQUIRE(lstat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == mode);
    CHECK(connects(path));
  }
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path)));
}

TEST_CASE_METHOD(WithPath, "a unix socket is given to a group that the user may give it to") {
  const ListeningSocket listening(unix_socket(path), 0660, getgrgid(getegid())->gr_name);
  struct stat status = {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  CHECK(status.st_gid == getegid());
}

TEST_CASE_METHOD(InFolder, "an unknown group is an error that leaves nothing behind") {
  const BloomgateError error =
      error_of([&] { ListeningSocket(unix_socket(folder.file("milter.sock")), 0660, "no-such-group"); });
  CHECK(exit_status(error.code()) == EX_CONFIG);
  CHECK_THAT(error.what(), Contains("'no-such-group'"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE_METHOD(WithPath, "a socket without a listener is replaced") {
  {
    const FileDescriptor dead(socket(AF_UNIX, SOCK_STREAM, 0));
    const sockaddr_un address = path_address(path);
    REQUIRE(bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(dead.get(), 1) == 0);
  }
  REQUIRE_FALSE(connects(path));
  const ListeningSocket listening(unix_socket(path), 0660, "");
  CHECK(connects(path));
}

TEST_CASE_METHOD(WithPath, "a socket in use is left alone") {
  const ListeningSocket first(unix_socket(path), 0660, "");
  const BloomgateError error = error_of([&] { ListeningSocket(unix_socket(path), 0660, ""); });
  CHECK(exit_status(error.code()) == EX_UNAVAILABLE);
  CHECK_THAT(error.what(), Contains(path) && Contains("running already"));
  CHECK(connects(path));
}

TEST_CASE_METHOD(WithPath, "a path that is not a socket is left alone") {
  const std::string target = folder.file("target");
  write_file(target, "precious");
  SECTION("a file") {
    std::filesystem::copy_file(target, path);
  }
  SECTION("a folder") {
    std::filesystem::create_directory(path);
  }
  SECTION("a link, whatever it leads to") {
    std::filesystem::create_symlink(target, path);
  }
  SECTION("a FIFO") {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  }
  const auto before = std::filesystem::symlink_status(path).type();
  const BloomgateError error = error_of([&] { ListeningSocket(unix_socket(path), 0660, ""); });
  CHECK(exit_status(error.code()) == EX_CANTCREAT);
  CHECK_THAT(error.what(), Contains("not a socket"));
  CHECK(std::filesystem::symlink_status(path).type() == before);
  CHECK(read_file(target) == "precious");
}

TEST_CASE_METHOD(WithPath, "a socket that another program has put in the place is not removed at the end") {
  auto first = std::make_unique<ListeningSocket>(unix_socket(path), 0660, "");
  std::filesystem::remove(path);
  const ListeningSocket second(unix_socket(path), 0660, "");
  first.reset();
  CHECK(connects(path));
}

TEST_CASE_METHOD(InFolder, "a missing folder is an error that names the socket") {
  const std::string path = folder.file("missing/milter.sock");
  const BloomgateError error = error_of([&] { ListeningSocket(unix_socket(path), 0660, ""); });
  CHECK(exit_status(error.code()) == EX_CANTCREAT);
  CHECK_THAT(error.what(), Contains("unix:" + path) && Contains("No such file"));
}

void check_port_is_taken_once(const std::string& address) {
  INFO(address);
  const ListeningSocket first(*parse_socket_address(address), 0660, "");
  const BloomgateError error = error_of([&] { ListeningSocket(*parse_socket_address(address), 0660, ""); });
  CHECK(exit_status(error.code()) == EX_UNAVAILABLE);
  CHECK_THAT(error.what(), Contains(address));
}

TEST_CASE("a network port is bound, and a second listener on it is refused") {
  check_port_is_taken_once("inet:" + free_port() + "@127.0.0.1");
  const FileDescriptor ipv6(socket(AF_INET6, SOCK_STREAM, 0));
  sockaddr_in6 loopback = {};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  if (bind(ipv6.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) != 0) {
    WARN("skipped: inet6: is not tested, since this machine has no IPv6");
    return;
  }
  check_port_is_taken_once("inet6:" + free_port() + "@::1");
}

TEST_CASE("a host of another address family is an error") {
  const BloomgateError error = error_of([&] { ListeningSocket(*parse_socket_address("inet:8891@::1"), 0660, ""); });
  CHECK(exit_status(error.code()) == EX_NOHOST);
}

TEST_CASE_METHOD(InFolder, "a client that connects and closes is noticed as such") {
  for (const std::string& text : {"unix:" + folder.file("milter.sock"), "inet:" + free_port() + "@127.0.0.1"}) {
    INFO(text);
    const ListeningSocket listening(*parse_socket_address(text), 0600, "");
    OwnConnections connections;
    REQUIRE(connections.listen_on(listening.descriptor()));
    PoolWaker(connections).before_waiting()();
    pollfd waiting = {.fd = listening.descriptor(), .events = POLLIN, .revents = 0};
    REQUIRE(poll(&waiting, 1, 10'000) == 1);
    const FileDescriptor caller(accept(listening.descriptor(), nullptr, nullptr));
    REQUIRE(caller.is_open());
    char byte = 0;
    CHECK(read(caller.get(), &byte, 1) <= 0);
    CHECK(poll(&waiting, 1, 0) == 0);
  }
  PoolWaker(OwnConnections()).wake();
}

}  // namespace
}  // namespace bloomgate::test
