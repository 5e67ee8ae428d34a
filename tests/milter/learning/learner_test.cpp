#include "milter/learning/learner.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/comes_true.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using test::comes_true;
using namespace std::chrono_literals;
using std::chrono::days;

constexpr LearnedDay kMonday{days(20'780)};
const std::string kAnn = "ann@ours.example";
const std::string kBob = "bob@ours.example";
const std::string kJoe = "joe@example.org";

class Fixture {
 public:
  explicit Fixture(LearnRules rules = {}) : path_(folder_.file("learned.db")), rules_(std::move(rules)) {
    rules_.path = path_;
    log_->set_pattern("%v");
    begin();
  }

  void begin() {
    learner_ = std::make_unique<Learner>(rules_, log_, 7, [this] { return LearnedDay(days(day_.load())); });
    learner_->start([this] { ++changes_; });
  }
  void end() { learner_.reset(); }

  Learner& learner() { return *learner_; }
  const std::string& path() const { return path_; }
  const test::TemporaryFolder& folder() const { return folder_; }
  const LearnRules& rules() const { return rules_; }
  // How often somebody was told that learning has stopped, or goes on.
  int changes() const { return changes_; }
  void set_day(LearnedDay day) { day_ = day.time_since_epoch().count(); }
  // Once the learner has ended.
  std::string log() const { return text_.str(); }

  bool is_ready() {
    return comes_true([&] { return learner_->status().is_ready; });
  }
  bool is_written(std::uint64_t learned) {
    return comes_true([&] { return learner_->status().learned >= learned; });
  }
  bool forgets(const std::string& user, const std::string& sender) {
    return comes_true([&] { return !learner_->is_learned(user, sender); });
  }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
  LearnRules rules_;
  std::atomic<int> changes_ = 0;
  std::atomic<std::int64_t> day_{kMonday.time_since_epoch().count()};
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> log_ =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
  std::unique_ptr<Learner> learner_;
};

TEST_CASE_METHOD(Fixture, "a recipient of a user's mail is listed for that user at once, and after a restart") {
  CHECK_FALSE(learner().is_learned(kAnn, kJoe));
  learner().learn({kAnn, {kJoe}}, "ann", learner().begin_message());
  CHECK(learner().is_learned(kAnn, kJoe));
  CHECK_FALSE(learner().is_learned(kBob, kJoe));
  CHECK(learner().has_sender_domain("example.org"));
  CHECK_FALSE(learner().has_sender_domain("ours.example"));
  end();
  begin();
  CHECK(comes_true([&] { return learner().is_learned(kAnn, kJoe); }));
  CHECK_FALSE(learner().is_learned(kBob, kJoe));
}

TEST_CASE_METHOD(Fixture, "sessions learn, ask and renew at once while the file is written, read anew and turned off") {
  REQUIRE(is_ready());
  constexpr int kEach = 150;
  std::atomic<int> unknown = 0;
  test::at_once(4, [&](int thread) {
    LearnedFile other(path(), LearnedFile::Access::write);
    for (int i = 0; i < kEach; ++i) {
      const std::string sender = "c" + std::to_string(i) + "@t" + std::to_string(thread) + ".example";
      learner().learn({kAnn, {sender}}, "ann" + std::to_string(i), learner().begin_message());
      unknown += learner().is_learned(kAnn, sender) && learner().has_sender_domain(sender.substr(sender.find('@') + 1))
                     ? 0
                     : 1;
      learner().renew(kAnn, sender);
      if (thread == 0 && i % 50 == 0) other.record(std::vector<LearnedFile::Contact>{{kBob, sender}}, kMonday);
      set_day(kMonday + days(i % 2));
      unknown += learner().status().fault.empty() ? 0 : 1;
    }
  });
  CHECK(unknown == 0);
  CHECK(is_written(4 * kEach));
  end();
  begin();
  CHECK(comes_true([&] { return learner().status().pairs == 4 * kEach + 3; }));
}

TEST_CASE_METHOD(Fixture, "pairs that another process removes or adds in the file take effect without a restart") {
  REQUIRE(is_ready());
  learner().learn({kAnn, {kJoe, "zoe@example.org"}}, "ann", learner().begin_message());
  REQUIRE(is_written(2));
  LearnedFile other(path(), LearnedFile::Access::write);
  CHECK(other.forget(canonicalize_line(kJoe), kMonday) == 1);
  CHECK(forgets(kAnn, kJoe));
  CHECK(learner().is_learned(kAnn, "zoe@example.org"));

  other.record(std::vector<LearnedFile::Contact>{{kBob, "new@example.org"}}, kMonday);
  CHECK(comes_true([&] { return learner().is_learned(kBob, "new@example.org"); }));
  // And what was learned here since then is not lost by that.
  learner().learn({kAnn, {"last@example.org"}}, "ann", learner().begin_message());
  other.forget(canonicalize_line("zoe@example.org"), kMonday);
  CHECK(forgets(kAnn, "zoe@example.org"));
  CHECK(learner().is_learned(kAnn, "last@example.org"));
}

TEST_CASE_METHOD(Fixture, "a forget is in force once the learner does not use the person any more") {
  REQUIRE(is_ready());
  LearnedFile other(path(), LearnedFile::Access::write);
  const auto state = [&] { return forget_state(path(), other.changes().forgets); };
  for (int i = 0; i < 3; ++i) {
    const std::string sender = "c" + std::to_string(i) + "@example.org";
    learner().learn({kAnn, {sender}}, "ann", learner().begin_message());
    other.forget(canonicalize_line(sender), kMonday);
    CHECK(state() != ForgetState::no_daemon);
    REQUIRE(comes_true([&] { return state() == ForgetState::in_force; }));
    CHECK_FALSE(learner().is_learned(kAnn, sender));
  }
  // Without a file, nothing of it is in memory.
  LearnRules rules = this->rules();
  rules.path.clear();
  learner().set_rules(rules);
  CHECK(comes_true([&] { return state() == ForgetState::no_daemon; }));
}

TEST_CASE_METHOD(Fixture, "a message under way while a person is removed teaches nothing of that person") {
  REQUIRE(is_ready());
  LearnedFile other(path(), LearnedFile::Access::write);
  for (int i = 0; i < 5; ++i) {
    const std::string sender = "c" + std::to_string(i) + "@example.org";
    const std::string witness = "w" + std::to_string(i) + "@example.org";
    const LearnedBegin began = learner().begin_message();
    // Half of the times it is known already, and in others it waits to be written.
    if (i % 2 == 0) learner().learn({kAnn, {sender}}, "ann", began);
    other.forget(canonicalize_line(sender), kMonday);
    learner().learn({kAnn, {sender, witness}}, "ann", began);
    // And one that begins now does so even before that is known here.
    learner().learn({kBob, {sender}}, "bob", learner().begin_message());
    CHECK(learner().is_learned(kBob, sender));
    REQUIRE(comes_true([&] { return learner().begin_message().forgets == began.forgets + 1; }));
    CHECK(forgets(kAnn, sender));
    learner().learn({kAnn, {sender}}, "ann", began);
    CHECK_FALSE(learner().is_learned(kAnn, sender));
    REQUIRE(comes_true([&] { return other.find(kAnn, witness).has_value(); }));
    CHECK(learner().is_learned(kAnn, witness));
    CHECK_FALSE(other.find(kAnn, sender));
    CHECK(learner().is_learned(kBob, sender));
    REQUIRE(comes_true([&] { return other.find(kBob, sender).has_value(); }));
  }
}

TEST_CASE_METHOD(Fixture, "a removal also drops pairs that wait for a file that is not read yet") {
  REQUIRE(is_ready());
  end();
  LearnedFile other(path(), LearnedFile::Access::write);
  Learner learner(rules(), std::make_shared<spdlog::logger>("test"), 7, [] { return kMonday; });
  const LearnedBegin began = learner.begin_message();
  learner.learn({kAnn, {kJoe, "zoe@example.org"}}, "ann", began);
  other.forget(canonicalize_line(kJoe), kMonday);
  learner.start();
  REQUIRE(comes_true([&] { return learner.status().learned == 1; }));
  CHECK(learner.is_learned(kAnn, "zoe@example.org"));
  CHECK_FALSE(learner.is_learned(kAnn, kJoe));
  CHECK_FALSE(other.find(kAnn, kJoe));
}

TEST_CASE_METHOD(
    Fixture,
    "once the number of removals is known, every message teaches again, and the names are dropped after two days") {
  REQUIRE(is_ready());
  LearnedFile other(path(), LearnedFile::Access::write);
  other.forget(canonicalize_line(kJoe), kMonday);
  end();
  begin();
  REQUIRE(is_ready());
  CHECK(learner().begin_message().forgets == 1);
  learner().learn({kAnn, {"early@example.org"}}, "ann", {});
  CHECK(learner().is_learned(kAnn, "early@example.org"));
  set_day(kMonday + days(2));
  REQUIRE(comes_true([&] { return other.forgets().name_either(kAnn, "any@example.org", {}); }));
  learner().learn({kAnn, {kJoe}}, "ann", learner().begin_message());
  CHECK(learner().is_learned(kAnn, kJoe));
  REQUIRE(comes_true([&] { return other.find(kAnn, kJoe).has_value(); }));
}

TEST_CASE_METHOD(Fixture, "a removed person is not learned again by a use that was not written yet") {
  REQUIRE(is_ready());
  learner().learn({kAnn, {kJoe}}, "ann", learner().begin_message());
  REQUIRE(is_written(1));
  LearnedFile other(path(), LearnedFile::Access::write);
  set_day(kMonday + days(1));
  CHECK(other.forget(canonicalize_line(kJoe), kMonday + days(1)) == 1);
  learner().renew(kAnn, kJoe);
  CHECK(forgets(kAnn, kJoe));
  CHECK(other.count() == 0);
}

TEST_CASE("a pair expires after the configured time since its last use") {
  Fixture at({.keep = days(10)});
  REQUIRE(at.is_ready());
  at.learner().learn({kAnn, {kJoe, "zoe@example.org"}}, "ann", at.learner().begin_message());
  REQUIRE(at.is_written(2));
  at.set_day(kMonday + days(9));
  CHECK(at.learner().is_learned(kAnn, kJoe));
  at.learner().renew(kAnn, kJoe);
  at.learner().renew(kAnn, "unknown@example.org");
  CHECK_FALSE(at.learner().is_learned(kAnn, "unknown@example.org"));
  REQUIRE(comes_true([&] { return at.learner().status().renewed == 1; }));
  at.set_day(kMonday + days(10));
  CHECK(at.learner().is_learned(kAnn, kJoe));
  CHECK_FALSE(at.learner().is_learned(kAnn, "zoe@example.org"));
  at.learner().renew(kAnn, "zoe@example.org");  // too late
  CHECK_FALSE(at.learner().is_learned(kAnn, "zoe@example.org"));
  // It also goes from memory and file.
  CHECK(comes_true([&] { return at.learner().status().pairs == 1; }));
  CHECK(LearnedFile(at.path(), LearnedFile::Access::read).count() == 1);
  at.set_day(kMonday + days(19));
  CHECK_FALSE(at.learner().is_learned(kAnn, kJoe));
}

TEST_CASE("a login adds at most its hourly number of pairs, and the log says so once") {
  Fixture at({.per_hour = 2});
  REQUIRE(at.is_ready());
  at.learner().learn({kAnn, {"a@example.org", "b@example.org", "c@example.org"}}, "ann the user",
                     at.learner().begin_message());
  CHECK(at.learner().is_learned(kAnn, "b@example.org"));
  CHECK_FALSE(at.learner().is_learned(kAnn, "c@example.org"));
  at.learner().learn({kAnn, {"d@example.org"}}, "ann the user", at.learner().begin_message());
  // Whom the user has written to before counts at no rate, and another login has its own.
  at.learner().learn({kAnn, {"a@example.org"}}, "ann the user", at.learner().begin_message());
  at.learner().learn({kBob, {"a@example.org"}}, "bob", at.learner().begin_message());
  CHECK(at.learner().is_learned(kBob, "a@example.org"));
  CHECK(at.learner().status().over_rate == 2);
  // Without a login, as of an exempt network, each user has a rate.
  for (const char* const user : {"eve@ours.example", "pat@ours.example"}) {
    at.learner().learn({user, {"a@example.org", "b@example.org"}}, "", at.learner().begin_message());
    CHECK(at.learner().is_learned(user, "b@example.org"));
  }
  at.set_day(kMonday + days(1));  // on another day neither
  at.learner().learn({kAnn, {"a@example.org"}}, "ann the user", at.learner().begin_message());
  CHECK(at.learner().status().over_rate == 2);
  at.end();
  const std::string log = at.log();
  const std::string said = "login=ann\\x20the\\x20user has had 2 new entries";
  CHECK(log.find(said) != std::string::npos);
  CHECK(log.find(said) == log.rfind(said));
}

TEST_CASE("a client without a login adds its hourly number of pairs, and each message that it exceeds is logged") {
  Fixture at({.per_hour = 3, .exempt_per_hour = 4});
  REQUIRE(at.is_ready());
  const auto write = [&](const std::string& user, std::vector<std::string> names, std::string_view client,
                         std::string_view queue_id) {
    for (std::string& name : names) name += "@example.org";
    at.learner().learn({user, std::move(names), parse_ip_address(client)}, "", at.learner().begin_message(), queue_id);
  };
  write(kAnn, {"a", "b"}, "192.0.2.7", "Q1");
  write(kBob, {"a", "b", "c"}, "192.0.2.7", "Q2");
  CHECK(at.learner().is_learned(kBob, "b@example.org"));
  CHECK_FALSE(at.learner().is_learned(kBob, "c@example.org"));
  write(kBob, {"c", "d"}, "192.0.2.7", "Q3");
  write(kAnn, {"a"}, "192.0.2.7", "Q4");  // is known already
  CHECK(at.learner().status().over_exempt_rate == 3);
  CHECK(at.learner().status().over_rate == 0);
  // Another client has its own number, and the user's one holds as well: of the logins of that user nothing is taken.
  write(kAnn, {"c", "d"}, "192.0.2.8", "Q5");
  CHECK(at.learner().is_learned(kAnn, "c@example.org"));
  CHECK_FALSE(at.learner().is_learned(kAnn, "d@example.org"));
  CHECK(at.learner().status().over_rate == 1);
  at.learner().learn({kAnn, {"d@example.org"}}, kAnn, at.learner().begin_message());
  CHECK(at.learner().is_learned(kAnn, "d@example.org"));
  // An IPv6 network of 64 bits is one client.
  write("eve@ours.example", {"a", "b", "c"}, "2001:db8::1", "Q6");
  write("pat@ours.example", {"a", "b"}, "2001:db8:0:0:ffff::2", "Q7");
  write("zoe@ours.example", {"a"}, "2001:db8:0:1::1", "Q8");
  CHECK(at.learner().is_learned("pat@ours.example", "a@example.org"));
  CHECK_FALSE(at.learner().is_learned("pat@ours.example", "b@example.org"));
  CHECK(at.learner().is_learned("zoe@ours.example", "a@example.org"));
  at.end();
  const std::string log = at.log();
  const auto has = [&](const std::string& text) { return log.find(text) != std::string::npos; };
  CHECK(has("learning: queue_id=Q2 client=192.0.2.7 has had 4 new entries learned within an hour (learn-exempt-rate)"));
  CHECK(has("learning: queue_id=Q3 client=192.0.2.7 not_learned=2 (learn-exempt-rate)\n"));
  CHECK(has("learning: queue_id=Q5 login=ann@ours.example has had 3 new entries learned within an hour (learn-rate)"));
  CHECK(has("queue_id=Q7 client=2001:db8::ffff:0:0:2 has had 4 "));
  // With its field: the name of a temporary folder may have the same letters.
  for (const char* const id : {"Q1", "Q4", "Q6", "Q8"}) CHECK_FALSE(has(std::string("queue_id=") + id + ' '));
}

TEST_CASE_METHOD(Fixture, "with a damaged file nothing is learned, until a good file can be made") {
  end();
  for (const char* const end : {"", "-wal", "-shm"}) unlink((path() + end).c_str());
  std::ofstream(path()) << std::string(5000, 'x');
  begin();
  REQUIRE(comes_true([&] { return !learner().status().fault.empty(); }));
  CHECK(learner().status().fault.find("damaged: move it away") != std::string::npos);
  CHECK_FALSE(learner().status().is_ready);
  CHECK(comes_true([&] { return changes() == 1; }));
  LearnRules none = rules();
  none.path.clear();
  learner().set_rules(none);
  CHECK(comes_true([&] { return learner().status().fault.empty(); }));  // nothing is wrong with what is off
  learner().set_rules(rules());
  REQUIRE(comes_true([&] { return !learner().status().fault.empty(); }));
  CHECK(comes_true([&] { return changes() == 2; }));
  learner().learn({kAnn, {kJoe}}, "ann", learner().begin_message());
  CHECK_FALSE(learner().is_learned(kAnn, kJoe));
  CHECK(learner().status().not_stored == 1);
  REQUIRE(rename(path().c_str(), (path() + ".bad").c_str()) == 0);
  REQUIRE(is_ready());
  CHECK(learner().status().fault.empty());
  CHECK(comes_true([&] { return changes() == 3; }));
  learner().learn({kAnn, {kJoe}}, "ann", learner().begin_message());
  CHECK(learner().is_learned(kAnn, kJoe));
  end();
  const std::string text = log();
  const std::size_t told = text.find("nothing is learned until");
  REQUIRE(told != std::string::npos);
  // Once for each time that it was turned on.
  CHECK(text.find("nothing is learned until", text.find("nothing is learned until", told + 1) + 1) ==
        std::string::npos);
  CHECK(text.find("learns again") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a reload can name another file, or none") {
  REQUIRE(is_ready());
  learner().learn({kAnn, {kJoe}}, "ann", learner().begin_message());
  REQUIRE(is_written(1));
  LearnRules changed = rules();
  changed.path = folder().file("other.db");
  learner().set_rules(changed);
  CHECK(forgets(kAnn, kJoe));
  learner().learn({kBob, {kJoe}}, "bob", learner().begin_message());
  changed.path.clear();
  learner().set_rules(changed);
  CHECK_FALSE(learner().is_on());
  CHECK(comes_true([&] { return learner().status().pairs == 0; }));
  CHECK(comes_true([&] { return !learner().status().is_ready; }));
  learner().learn({kAnn, {"zoe@example.org"}}, "ann", learner().begin_message());
  CHECK(learner().status().pairs == 0);
  learner().set_rules(rules());
  CHECK(comes_true([&] { return learner().is_learned(kAnn, kJoe); }));
  CHECK_FALSE(learner().is_learned(kAnn, "zoe@example.org"));
}

TEST_CASE("pairs that are learned before the file is read are in memory and file afterwards") {
  Fixture at({.per_hour = 10'000});
  at.end();
  const auto log = std::make_shared<spdlog::logger>("test");
  Learner learner(at.rules(), log, 7, [] { return kMonday; });
  learner.learn({kAnn, {kJoe}}, "ann", learner.begin_message());
  Lesson many = {kBob, {}};  // more than are written at once
  for (int i = 0; i < 1'500; ++i) many.correspondents.push_back("c" + std::to_string(i) + "@example.org");
  learner.learn(many, "bob", learner.begin_message());
  learner.start();
  REQUIRE(comes_true([&] { return learner.status().learned == 1'501; }));
  CHECK(learner.is_learned(kAnn, kJoe));
  CHECK(learner.is_learned(kBob, "c1499@example.org"));
  CHECK(LearnedFile(at.path(), LearnedFile::Access::read).count() == 1'501);
}

TEST_CASE("the pairs that wait for a file are bounded, and go to no other file") {
  Fixture at({.per_hour = 1'000'000});
  at.end();
  Learner learner(at.rules(), std::make_shared<spdlog::logger>("test"), 7, [] { return kMonday; });
  Lesson many = {kAnn, {}};
  for (int i = 0; i < 10'001; ++i) many.correspondents.push_back("c" + std::to_string(i) + "@example.org");
  learner.learn(many, "ann", learner.begin_message());
  CHECK(learner.status().no_room == 1);
  CHECK(learner.is_learned(kAnn, "c9999@example.org"));
  CHECK_FALSE(learner.is_learned(kAnn, "c10000@example.org"));
  LearnRules rules = at.rules();
  rules.path.clear();
  learner.set_rules(rules);
  CHECK_FALSE(learner.is_learned(kAnn, kJoe));
  CHECK_FALSE(learner.is_learned(kAnn, "c1@example.org"));
  rules.path = at.folder().file("other.db");
  learner.set_rules(rules);
  learner.start();
  REQUIRE(comes_true([&] { return learner.status().is_ready; }));
  learner.learn({kBob, {kJoe}}, "bob", learner.begin_message());
  REQUIRE(comes_true([&] { return learner.status().learned == 1; }));
  CHECK(LearnedFile(rules.path, LearnedFile::Access::read).count() == 1);
  CHECK_FALSE(learner.is_learned(kAnn, "c1@example.org"));
}

TEST_CASE("very many expired pairs are removed in steps, to the last") {
  Fixture at({.keep = days(10)});
  at.end();
  {
    std::vector<LearnedFile::Contact> old;
    for (int i = 0; i < 1'001; ++i) old.push_back({kAnn, "c" + std::to_string(i) + "@example.org"});
    LearnedFile(at.path(), LearnedFile::Access::write).record(old, kMonday - days(20));
  }
  at.begin();
  CHECK(comes_true([&] { return LearnedFile(at.path(), LearnedFile::Access::read).count() == 0; }));
  CHECK(comes_true([&] { return at.learner().status().pairs == 0; }));
}

TEST_CASE_METHOD(Fixture, "pairs learned just before another file is named are written to the earlier file") {
  LearnRules other = rules();
  other.path = folder().file("other.db");
  REQUIRE(is_ready());
  // Most of the times the learner's thread hears of both at once.
  for (int i = 0; i < 5; ++i) {
    const std::string sender = "c" + std::to_string(i) + "@example.org";
    learner().learn({kAnn, {sender}}, "ann", learner().begin_message());
    learner().set_rules(other);
    REQUIRE(forgets(kAnn, sender));
    learner().set_rules(rules());
    REQUIRE(comes_true([&] { return learner().is_learned(kAnn, sender); }));
    REQUIRE(is_ready());
  }
}

TEST_CASE("two learners on one file both have the pairs of either") {
  Fixture one;
  REQUIRE(one.is_ready());
  std::ostringstream text;
  const auto log = std::make_shared<spdlog::logger>("other", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  Learner other(one.rules(), log, 8, [] { return kMonday; });
  other.start();
  REQUIRE(comes_true([&] { return other.status().is_ready; }));
  std::set<std::pair<std::string, std::string>> want;
  std::minstd_rand random(5);
  for (int i = 0; i < 400; ++i) {
    const std::string user = "u" + std::to_string(random() % 20) + "@ours.example";
    const std::string sender = "c" + std::to_string(random() % 60) + "@example.org";
    want.emplace(user, sender);
    (i % 2 == 0 ? one.learner() : other)
        .learn({user, {sender}}, "login" + std::to_string(i / 50), one.learner().begin_message());
  }
  for (Learner* const learner : {&one.learner(), &other}) {
    CHECK(comes_true([&] {
      return std::ranges::all_of(want, [&](const auto& pair) { return learner->is_learned(pair.first, pair.second); });
    }));
    CHECK(learner->status().pairs == want.size());
  }
}

}  // namespace
}  // namespace bloomgate
