#include "milter/glue/connection_watch.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "milter/glue/listening_socket.hpp"
#include "milter/glue/pool_waker.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stream_sockets.hpp"

namespace bloomgate::test {
namespace {

// A socket of the daemon's, and mail servers that connect to it.
class Door {
 public:
  struct Ends {
    FileDescriptor caller, taken;
  };

  Ends connect() const {
    Ends ends;
    ends.caller = connect_to(path_);
    ends.taken.reset(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(ends.taken.is_open());
    return ends;
  }

  int descriptor() const { return listener_.descriptor(); }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("socket");
  ListeningSocket listener_{parse_socket_address("unix:" + path_).value(), 0600, ""};
};

// Looks without waiting.
bool has_ended(const Door::Ends& ends) {
  char byte;
  return recv(ends.caller.get(), &byte, 1, MSG_DONTWAIT) == 0;
}

class WatchTest {
 protected:
  explicit WatchTest(const ConnectionWatch::Limits& limits = {.connections = 2, .timeout = std::chrono::seconds(60)})
      : watch(limits, log.logger(), &tally) {
    watch.listen_on(door.descriptor());
  }

  void let_pass(int seconds) {
    for (int i = 0; i < seconds; ++i) watch.end_second();
  }

  Door door;
  MemoryLog log;
  Tally tally;
  ConnectionWatch watch;
};

TEST_CASE_METHOD(WatchTest, "as many connections as the limit says are within it, and one more is not") {
  auto first = std::make_unique<ConnectionWatch::Place>(&watch, -1);
  const ConnectionWatch::Place second(&watch, -1);
  const ConnectionWatch::Place third(&watch, -1);
  CHECK(first->is_within_limit());
  CHECK(second.is_within_limit());
  CHECK_FALSE(third.is_within_limit());
  CHECK(tally.turned_away() == 1);
  CHECK(tally.session_limit() == 2);
}

TEST_CASE_METHOD(WatchTest,
                 "connections that are ended for want of descriptors, or for their macros, are counted and logged") {
  watch.note_without_descriptor();
  watch.note_without_descriptor();
  watch.note_unpaired_macros();
  let_pass(1);
  CHECK(tally.without_descriptor() == 2);
  CHECK(tally.turned_away() == 0);
  CHECK(tally.malformed() == 1);
  CHECK(log.text().find("2 connections were turned away, since too few descriptors are left") != std::string::npos);
  CHECK(log.text().find("1 connection was ended, since a mail server sent") != std::string::npos);
}

TEST_CASE_METHOD(WatchTest, "a connection that has ended makes room for another") {
  auto first = std::make_unique<ConnectionWatch::Place>(&watch, -1);
  const ConnectionWatch::Place second(&watch, -1);
  first.reset();
  CHECK(ConnectionWatch::Place(&watch, -1).is_within_limit());
  CHECK(tally.turned_away() == 0);
}

TEST_CASE_METHOD(WatchTest, "a new limit holds for later connections") {
  const ConnectionWatch::Place first(&watch, -1), second(&watch, -1);
  watch.set_limits({.connections = 3, .timeout = std::chrono::seconds(60)});
  CHECK(ConnectionWatch::Place(&watch, -1).is_within_limit());
  watch.set_limits({.connections = 1, .timeout = std::chrono::seconds(60)});
  CHECK_FALSE(ConnectionWatch::Place(&watch, -1).is_within_limit());
  CHECK(tally.session_limit() == 1);
}

TEST_CASE_METHOD(WatchTest, "connections that are turned away are logged once a minute, with their number") {
  const ConnectionWatch::Place first(&watch, -1), second(&watch, -1);
  const auto turn_away = [&](int count) {
    for (int i = 0; i < count; ++i) const ConnectionWatch::Place another(&watch, -1);
  };
  turn_away(3);
  let_pass(1);
  const std::string said = log.text();
  CHECK(said.find("warning: max-connections: 3 connections were turned away, since 2 were open") == 0);
  turn_away(1000);
  let_pass(59);
  CHECK(log.text() == said);
  turn_away(1);
  let_pass(1);
  CHECK(log.text().find("max-connections: 1,001 connections", said.size()) != std::string::npos);
  CHECK(tally.turned_away() == 1004);
}

TEST_CASE_METHOD(WatchTest, "a connection without a whole step in time is ended, and no other") {
  const Door::Ends late = door.connect(), busy = door.connect(), asking = door.connect();
  ConnectionWatch::Place of_late(&watch, late.taken.get()), of_busy(&watch, busy.taken.get());
  ConnectionWatch::Place of_asking(&watch, asking.taken.get());
  of_asking.begin_work();
  let_pass(60);
  of_busy.heard();
  CHECK_FALSE(has_ended(late));
  let_pass(1);
  CHECK(has_ended(late));
  CHECK_FALSE(has_ended(busy));
  let_pass(59);
  CHECK_FALSE(has_ended(busy));
  CHECK_FALSE(has_ended(asking));
  CHECK(tally.cut_off() == 1);
  CHECK(log.text().find(
            "connection-timeout: 1 connection was ended, since no step of the protocol was completed for 60 s") !=
        std::string::npos);
  of_asking.heard();
  let_pass(61);
  CHECK(has_ended(busy));
  CHECK(has_ended(asking));
  CHECK(tally.cut_off() == 3);
}

TEST_CASE_METHOD(WatchTest, "the watchdog is notified each second in which no thread hangs at a message") {
  ConnectionWatch::Limits limits = {
      .connections = 2, .timeout = std::chrono::hours(1), .longest_work = std::chrono::seconds(20)};
  ConnectionWatch bounded(limits, log.logger(), &tally);
  const auto let_pass = [&bounded](int seconds) {
    for (int i = 0; i < seconds; ++i) bounded.end_second();
  };
  int pulses = 0;
  bounded.set_pulse([&pulses] { ++pulses; });
  ConnectionWatch::Place place(&bounded, -1), other(&bounded, -1);
  let_pass(100);
  place.begin_work();
  // What is under way may take as long as it might when it began.
  limits.longest_work = std::chrono::seconds(10);
  bounded.set_limits(limits);
  let_pass(20);
  CHECK(pulses == 120);
  CHECK(log.text().empty());
  let_pass(5);
  other.begin_work();
  let_pass(5);
  CHECK(pulses == 120);
  CHECK(log.text().find("critical: a thread hangs: ") == 0);
  CHECK(log.text().rfind("a thread hangs") == log.text().find("a thread hangs"));
  place.heard();
  let_pass(10);
  CHECK(pulses == 130);
}

TEST_CASE_METHOD(WatchTest, "without a limit no work is too long") {
  int pulses = 0;
  watch.set_pulse([&pulses] { ++pulses; });
  ConnectionWatch::Place place(&watch, -1);
  place.begin_work();
  let_pass(10'000);
  CHECK(pulses == 10'000);
}

TEST_CASE_METHOD(WatchTest, "a connection that has taken no step is ended after half a minute") {
  const Door::Ends silent = door.connect(), served = door.connect();
  const ConnectionWatch::Place place(&watch, served.taken.get());
  const auto seconds = static_cast<int>(ConnectionWatch::kFirstStep.count());
  let_pass(seconds);
  CHECK_FALSE(has_ended(silent));
  let_pass(5);  // it looks every five seconds
  CHECK(has_ended(silent));
  CHECK_FALSE(has_ended(served));
  let_pass(20);
  CHECK(tally.cut_off() == 1);
  CHECK(log.text().find("1 connection was ended, since nothing whole came in 30 s") != std::string::npos);
}

TEST_CASE_METHOD(WatchTest, "only a connection to the daemon's own socket is ever ended") {
  int other[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, other) == 0);
  const Door::Ends pair = {FileDescriptor(other[0]), FileDescriptor(other[1])};
  const Door other_door;
  const Door::Ends elsewhere = other_door.connect();
  const ConnectionWatch::Place wrong(&watch, pair.taken.get());
  const ConnectionWatch::Place listener(&watch, door.descriptor());
  const ConnectionWatch::Place none(&watch, 12345);
  let_pass(200);
  CHECK_FALSE(has_ended(pair));
  CHECK_FALSE(has_ended(elsewhere));
  CHECK(door.connect().taken.is_open());
  CHECK(tally.cut_off() == 0);
}

#ifndef __SANITIZE_ADDRESS__  // See NoDescriptors.
TEST_CASE_METHOD(WatchTest, "silent connections are found when no descriptor is left") {
  const Door::Ends silent = door.connect();
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low = {.rlim_cur = 256, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::vector<FileDescriptor> all;
  for (int next = 0; (next = dup(door.descriptor())) >= 0;) all.emplace_back(next);
  let_pass(40);
  all.clear();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(has_ended(silent));
}
#endif

TEST_CASE_METHOD(WatchTest,
                 "a connection with unread bytes is reported once a second while no step comes on any connection") {
  const PoolWaker waker(watch.connections());
  std::size_t reminders = 0;
  watch.set_on_quiet([&] { reminders += waker.wake_forgotten(); });
  const auto reminders_in = [&](int seconds) {
    reminders = 0;
    let_pass(seconds);
    return reminders;
  };
  const Door::Ends first = door.connect(), second = door.connect();
  const Door other_door;
  const Door::Ends not_ours = other_door.connect();
  send_text(not_ours.caller, "x");
  CHECK(reminders_in(3) == 0);
  send_text(first.caller, "a step");
  CHECK(reminders_in(1) == 1);
  CHECK(reminders_in(2) == 2);
  send_text(second.caller, "x");
  CHECK(reminders_in(1) == 2);
  {
    ConnectionWatch::Place place(&watch, second.taken.get());
    CHECK(reminders_in(1) == 0);
    CHECK(reminders_in(1) == 2);
    place.heard();
    CHECK(reminders_in(1) == 0);
    place.begin_work();
    CHECK(reminders_in(2) == 4);
  }
  char bytes[16];
  REQUIRE(recv(first.taken.get(), bytes, sizeof bytes, MSG_DONTWAIT) == 6);
  CHECK(reminders_in(1) == 1);
  REQUIRE(recv(second.taken.get(), bytes, sizeof bytes, MSG_DONTWAIT) == 1);
  CHECK(reminders_in(5) == 0);
}

TEST_CASE_METHOD(WatchTest, "the thread ends late connections by itself") {
  watch.set_limits({.connections = 2, .timeout = std::chrono::seconds(1)});
  const Door::Ends late = door.connect();
  const ConnectionWatch::Place place(&watch, late.taken.get());
  watch.start();
  char byte;
  CHECK(recv(late.caller.get(), &byte, 1, 0) == 0);
}

TEST_CASE("the limit of connections follows the descriptors that the process may have") {
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low = {.rlim_cur = 300, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(make_room_for_connections(50) == 50);
  rlimit now = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &now) == 0);
  CHECK(now.rlim_cur == 300);
  CHECK(make_room_for_connections(200) == 200);
  REQUIRE(getrlimit(RLIMIT_NOFILE, &now) == 0);
  CHECK(now.rlim_cur == 600);
  CHECK(make_room_for_connections(std::size_t{1} << 40) < std::size_t{1} << 40);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("without descriptors for anything else there is room for no connection") {
  // In a process of its own, which may not raise its limit again.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit least = {.rlim_cur = 100, .rlim_max = 100};
    _exit(setrlimit(RLIMIT_NOFILE, &least) == 0 && make_room_for_connections(50) == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

// What the callbacks make of it.

class WatchedParts : public Parts {
 protected:
  WatchedParts() {
    watch.listen_on(door.descriptor());
    shared.watch = &watch;
  }

  Door door;
  ConnectionWatch watch{{.connections = 1, .timeout = std::chrono::seconds(60)}, log.logger(), nullptr};
};

TEST_CASE_METHOD(WatchedParts, "a connection above max-connections is closed at its first step") {
  const Door::Ends first_ends = door.connect(), second_ends = door.connect();
  FakeMailServer first, second, third;
  first.context().socket = first_ends.taken.get();
  second.context().socket = second_ends.taken.get();
  CHECK(first.negotiate() == SMFIS_CONTINUE);
  second.negotiate();
  CHECK(has_ended(second_ends));
  CHECK_FALSE(has_ended(first_ends));
  // Its socket is not known: libmilter is told to end it.
  CHECK(third.negotiate() == SMFIS_REJECT);
  second.close();
  third.close();
  first.close();
  CHECK(second.negotiate() != SMFIS_REJECT);
}

TEST_CASE_METHOD(WatchedParts, "a session that follows another without a negotiation is closed above max-connections") {
  const Door::Ends first_ends = door.connect(), second_ends = door.connect();
  FakeMailServer first, second;
  first.context().socket = first_ends.taken.get();
  second.context().socket = second_ends.taken.get();
  first.negotiate();
  first.connect();
  first.close();
  first.connect();
  CHECK_FALSE(has_ended(first_ends));
  first.close();
  CHECK(second.negotiate() == SMFIS_CONTINUE);
  first.connect();
  CHECK(has_ended(first_ends));
  second.connect();
  CHECK_FALSE(has_ended(second_ends));
}

TEST_CASE_METHOD(WatchedParts, "every step of the protocol counts, and the time that the daemon takes does not") {
  const Door::Ends ends = door.connect();
  FakeMailServer server;
  server.context().socket = ends.taken.get();
  const auto half_a_minute = [&] {
    for (int i = 0; i < 40; ++i) watch.end_second();
  };
  server.negotiate();
  half_a_minute();
  server.connect();
  half_a_minute();
  server.helo("client.example");
  half_a_minute();
  server.mail("<joe@example.org>");
  half_a_minute();
  server.header("Subject", "test");
  half_a_minute();
  server.end_of_message();
  half_a_minute();
  CHECK_FALSE(has_ended(ends));
  half_a_minute();
  CHECK(has_ended(ends));
}

}  // namespace
}  // namespace bloomgate::test
