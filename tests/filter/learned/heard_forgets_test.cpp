// What other hosts have forgotten, in the database of what is learned.
#include <string>
#include <vector>

#include "filter/learned/learned_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using Contact = LearnedFile::Contact;

constexpr LearnedDay kMonday{days(20'780)};
constexpr std::uint64_t kHost = 7;
const std::string kAnn = "ann@ours.example";
const std::string kJoe = "joe@example.org";

// As a key of hosts would do it.
std::uint64_t rehash(std::uint64_t person) {
  return person + 1;
}

std::uint64_t hash_of(const std::string& person) {
  return rehash(Forgets::hash_of(canonicalize_line(person)));
}

class Fixture {
 public:
  Fixture() { file.set_rehash(rehash); }

  std::uint64_t forget(const std::string& person, const LearnedFile::Heard& heard, LearnedDay day = kMonday) {
    const std::vector<std::uint64_t> people = {hash_of(person)};
    return file.forget_heard(
        kHost, heard, people, [&](const LearnedPair& pair) { return pair.correspondent == person; }, day);
  }
  LearnedFile::Recorded record(const std::string& correspondent, const std::optional<LearnedBegin>& began = {}) {
    return file.record(std::vector<Contact>{{kAnn, correspondent, false, began}}, kMonday);
  }

 private:
  TemporaryFolder folder_;

 public:
  LearnedFile file{folder_.file("learned.db"), LearnedFile::Access::create};
};

TEST_CASE_METHOD(Fixture, "each forget of another host is applied once, and those of another database of it anew") {
  record(kJoe);
  CHECK(forget(kJoe, {1, 5}) == 1);
  CHECK_FALSE(file.find(kAnn, kJoe));
  record(kJoe);
  CHECK(forget(kJoe, {1, 5}) == 0);
  CHECK(forget(kJoe, {1, 4}) == 0);
  CHECK(file.find(kAnn, kJoe));
  CHECK(forget(kJoe, {1, 6}) == 1);
  record(kJoe);
  CHECK(forget(kJoe, {2, 1}) == 1);
  CHECK(file.heard_forgets() == LearnedFile::HeardForgets{{kHost, {2, 1}}});
}

TEST_CASE_METHOD(Fixture, "a message that was under way teaches nothing of whom another host has forgotten") {
  const LearnedBegin began = {.forgets = file.forgets().count(), .time = boot_time()};
  forget(kJoe, {1, 1});
  CHECK(record(kJoe, began).forgotten == 1);
  CHECK(record("zoe@example.org", began).added == 1);
  CHECK(record(kJoe, LearnedBegin{.forgets = file.forgets().count(), .time = boot_time()}).added == 1);
  // Without the key it may be anybody.
  file.set_rehash({});
  CHECK(record("pat@example.org", began).forgotten == 1);
}

TEST_CASE_METHOD(Fixture, "what other hosts have forgotten is not shared again") {
  forget(kJoe, {1, 1});
  file.forget(canonicalize_line("zoe@example.org"), kMonday);
  const LearnedFile::News news = file.news_since({}, [](const LearnedPair&) {});
  REQUIRE(news.forgets.size() == 1);
  CHECK(news.forgets.front().number == 2);
  CHECK(news.changes.forgets == 2);
  CHECK(news.heard == LearnedFile::HeardForgets{{kHost, {1, 1}}});
}

TEST_CASE_METHOD(Fixture, "the hash of a person stays until it is shared, but no longer than pairs do") {
  const auto kept = [&] { return file.forgets().last().size(); };
  CHECK(file.shared_by() == 0);
  file.forget(canonicalize_line(kJoe), kMonday);
  file.drop_forgets(kMonday + days(1));
  CHECK(kept() == 0);
  file.set_shared(1, kHost);
  CHECK(file.shared_by() == kHost);
  file.forget(canonicalize_line(kJoe), kMonday);
  file.drop_forgets(kMonday + days(1));
  CHECK(kept() == 1);
  file.drop_forgets(kMonday + days(1), kMonday + days(1));
  CHECK(kept() == 0);
  file.forget(canonicalize_line(kJoe), kMonday);
  file.set_shared(3, kHost);
  file.drop_forgets(kMonday + days(1));
  CHECK(kept() == 0);
  CHECK(file.forgets().count() == 3);
}

TEST_CASE("the hash of a person is the same in every version, since files have it") {
  CHECK(Forgets::hash_of(canonicalize_line("Joe@example.org")) == 0xa230c76d8d4277fb);
}

TEST_CASE_METHOD(Fixture, "the number of a file is its own, and another one when it is renewed") {
  const std::uint64_t source = file.source();
  CHECK(source != 0);
  CHECK(file.source() == source);
  file.set_shared(0, kHost);
  file.renew_source();
  CHECK(file.source() != source);
}

}  // namespace
}  // namespace bloomgate::test
