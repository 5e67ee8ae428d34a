#include "milter/brake/suspended_senders.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;

class Fixture {
 public:
  // The checker's opinion of a message; `a_day` is what its sender sends.
  void take(const std::string& sender, bool is_spam, std::uint64_t a_day = 10, std::uint64_t counted = 100) {
    senders_.take({.names = {.sender = sender}, .is_spam = is_spam, .message = "queue_id=Q"}, a_day, counted, now);
  }
  void take_at_domain(const std::string& address, std::uint64_t a_day) {
    senders_.take({.names = {.sender = "@example.org", .address = address}, .is_spam = true, .message = "queue_id=Q"},
                  a_day, 100, now);
  }
  void take_held(const std::string& sender, std::uint64_t a_day = 10) {
    senders_.take({.names = {.sender = sender}, .is_spam = true, .is_sample = false, .message = "queue_id=Q"}, a_day,
                  100, now);
  }
  bool has(std::string_view sender) const { return senders_.has({&sender, 1}, now); }
  SuspendedSenders::Status status() const { return senders_.status(now); }
  // Samples of other senders that are good, after which the last ones say nothing of the checker.
  void take_good_ones() {
    for (std::size_t i = 0; i < SuspendedSenders::kLast; ++i)
      take("good" + std::to_string(++good_) + "@x.example", false);
  }
  std::string log() const { return text_.str(); }

  void spoil_file() const { std::ofstream(file()) << "something else\n"; }
  void remove_file() const { std::filesystem::remove(file()); }
  // "joe@example.org 24": the entry, and for how many hours from now.
  std::vector<std::string> written() const {
    std::vector<std::string> lines;
    for (const Suspension& each : read_suspensions(file())) {
      lines.push_back(each.entry + ' ' +
                      std::to_string(std::chrono::floor<std::chrono::hours>(*each.until - now).count()));
    }
    return lines;
  }

  std::chrono::sys_seconds now{1'790'000'000s};

 private:
  std::string file() const { return folder_.file("suspended"); }

  const test::TemporaryFolder folder_;
  std::ostringstream text_;
  SuspendedSenders senders_{
      folder_.file("suspended"),
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_))};
  int good_ = 0;
};

