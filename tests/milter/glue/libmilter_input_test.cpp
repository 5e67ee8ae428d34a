// What libmilter gets from accept(2), poll(2), read(2) and close(2). Behind libmilter itself:
// tests/e2e/test_connections.py.
#include "milter/glue/libmilter_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <vector>

#include "milter/glue/connection_watch.hpp"
#include "milter/glue/listening_socket.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/stream_sockets.hpp"

extern "C" ssize_t __read_chk(int, void*, std::size_t, std::size_t);  // NOLINT: the C library's name

namespace bloomgate::test {
namespace {

using namespace std::string_literals;

constexpr rlim_t kDescriptors = 80;
constexpr int kLimit = 60;  // a quarter of them is spare

struct LowLimit {
  LowLimit() {
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit low = {.rlim_cur = kDescriptors, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
  }
  ~LowLimit() { setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before = {};
};

// The guard lives as long as the process, and so does what it knows.
struct Guarded {
  Guarded() {
    const LowLimit low;
    guard_libmilter(socket.descriptor(), watch);
  }

  TemporaryFolder folder;
  std::string path = folder.file("s");
  ListeningSocket socket{*parse_socket_address("unix:" + path), 0600, ""};
  MemoryLog log;
  Tally tally;
  ConnectionWatch watch{{.connections = 9, .timeout = std::chrono::seconds(60)}, log.logger(), &tally};
};

Guarded& guarded() {
  static auto* const made = new Guarded;
  return *made;
}

// A connection of a mail server, which libmilter has accepted.
struct Accepted {
  Accepted() : caller(connect_to(guarded().path)), taken(accept(guarded().socket.descriptor(), nullptr, nullptr)) {
    REQUIRE(taken.is_open());
  }
  bool is_ready(short events = POLLIN) const {
    pollfd waiting = {taken.get(), events, 0};
    return poll(&waiting, 1, 0) == 1 && waiting.revents == POLLIN;
  }
  std::string read_some(std::size_t bytes) const {
    std::string text(bytes, '\0');
    const ssize_t got = read(taken.get(), text.data(), bytes);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }
  int unread() const {
    int bytes = -1;
    ioctl(taken.get(), FIONREAD, &bytes);
    return bytes;
  }
  bool has_ended() const {
    char byte;
    return recv(caller.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  FileDescriptor caller, taken;
};

const std::string kQuit = "\0\0\0\1Q"s;

TEST_CASE("what a mail server has sent at once is read at once where libmilter asks with poll") {
  const Accepted with_poll, without_poll;
  CHECK_FALSE(with_poll.is_ready());
  for (const Accepted* each : {&with_poll, &without_poll}) send_text(each->caller, kQuit + kQuit);
  CHECK(with_poll.is_ready());
  CHECK(with_poll.read_some(4) == "\0\0\0\1"s);
  CHECK(socket_of_callback() == with_poll.taken.get());
  CHECK(with_poll.unread() == 0);
  CHECK(with_poll.is_ready());
  CHECK_FALSE(with_poll.is_ready(POLLPRI));
  CHECK(with_poll.read_some(100) == "Q" + kQuit);
  CHECK_FALSE(with_poll.is_ready());
  CHECK(without_poll.read_some(4) == "\0\0\0\1"s);
  CHECK(without_poll.unread() == 6);
  CHECK(socket_of_callback() == without_poll.taken.get());
  // As much as one read has room for goes there directly.
  send_text(with_poll.caller, kQuit);
  std::string large(8192, '\0');
  CHECK(__read_chk(with_poll.taken.get(), large.data(), large.size(), large.size()) == 5);
  // Two descriptors at once are those that wait without a thread.
  send_text(with_poll.caller, kQuit);
  CHECK(with_poll.read_some(1).size() == 1);
  pollfd both[] = {{with_poll.taken.get(), POLLIN, 0}, {without_poll.taken.get(), POLLIN, 0}};
  CHECK(poll(both, 2, 0) == 1);
  CHECK(both[0].revents == 0);
}

TEST_CASE("the end of a connection, and its number in another one, leave nothing of what was read") {
  int number = -1;
  for (int round = 0; round < 2; ++round) {
    const Accepted connection;
    if (round == 0) number = connection.taken.get();
    CHECK(connection.taken.get() == number);
    CHECK_FALSE(connection.is_ready());
    // The beginning of a packet of macros, which the next connection does not continue.
    send_text(connection.caller, kQuit + "\0\0\0\4DMi"s);
    CHECK(connection.is_ready());
    CHECK(connection.read_some(5) == kQuit);
    shutdown(connection.caller.get(), SHUT_WR);
    CHECK(connection.read_some(100).size() == 7);
    CHECK(connection.read_some(100).empty());
    CHECK_FALSE(connection.has_ended());
  }
  // The number is that of a file now, which is read as ever.
  const FileDescriptor file(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  set_socket_of_callback(-1);
  char byte = 'x';
  CHECK(read(file.get(), &byte, 1) == 1);
  CHECK(socket_of_callback() == -1);
}

TEST_CASE("a connection that sends the name of a macro without its value is ended before libmilter reads it") {
  const std::uint64_t before = guarded().tally.malformed();
  const Accepted good, bad;
  send_text(good.caller, "\0\0\0\6DMi\0Q\0"s);
  CHECK(good.read_some(100).size() == 10);
  send_text(bad.caller, "\0\0\0\4DMi\0"s);
  CHECK(bad.read_some(100).empty());
  CHECK(bad.has_ended());
  CHECK_FALSE(good.has_ended());
  CHECK(guarded().tally.malformed() == before + 1);
}

#ifndef __SANITIZE_ADDRESS__  // as in no_descriptors.hpp
TEST_CASE("a connection is ended at once where it would have a spare descriptor, or where none is left") {
  const std::uint64_t before = guarded().tally.without_descriptor();
  const int listener = guarded().socket.descriptor();
  errno = 0;
  CHECK(accept(listener, nullptr, nullptr) == -1);
  CHECK(errno == EAGAIN);
  CHECK(guarded().tally.without_descriptor() == before);
  const FileDescriptor first = connect_to(guarded().path), second = connect_to(guarded().path);
  const LowLimit low;
  std::vector<FileDescriptor> all;
  do {
    all.emplace_back(fcntl(listener, F_DUPFD_CLOEXEC, 0));
  } while (all.back().get() < kLimit - 2);
  FileDescriptor last(accept(listener, nullptr, nullptr));
  CHECK(last.get() == kLimit - 1);
  CHECK(guarded().tally.without_descriptor() == before);
  CHECK(accept(listener, nullptr, nullptr) == -1);
  CHECK(errno == EAGAIN);
  CHECK(guarded().tally.without_descriptor() == before + 1);
  char byte;
  CHECK(recv(second.get(), &byte, 1, MSG_DONTWAIT) == 0);
  last.reset();
  const FileDescriptor third = connect_to(guarded().path);
  for (int next = 0; next >= 0;) {
    next = fcntl(listener, F_DUPFD_CLOEXEC, 0);
    if (next >= 0) all.emplace_back(next);
  }
  for (std::uint64_t round = 2; round <= 3; ++round) {
    errno = 0;
    CHECK(accept(listener, nullptr, nullptr) == -1);
    CHECK(errno == EAGAIN);
    CHECK(guarded().tally.without_descriptor() == before + 2);  // the second time none waits
  }
  CHECK(recv(third.get(), &byte, 1, MSG_DONTWAIT) == 0);
  // The reserve is kept for the next one.
  all.pop_back();
  const FileDescriptor fourth = connect_to(guarded().path);
  all.emplace_back(fcntl(listener, F_DUPFD_CLOEXEC, 0));
  CHECK(accept(listener, nullptr, nullptr) == -1);
  CHECK(guarded().tally.without_descriptor() == before + 3);
}
#endif

}  // namespace
}  // namespace bloomgate::test
