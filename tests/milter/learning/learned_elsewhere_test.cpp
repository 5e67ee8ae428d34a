#include "milter/learning/learned_elsewhere.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "milter/learning/learner.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/comes_true.hpp"
#include "tests/support/shared_learning.hpp"

namespace bloomgate {
namespace {

using test::comes_true;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Catch::Contains;
using Clock = std::chrono::system_clock;
using std::chrono::days;

constexpr LearnedDay kMonday{days(20'780)};
const std::string kAnn = "ann@ours.example";
const std::string kJoe = "joe@example.org";
const std::string kZoe = "zoe@example.org";

// A host that hears of others.
class Ear {
 public:
  Ear() { test::learn_key().write_to(rules.learn_key = folder_.file("learn.key")); }

  void hear_of(const test::SharingHost& host) {
    rules.hosts.push_back({.name = host.shared(),
                           .path = host.shared(),
                           .trusted_keys = {host.public_key()},
                           .taken_manifests = folder_.file("taken")});
  }
  void begin() {
    elsewhere_ = std::make_unique<LearnedElsewhere>(log_);
    elsewhere_->set_rules(rules);
  }
  // Two looks, as a folder may be changing during the first.
  void look(Clock::time_point now = Clock::now()) {
    for (int i = 0; i < 2; ++i) elsewhere_->read_news(now);
  }
  LearnedElsewhere& operator*() { return *elsewhere_; }
  LearnedElsewhere* operator->() { return elsewhere_.get(); }
  bool knows(const std::string& user, const std::string& correspondent) const {
    return elsewhere_->find(user, correspondent).has_value();
  }
  std::string fault(std::size_t host = 0) const { return elsewhere_->status().at(host).fault; }
  std::string log() const { return text_.str(); }
  const test::TemporaryFolder& folder() const { return folder_; }

  ElsewhereRules rules;

 private:
  test::TemporaryFolder folder_;
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> log_ =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
  std::unique_ptr<LearnedElsewhere> elsewhere_;
};

TEST_CASE("a pair that any host has learned is found, and a forgotten one is not") {
  test::SharingHost first("submit1", kMonday), second("submit2", kMonday);
  Ear ear;
  ear.hear_of(first);
  ear.hear_of(second);
  ear.begin();
  first.write(kAnn, kJoe);
  second.write(kAnn, kZoe);
  first.share();
  second.share();
  ear.look();
  CHECK(ear.knows(kAnn, kJoe));
  CHECK(ear.knows(kAnn, kZoe));
  CHECK(ear->find_domain("example.org"));
  CHECK(ear->status().at(0).pairs == 1);
  first.forget(kJoe);
  first.share();
  ear.look();
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  CHECK(ear.knows(kAnn, kZoe));
  CHECK_THAT(ear.log(), Contains("list submit1 of another host, with 1 pair"));
}

TEST_CASE("a person whom one host has forgotten is not delivered by the pairs of another that is down") {
  test::SharingHost first("submit1", kMonday), down("submit2", kMonday);
  Ear ear;
  ear.hear_of(first);
  ear.hear_of(down);
  ear.begin();
  for (test::SharingHost* const each : {&first, &down}) {
    each->write(kAnn, kJoe);
    each->share();
  }
  first.forget(kJoe);
  first.share();
  ear.look();
  CHECK_FALSE(ear.knows(kAnn, kJoe));

  // It is there again, applies the forget, and learns the pair once more: this is new.
  Ear of_down;
  of_down.hear_of(first);
  of_down.begin();
  of_down.look();
  CHECK(of_down->forget_in(down.file(), kMonday));
  CHECK_FALSE(down.file().find(kAnn, kJoe));
  down.share();
  ear.look();
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  down.write(kAnn, kJoe);
  down.share();
  ear.look();
  CHECK(ear.knows(kAnn, kJoe));
  // Each forget is applied once.
  CHECK_FALSE(of_down->forget_in(down.file(), kMonday));
  CHECK(down.file().find(kAnn, kJoe));
}

TEST_CASE("a person whom this host has forgotten is not delivered by the pairs of another") {
  test::SharingHost here("submit1", kMonday), other("submit2", kMonday);
  Ear ear;
  ear.hear_of(other);
  ear.begin();
  other.write(kAnn, kJoe);
  other.share();
  ear.look();
  CHECK(ear.knows(kAnn, kJoe));
  here.forget(kJoe);
  here.share();
  ear->set_own_forgets(here.file(), here.file().forgets());
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  // A host that claims to have applied the forgets of another one, under the source of this one.
  const std::vector<std::uint64_t> people = {1};
  const auto is_named = [](const LearnedPair&) { return true; };
  other.file().forget_heard(other.host(), {here.file().source(), 1}, people, is_named, kMonday);
  other.write(kAnn, kJoe);
  other.share();
  ear.look();
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  other.file().forget_heard(here.host(), {here.file().source(), 1}, people, is_named, kMonday);
  other.write(kAnn, kJoe);
  other.share();
  ear.look();
  CHECK(ear.knows(kAnn, kJoe));
}

TEST_CASE("in whatever order hosts learn and forget, all have the same pairs in the end") {
  test::SharingHost first("submit1", kMonday), second("submit2", kMonday);
  Ear mx, of_first, of_second;
  for (const test::SharingHost* const each : {&first, &second}) mx.hear_of(*each);
  of_first.hear_of(second);
  of_second.hear_of(first);
  for (Ear* const each : {&mx, &of_first, &of_second}) each->begin();
  std::minstd_rand random(5);
  std::set<std::pair<std::string, std::string>> want;
  const auto settle = [&] {
    for (int round = 0; round < 3; ++round) {
      for (test::SharingHost* const each : {&first, &second}) each->share();
      for (Ear* const each : {&mx, &of_first, &of_second}) each->look();
      of_first->forget_in(first.file(), kMonday);
      of_second->forget_in(second.file(), kMonday);
    }
  };
  for (int step = 0; step < 120; ++step) {
    test::SharingHost& host = random() % 2 == 0 ? first : second;
    const std::string user = "u" + std::to_string(random() % 3) + "@ours.example";
    const std::string correspondent = "c" + std::to_string(random() % 8) + "@example.org";
    if (random() % 4 != 0) {
      host.write(user, correspondent);
      want.emplace(user, correspondent);
    } else {
      host.forget(correspondent);
      std::erase_if(want, [&](const auto& pair) { return pair.second == correspondent; });
      // At once, wherever the forget has come to: the other host has not applied it yet.
      host.share();
      mx.look();
      for (int each = 0; each < 3; ++each) {
        CHECK_FALSE(mx.knows("u" + std::to_string(each) + "@ours.example", correspondent));
      }
      settle();
    }
  }
  settle();
  for (int user = 0; user < 3; ++user) {
    for (int each = 0; each < 8; ++each) {
      const std::pair pair{"u" + std::to_string(user) + "@ours.example", "c" + std::to_string(each) + "@example.org"};
      CHECK(mx.knows(pair.first, pair.second) == want.contains(pair));
    }
  }
}

TEST_CASE("a refused manifest is reported, and known pairs stay in use") {
  test::SharingHost host("submit1", kMonday);
  Ear ear;
  ear.hear_of(host);
  host.write(kAnn, kJoe);
  host.share();
  ear.begin();
  ear.look();
  REQUIRE(ear.knows(kAnn, kJoe));
  const std::string manifest = host.shared() + "/manifest";
  SECTION("signed by another key") {
    test::SharingHost other("submit1", kMonday);
    other.share();
    fs::copy(other.shared() + "/manifest", manifest, fs::copy_options::overwrite_existing);
    ear.look();
    CHECK_THAT(ear.fault(), Contains("signed by"));
  }
  SECTION("an older state") {
    fs::copy(manifest, ear.folder().file("old"));
    host.write(kAnn, kZoe);
    host.share();
    ear.look();
    fs::copy(ear.folder().file("old"), manifest, fs::copy_options::overwrite_existing);
    ear.look();
    CHECK_THAT(ear.fault(), Contains("an old state has come back"));
    CHECK(ear.knows(kAnn, kZoe));
    // Not even after a restart.
    ear.begin();
    ear.look();
    CHECK_THAT(ear.fault(), Contains("an old state has come back"));
    CHECK_FALSE(ear.knows(kAnn, kJoe));
    return;
  }
  SECTION("nothing is there") {
    fs::remove(manifest);
    ear.look();
    CHECK_THAT(ear.fault(), Contains("bloomgate pull URL"));
  }
  CHECK(ear.knows(kAnn, kJoe));
  CHECK_THAT(ear.log(), Contains("what was known of that host is used until it is too old"));
}

TEST_CASE("a manifest that is not renewed is reported after two days, and not used after its second term") {
  test::SharingHost host("submit1", kMonday);
  Ear ear;
  ear.hear_of(host);
  host.write(kAnn, kJoe);
  host.share();
  ear.begin();
  ear.look();
  CHECK_FALSE(ear->status().at(0).is_overdue);
  ear.look(Clock::now() + days(3));
  CHECK(ear->status().at(0).is_overdue);
  CHECK(ear.knows(kAnn, kJoe));
  ear.look(Clock::now() + days(14 + 61));
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  CHECK_THAT(ear.fault(), Contains("too old"));
  // The clock was wrong.
  ear.look(Clock::now());
  CHECK(ear.knows(kAnn, kJoe));
}

TEST_CASE("without the key of the hosts no pair is found, and with the key they are") {
  test::SharingHost host("submit1", kMonday);
  Ear ear;
  ear.hear_of(host);
  host.write(kAnn, kJoe);
  host.share();
  const std::string path = ear.rules.learn_key;
  fs::rename(path, path + ".away");
  ear.begin();
  ear.look();
  CHECK_THAT(ear.fault(), Contains(path));
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  fs::rename(path + ".away", path);
  ear.look();
  CHECK(ear.knows(kAnn, kJoe));
  CHECK(ear.fault().empty());
  // What is known stays, also over a reload.
  fs::rename(path, path + ".away");
  ear->set_rules(ear.rules);
  ear.look();
  CHECK(ear.knows(kAnn, kJoe));
  CHECK_THAT(ear.fault(), Contains(path));
}

// It can forget for its own users, and have others forget: but not keep them from forgetting what a third host forgets.
TEST_CASE("no host can replace the forgets of another") {
  test::SharingHost first("submit1", kMonday), evil("submit2", kMonday), third("submit3", kMonday);
  third.write(kAnn, kJoe);
  first.forget(kZoe);
  first.share();
  // The source of the first one, and a number that it will never come to.
  const std::vector<SharedRecord> claim = {
      {.kind = SharedKind::person, .hash = 5, .second = std::uint64_t{1} << 62, .day = 20'780}};
  const std::string text = shared_text(
      {.source = first.file().source(), .key_check = test::learn_key().check(), .day = 1, .is_whole = true}, claim);
  evil.share();
  evil.replace_by(text);
  Ear ear;
  ear.hear_of(evil);
  ear.hear_of(first);
  ear.begin();
  ear.look();
  CHECK(ear.fault(0).empty());
  ear->forget_in(third.file(), kMonday);
  first.forget(kJoe);
  first.share();
  ear.look();
  CHECK(ear->forget_in(third.file(), kMonday));
  CHECK_FALSE(third.file().find(kAnn, kJoe));
}

TEST_CASE("a person whom a host has forgotten is not delivered, even if the accepted state cannot be stored") {
  test::SharingHost first("submit1", kMonday), second("submit2", kMonday);
  Ear ear;
  ear.hear_of(first);
  ear.hear_of(second);
  for (WhitelistSource& each : ear.rules.hosts) each.taken_manifests = "/nonexistent/taken";
  second.write(kAnn, kJoe);
  first.forget(kJoe);
  first.share();
  second.share();
  ear.begin();
  ear.look();
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  CHECK_THAT(ear.fault(), Contains("/nonexistent"));
}

TEST_CASE("a fault is reported even if the folder changes at each look") {
  test::SharingHost host("submit1", kMonday, test::learn_key(2));
  Ear ear;
  ear.hear_of(host);
  ear.begin();
  for (int i = 0; i < 3; ++i) {
    host.write(kAnn, "x" + std::to_string(i) + "@example.org");
    host.share();
    ear->read_news(Clock::now());
  }
  CHECK_THAT(ear.fault(), Contains("another key"));
}

TEST_CASE("the pairs of a host that is no longer configured are not found") {
  test::SharingHost first("submit1", kMonday), second("submit2", kMonday);
  Ear ear;
  ear.hear_of(first);
  ear.hear_of(second);
  first.write(kAnn, kJoe);
  second.write(kAnn, kZoe);
  first.share();
  second.share();
  ear.begin();
  ear.look();
  ear.rules.hosts.erase(ear.rules.hosts.begin());
  ear->set_rules(ear.rules);
  CHECK_FALSE(ear.knows(kAnn, kJoe));
  CHECK(ear.knows(kAnn, kZoe));
}

TEST_CASE(
    "a learner finds what others have learned, forgets with them, and stores pairs that its own users' mail renews") {
  test::SharingHost other("submit2", kMonday);
  other.write(kAnn, kJoe);
  other.share();
  Ear ear;
  ear.hear_of(other);
  LearnRules rules = {.path = ear.folder().file("learned.db"), .elsewhere = ear.rules};
  std::atomic<std::int64_t> day = kMonday.time_since_epoch().count();
  std::ostringstream text;
  const auto log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  Learner learner(rules, log, 7, [&] { return LearnedDay(days(day.load())); });
  learner.start();
  CHECK(comes_true([&] { return learner.is_learned(kAnn, kJoe) && learner.status().is_ready; }));

  // Answered on another day: this host keeps it from then on, whatever becomes of the other one.
  ++day;
  learner.renew(kAnn, kJoe);
  CHECK(comes_true([&] { return learner.status().learned == 1; }));
  CHECK(LearnedFile(rules.path, LearnedFile::Access::read).find(kAnn, kJoe) == LearnedDay(days(day.load())));

  other.forget(kJoe);
  other.share();
  CHECK(comes_true([&] { return !learner.is_learned(kAnn, kJoe); }));
  CHECK(comes_true([&] { return !LearnedFile(rules.path, LearnedFile::Access::read).find(kAnn, kJoe); }));

  SECTION("also where nothing is learned here") {
    other.write(kAnn, kZoe);
    other.share();
    learner.set_rules({.elsewhere = ear.rules});
    CHECK(comes_true([&] { return learner.is_learned(kAnn, kZoe); }));
    CHECK_FALSE(learner.is_on());
    CHECK(learner.may_know());
    learner.set_rules({});
    CHECK(comes_true([&] { return !learner.is_learned(kAnn, kZoe); }));
  }
  learner.stop();
}

}  // namespace
}  // namespace bloomgate
