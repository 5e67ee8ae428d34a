#include "milter/brake/brake.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/comes_true.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr std::string_view kJoe = "joe@example.org";

class Fixture {
 public:
  explicit Fixture(BrakeRules rules = {.observe = days(0)}) : rules_(std::move(rules)) {
    rules_.path = path();
    rules_.suspends = true;
    rules_.suspensions_path = folder_.file("suspended");
    log_->set_pattern("%l %v");
    begin();
  }

  void begin() {
    brake_ = std::make_unique<Brake>(rules_, log_, [this] { return std::chrono::sys_seconds(seconds_.load() * 1s); });
    brake_->start();
  }
  void end() { brake_.reset(); }
  void begin_again() {
    end();
    begin();
  }

  Brake& brake() { return *brake_; }
  std::string path() const { return folder_.file("counts"); }
  const test::TemporaryFolder& folder() const { return folder_; }
  void pass(std::chrono::seconds time) { seconds_ += time.count(); }
  // Once the brake has ended.
  std::string log() const { return text_.str(); }

  // How many of so many messages are held; each has another recipient of twenty, and a Message-ID of its own.
  int held(int messages, std::string_view sender = kJoe, bool is_shared = false) {
    int held = 0;
    for (int i = 0; i < messages; ++i) {
      const std::string to = "user" + std::to_string(i % 20) + "@ours.example";
      const std::vector<std::string_view> recipients = {to};
      const std::string id = "<" + std::to_string(++messages_) + "@example.org>";
      held += brake_->count({.sender = sender, .is_shared = is_shared, .message_id = id, .recipients = recipients}) ==
                      Hold::none
                  ? 0
                  : 1;
    }
    return held;
  }
  int held_copies(int messages, std::string_view id) {
    int held = 0;
    for (int i = 0; i < messages; ++i) {
      const Hold hold = brake_->count({.sender = kJoe, .message_id = id});
      if (hold != Hold::none) CHECK(hold == Hold::replay);
      held += hold == Hold::none ? 0 : 1;
    }
    return held;
  }

 private:
  const test::TemporaryFolder folder_;
  BrakeRules rules_;
  std::ostringstream text_;
  const std::shared_ptr<spdlog::logger> log_ =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
  std::atomic<std::int64_t> seconds_{1'784'000'000};
  std::unique_ptr<Brake> brake_;
  int messages_ = 0;
};

TEST_CASE("of a sender that sends 10,000 at once, 60 pass") {
  Fixture fixture;
  CHECK(fixture.held(10'000) == 9'940);
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::burst);
  CHECK(fixture.brake().state_of({.sender = "ann@example.org"}) == Hold::none);
  CHECK(fixture.held(10, "ann@example.org") == 0);
  CHECK(fixture.brake().status().held == 9'940);
  CHECK(fixture.brake().status().senders == 2);
  CHECK(fixture.brake().status().bytes >= 2 * sizeof(SenderCounts));
  fixture.pass(90min);
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::burst);  // for the day
  fixture.pass(32h);
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::none);
  CHECK(fixture.held(60) == 0);
}