TEST_CASE("one spam message suspends a sender with little mail, two one with much, and three one with very much") {
  Fixture fixture;
  struct Case {
    std::uint64_t a_day;
    int needed;
  };
  for (const auto& [a_day, needed] : {Case{0, 1}, Case{999, 1}, Case{1'000, 2}, Case{9'999, 2}, Case{10'000, 3}}) {
    const std::string sender = std::to_string(a_day) + "@example.org";
    CAPTURE(sender);
    fixture.take_good_ones();
    for (int told = 1; told <= needed; ++told) {
      CHECK_FALSE(fixture.has(sender));
      fixture.take(sender, false, a_day);
      CHECK_FALSE(fixture.has(sender));
      fixture.take(sender, true, a_day);
    }
    CHECK(fixture.has(sender));
  }
}

TEST_CASE("two spam messages of one second are two") {
  Fixture fixture;
  fixture.take("news@example.org", true, 5'000);
  fixture.take("news@example.org", true, 5'000);
  CHECK(fixture.has("news@example.org"));
}

TEST_CASE("spam of a day ago does not count") {
  Fixture fixture;
  fixture.take("news@example.org", true, 5'000);
  fixture.now += 24h;
  fixture.take("news@example.org", true, 5'000);
  CHECK_FALSE(fixture.has("news@example.org"));
  fixture.now += 24h - 1s;
  fixture.take("news@example.org", true, 5'000);
  CHECK(fixture.has("news@example.org"));
}

TEST_CASE("a checker that calls much mail spam suspends few senders, and each hour is judged separately") {
  Fixture fixture;
  fixture.take_good_ones();
  for (int i = 0; i < 50; ++i) fixture.take(std::to_string(i) + "@example.org", true);
  CHECK(fixture.status().suspended == 4);
  CHECK(fixture.status().is_stopped);
  fixture.now += 59min;
  fixture.take("60@example.org", true);
  CHECK(fixture.status().suspended == 4);
  fixture.now += 1min;
  CHECK_FALSE(fixture.status().is_stopped);
  fixture.take_good_ones();
  fixture.take("61@example.org", true);
  CHECK(fixture.status().suspended == 5);
  CHECK_THAT(fixture.log(), Contains("the checker calls 5 of the last 20 samples spam, so no sender is suspended"));
}

TEST_CASE("a suspended domain covers its addresses, and a suspended tree also those below it") {
  Fixture fixture;
  fixture.take("@example.org", true);
  fixture.take("@.tree.example", true);
  CHECK(fixture.has("joe@example.org"));
  CHECK(fixture.has("joe@tree.example"));
  CHECK(fixture.has("joe@a.b.tree.example"));
  CHECK_FALSE(fixture.has("joe@sub.example.org"));
  CHECK_FALSE(fixture.has("joe@other-tree.example"));
  CHECK_FALSE(fixture.has("@"));
}

TEST_CASE("a suspended tree of mailing lists covers its lists, and no address") {
  Fixture fixture;
  fixture.take("list:*.lists.example", true);
  fixture.take("list:one.other.example", true);
  CHECK(fixture.has("list:news.lists.example"));
  CHECK(fixture.has("list:*.lists.example"));
  CHECK(fixture.has("list:a.b.lists.example"));
  CHECK(fixture.has("list:one.other.example"));
  CHECK_FALSE(fixture.has("list:two.other.example"));
  CHECK_FALSE(fixture.has("list:news.lists2.example"));
  CHECK_FALSE(fixture.has("joe@news.lists.example"));
}

TEST_CASE("addresses of one domain count as one sender, also when the checker is judged") {
  Fixture fixture;
  fixture.take_good_ones();
  for (int i = 0; i < 3; ++i) fixture.take_at_domain(std::to_string(i) + "@example.org", 5'000);
  CHECK(fixture.status().suspended == 1);
  CHECK(fixture.has("1@example.org"));
  CHECK_FALSE(fixture.status().is_stopped);
}

TEST_CASE("a suspension that could not be written is valid, and is written with the next one") {
  Fixture fixture;
  fixture.spoil_file();
  fixture.take("joe@example.org", true);
  fixture.take("eve@example.org", true);
  CHECK(fixture.has("joe@example.org"));
  CHECK(!fixture.status().fault.empty());
  CHECK(fixture.status().suspensions == 2);
  const std::string said = "suspend-file: ";
  CHECK(fixture.log().find(said) == fixture.log().rfind(said));
  CHECK_THAT(fixture.log(), Contains(": suspensions are not kept beyond this process") && Contains("suspended=joe@"));
  fixture.remove_file();
  fixture.now += 1h;
  fixture.take("ann@example.org", true);
  CHECK(fixture.status().fault.empty());
  CHECK(fixture.has("joe@example.org"));
  CHECK(fixture.written() ==
        std::vector<std::string>{"eve@example.org 23", "joe@example.org 23", "ann@example.org 24"});
  // Only once.
  fixture.remove_file();
  fixture.take("jim@example.org", true);
  CHECK(fixture.written() == std::vector<std::string>{"jim@example.org 24"});
}

TEST_CASE("where the earlier spam of too many senders is remembered, one message is enough") {
  Fixture fixture;
  for (int i = 0; i < 10'000; ++i) fixture.take_held(std::to_string(i) + "@example.org", 5'000);
  CHECK(fixture.status().suspended == 0);
  fixture.take_held("joe@example.org", 5'000);
  CHECK(fixture.has("joe@example.org"));
  fixture.now += 24h;
  fixture.take_held("ann@example.org", 5'000);
  CHECK_FALSE(fixture.has("ann@example.org"));
}

TEST_CASE("after the clock was set back, senders are suspended again") {
  Fixture fixture;
  fixture.take_good_ones();
  for (int i = 0; i < 5; ++i) fixture.take(std::to_string(i) + "@example.org", true);
  CHECK(fixture.status().is_stopped);
  fixture.now -= 1s;
  fixture.take("6@example.org", true);
  CHECK(fixture.has("6@example.org"));
}

TEST_CASE("one sender with much spam does not make the checker suspect") {
  Fixture fixture;
  for (int i = 0; i < 30; ++i) fixture.take("news@example.org", true, 5'000);
  CHECK(fixture.has("news@example.org"));
  fixture.take("joe@example.org", true);
  CHECK(fixture.has("joe@example.org"));
}

TEST_CASE("verdicts on held mail suspend senders, and do not count against the checker") {
  Fixture fixture;
  fixture.take_good_ones();
  for (int i = 0; i < 9; ++i) fixture.take_held(std::to_string(i) + "@example.org");
  CHECK(fixture.status().suspended == 9);
  CHECK_FALSE(fixture.status().is_stopped);
}

TEST_CASE("at most ten senders are suspended in an hour, or one in a thousand of the counted ones") {
  Fixture fixture;
  const std::uint64_t counted = GENERATE(5'000U, 15'000U);
  for (int i = 0; i < 30; ++i) {
    fixture.take_good_ones();
    fixture.take(std::to_string(i) + "@example.org", true, 10, counted);
  }
  CHECK(fixture.status().suspended == std::max<std::uint64_t>(10, counted / 1'000));
  CHECK_THAT(fixture.log(), Contains(" senders were suspended within an hour, so no sender is suspended"));
  fixture.now += 1h;
  fixture.take("later@example.org", true, 10, counted);
  CHECK(fixture.has("later@example.org"));
}

}  // namespace
}  // namespace bloomgate