TEST_CASE("in the first weeks no message is held, and those that would have been held are counted") {
  Fixture fixture({.observe = days(28)});
  CHECK(fixture.held(1'000) == 0);
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::none);
  CHECK(fixture.brake().status().noticed == 940);
  CHECK(fixture.brake().status().held == 0);
  // The half hour in which it began has begun 200 s before.
  CHECK(fixture.brake().status().observes_until == std::chrono::sys_seconds(1'783'999'800s + 28 * 24h));
  fixture.pass(27 * 24h);
  CHECK(fixture.held(1'000) == 0);
  fixture.pass(25h);
  CHECK_FALSE(fixture.brake().status().observes_until);
  CHECK(fixture.held(1'000) == 0);  // a habit by now
  CHECK(fixture.held(1'000, "ann@example.org") == 940);
}

TEST_CASE("a domain, a list or a signer has no limit before it has a habit") {
  Fixture fixture;
  CHECK(fixture.held(5'000, "@example.org", true) == 0);
  fixture.pass(7 * 24h);
  CHECK(fixture.held(20'000, "@example.org", true) >= 5'000);
}

TEST_CASE("a message that arrives again and again is held, and its sender's other messages are not") {
  Fixture fixture;
  CHECK(fixture.held_copies(1'000, "<genuine@example.org>") == 990);
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::none);
  CHECK(fixture.held(50) == 0);
  CHECK(fixture.held(10) == 10);
  CHECK(fixture.brake().count({.sender = "ann@example.org", .message_id = "<genuine@example.org>"}) == Hold::none);
}

TEST_CASE("recipients who are too many to be known count as different ones") {
  Fixture fixture;
  CHECK(fixture.brake().count({.sender = kJoe, .has_too_many_recipients = true}) == Hold::burst);
  std::vector<std::string> users;
  for (int i = 0; i < 60; ++i) users.push_back("user" + std::to_string(i) + "@ours.example");
  const std::vector<std::string_view> recipients(users.begin(), users.end());
  CHECK(fixture.brake().count({.sender = "ann@example.org", .recipients = recipients}) == Hold::burst);
}

TEST_CASE("habits that were not learned while the brake was off are learned first") {
  Fixture fixture({.observe = days(28)});
  fixture.pass(30 * 24h);
  CHECK_FALSE(fixture.brake().status().observes_until);
  fixture.brake().set_rules({.floor = {.messages = 0}, .observe = days(28)});
  fixture.brake().set_rules({.observe = days(28)});
  CHECK(fixture.brake().status().observes_until);
}

TEST_CASE("messages without a Message-ID are not copies of one another") {
  Fixture fixture;
  CHECK(fixture.held_copies(60, "") == 0);
}

TEST_CASE("what a sender has sent, and its habit, outlive the daemon") {
  Fixture fixture({.observe = days(7)});
  fixture.held(1'000);
  fixture.begin_again();
  CHECK(fixture.brake().status().senders == 1);
  fixture.pass(8 * 24h);
  fixture.begin_again();
  CHECK_FALSE(fixture.brake().status().observes_until);
  CHECK(fixture.held(2'800) == 0);
  CHECK(fixture.held(70, "ann@example.org") == 10);
  fixture.begin_again();
  CHECK(fixture.held(1, "ann@example.org") == 1);
  fixture.end();
  CHECK(fixture.log() == "");
}

TEST_CASE("a sender is kept for as long as a habit lasts, and a file of another version is replaced") {
  Fixture fixture({.observe = days(28)});
  fixture.held(1);
  fixture.pass(41 * 24h);
  fixture.begin_again();
  CHECK(fixture.brake().status().senders == 1);
  CHECK_FALSE(fixture.brake().status().observes_until);
  fixture.end();
  test::flip_byte(fixture.path(), 8);
  fixture.begin();
  // Its fault goes with the first writing.
  CHECK_THAT(fixture.log(), Catch::Contains("was written by another version of Bloomgate"));
  CHECK(fixture.brake().status().observes_until);
  fixture.held(1);
  fixture.begin_again();
  CHECK(fixture.brake().status().fault.empty());
  CHECK(fixture.brake().status().senders == 1);
  fixture.pass(43 * 24h);
  fixture.begin_again();
  CHECK(fixture.brake().status().senders == 0);
}

TEST_CASE("a damaged file stays unchanged, and each sender is held to the floor") {
  Fixture fixture({.observe = days(28)});
  fixture.end();
  std::ofstream(fixture.path()) << "something else, which is longer than the header of a file";
  fixture.begin();
  CHECK_FALSE(fixture.brake().status().observes_until);
  CHECK(fixture.brake().status().fault == "'" + fixture.path() + "' is no file of counts");
  CHECK(fixture.held(100) == 40);
  fixture.end();
  std::string text;
  std::getline(std::ifstream(fixture.path()), text);
  CHECK(text.starts_with("something else"));
  CHECK(fixture.log().find("remove '" + fixture.path() + "' to observe anew") != std::string::npos);
}

TEST_CASE("an unwritable file is reported, and the brake works without it") {
  Fixture fixture;
  fixture.end();
  std::filesystem::remove_all(fixture.folder().path());
  fixture.begin();
  CHECK(fixture.held(100) == 40);
  CHECK(test::comes_true([&] { return !fixture.brake().status().fault.empty(); }));
  std::filesystem::create_directory(fixture.folder().path());
  fixture.end();
  CHECK_THAT(fixture.log(), Catch::Contains("warning burst-file: ") &&
                                Catch::Contains("info burst-file: '" + fixture.path() + "' is kept again\n"));
}

TEST_CASE("without a limit nothing is counted, and a new limit applies from the next message on") {
  Fixture fixture({.floor = {.messages = 0}, .observe = days(0)});
  CHECK_FALSE(fixture.brake().is_on());
  CHECK(fixture.held(1'000) == 0);
  CHECK(fixture.brake().status().senders == 0);
  fixture.brake().set_rules({.floor = {.messages = 5}, .observe = days(0)});
  CHECK(fixture.brake().is_on());
  CHECK(fixture.held(10) == 5);
}

void tell_spam(Fixture& fixture, CountedNames names) {
  fixture.brake().tell({.names = std::move(names), .is_spam = true, .message = "queue_id=Q1"});
}

// Waits for what the brake's thread brings about; half a minute is for a busy machine with a sanitizer.
bool becomes(Fixture& fixture, Hold hold, const CountedMessage& message) {
  for (int i = 0; i < 6'000; ++i) {
    if (fixture.brake().state_of(message) == hold) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

TEST_CASE("a sender whose proven mail is spam is suspended for a day, also after a restart") {
  Fixture fixture({.observe = days(28)});  // suspensions do not wait for habits
  tell_spam(fixture, {.sender = std::string(kJoe)});
  REQUIRE(becomes(fixture, Hold::suspended, {.sender = kJoe}));
  CHECK(fixture.brake().count({.sender = kJoe}) == Hold::suspended);
  CHECK(fixture.brake().status().suspended.suspended == 1);
  CHECK(fixture.brake().status().suspended.suspensions == 1);
  CHECK(fixture.brake().status().senders == 0);
  fixture.begin_again();
  CHECK(fixture.brake().count({.sender = kJoe}) == Hold::suspended);
  fixture.pass(24h);
  CHECK(fixture.brake().count({.sender = kJoe}) == Hold::none);
  fixture.end();
  CHECK(fixture.log() ==
        "warning suspended=joe@example.org queue_id=Q1: bloomgate-milter suspended list says until when, and suspended "
        "clear ends it\n");
}

TEST_CASE("if a domain entry lists a sender, the address is suspended first, and the domain with the third address") {
  Fixture fixture;
  for (const char* const name : {"a", "b", "c"}) {
    const std::string address = std::string(name) + "@example.org";
    CHECK(fixture.brake().state_of({.sender = "@example.org", .address = "d@example.org"}) == Hold::none);
    tell_spam(fixture, {.sender = "@example.org", .address = address});
    REQUIRE(becomes(fixture, Hold::suspended, {.sender = "@example.org", .address = address}));
  }
  CHECK(becomes(fixture, Hold::suspended, {.sender = "@example.org", .address = "d@example.org"}));
}

TEST_CASE("a change to the file by a person or another daemon takes effect within a second") {
  Fixture fixture;
  const std::string file = fixture.folder().file("suspended");
  const auto edit = [&](auto change) { edit_suspensions(file, std::chrono::sys_seconds(0s), change); };
  edit([](Suspensions& all) { all.push_back({.entry = std::string(kJoe)}); });
  CHECK(becomes(fixture, Hold::suspended, {.sender = kJoe}));
  edit([](Suspensions& all) { all.clear(); });
  CHECK(becomes(fixture, Hold::none, {.sender = kJoe}));
}

TEST_CASE("with a damaged file, suspensions in memory stay valid, and new ones are made") {
  Fixture fixture;
  tell_spam(fixture, {.sender = std::string(kJoe)});
  REQUIRE(becomes(fixture, Hold::suspended, {.sender = kJoe}));
  std::ofstream(fixture.folder().file("suspended")) << "something else\n";
  fixture.brake().work_off();
  CHECK(!fixture.brake().status().suspended.fault.empty());
  tell_spam(fixture, {.sender = "ann@example.org"});
  CHECK(becomes(fixture, Hold::suspended, {.sender = "ann@example.org"}));
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::suspended);
}

TEST_CASE("if suspending is off, the file is ignored") {
  Fixture fixture;
  tell_spam(fixture, {.sender = std::string(kJoe)});
  REQUIRE(becomes(fixture, Hold::suspended, {.sender = kJoe}));
  fixture.brake().set_rules({.observe = days(0)});
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::none);
  tell_spam(fixture, {.sender = "ann@example.org"});
  fixture.brake().work_off();
  fixture.brake().set_rules({.observe = days(0), .suspends = true});
  CHECK(fixture.brake().status().suspended.suspensions == 1);
}

TEST_CASE("sessions count at once, and lose no message") {
  Fixture fixture({.floor = {.messages = 400, .recipients = 400}, .observe = days(0)});
  std::atomic<int> held = 0;
  test::at_once(4, [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      const std::string id = std::to_string(thread) + "." + std::to_string(i);
      if (fixture.brake().count({.sender = kJoe, .message_id = id}) != Hold::none) ++held;
      (void)fixture.brake().state_of({.sender = kJoe});
      if (i % 50 == 0) (void)fixture.brake().status();
    }
  });
  CHECK(held == 400);
}

TEST_CASE("mail of a sender whom a user has suspended is held if that user is a recipient") {
  Fixture fixture;
  edit_suspensions(fixture.folder().file("suspended"), std::chrono::sys_seconds(1s), [](Suspensions& all) {
    all.push_back({.entry = std::string(kJoe), .until = {}, .times = {}, .user = "ann@ours.example"});
    all.push_back({.entry = "@bad.example", .until = {}, .times = {}, .user = "ann@ours.example"});
  });
  const std::vector<std::string_view> ann = {"<Ann+x@ours.example>"}, pam = {"<pam@ours.example>"};
  const std::vector<std::string_view> both = {pam.front(), ann.front()}, unclear = {pam.front(), "<a b@ours.example>"};
  const TagSeparators plus = *TagSeparators::parse("+");
  const auto count = [&](std::string_view sender, std::span<const std::string_view> recipients,
                         std::string_view address = {}) {
    return fixture.brake().count(
        {.sender = sender, .address = address, .recipients = recipients, .recipient_delimiter = plus});
  };
  REQUIRE(becomes(fixture, Hold::suspended, {.sender = kJoe, .recipients = ann, .recipient_delimiter = plus}));
  CHECK(count(kJoe, ann) == Hold::suspended);
  CHECK(count(kJoe, both) == Hold::suspended);
  CHECK(count(kJoe, pam) == Hold::none);
  CHECK(count("@example.org", ann, kJoe) == Hold::suspended);
  CHECK(count("eve@bad.example", ann) == Hold::suspended);
  CHECK(count("eve@bad.example", pam) == Hold::none);
  CHECK(count("jim@example.org", ann) == Hold::none);
  // Where a recipient may be ann, the message is held. The figures are of what holds for all.
  CHECK(count(kJoe, unclear) == Hold::suspended);
  CHECK(count("jim@example.org", unclear) == Hold::none);
  for (const std::string_view any : {"<ann>", "<ann@[192.0.2.1]>", "<ann%ours.example@mx.example>"}) {
    CHECK(count(kJoe, std::vector{any}) == Hold::suspended);
    CHECK(count("@example.org", std::vector{any}, kJoe) == Hold::suspended);
    CHECK(count("eve@bad.example", std::vector{any}) == Hold::suspended);
    CHECK(count("jim@example.org", std::vector{any}) == Hold::none);
  }
  const CountedMessage to_many = {.sender = kJoe, .has_too_many_recipients = true};
  CHECK(fixture.brake().count(to_many) == Hold::suspended);
  CHECK(fixture.brake().count({.sender = kJoe, .recipients = ann}) == Hold::suspended);  // whatever the delimiter
  CHECK(fixture.brake().count({.sender = "@example.org", .also = {"", kJoe}, .recipients = ann}) == Hold::suspended);
  CHECK(count(kJoe, {}) == Hold::none);
  CHECK(fixture.brake().state_of({.sender = kJoe}) == Hold::none);
  CHECK(fixture.brake().status().suspended.suspended == 0);
  CHECK(fixture.brake().status().suspended.for_user == 2);
}

}  // namespace
}  // namespace bloomgate
