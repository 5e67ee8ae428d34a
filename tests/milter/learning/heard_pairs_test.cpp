#include "milter/learning/heard_pairs.hpp"

#include <filesystem>
#include <string>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/shared_learning.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using std::chrono::days;

constexpr LearnedDay kMonday{days(20'780)};
constexpr HeardPairs::Day kMondaysNumber = 20'780;
const std::string kAnn = "ann@ours.example";
const std::string kJoe = "joe@example.org";

void take(HeardPairs& heard, test::SharingHost& host) {
  heard.take(host.shared(), host.share().manifest.manifest);
}

TEST_CASE("what a host shares is known with its day, and no other pair is") {
  test::SharingHost host("submit1", kMonday);
  host.write(kAnn, kJoe);
  HeardPairs heard(test::learn_key());
  CHECK_FALSE(heard.find(kAnn, kJoe));
  take(heard, host);
  CHECK(heard.find(kAnn, kJoe) == kMondaysNumber);
  CHECK(heard.find_domain("example.org") == kMondaysNumber);
  CHECK_FALSE(heard.find("bob@ours.example", kJoe));
  CHECK_FALSE(heard.find(kJoe, kAnn));
  CHECK_FALSE(heard.find_domain("ours.example"));
  CHECK(heard.size() == 1);
  CHECK(heard.source() == host.file().source());
  heard.clear();
  CHECK_FALSE(heard.find(kAnn, kJoe));
}

TEST_CASE("only what is new is read, and what is gone is known no longer") {
  test::SharingHost host("submit1", kMonday);
  for (int i = 0; i < 100; ++i) host.write(kAnn, "x" + std::to_string(i) + "@example.org");
  HeardPairs heard(test::learn_key());
  take(heard, host);
  host.write(kAnn, kJoe);
  take(heard, host);
  CHECK(heard.find(kAnn, kJoe) == kMondaysNumber);
  CHECK(heard.size() == 101);
  host.forget("x7@example.org");
  take(heard, host);
  CHECK_FALSE(heard.find(kAnn, "x7@example.org"));
  CHECK(heard.find(kAnn, "x8@example.org"));
  CHECK(heard.size() == 100);
  CHECK(heard.people().size() == 1);
  host.write(kAnn, "x7@example.org");
  take(heard, host);
  CHECK(heard.find(kAnn, "x7@example.org"));
}

TEST_CASE("whom another host has forgotten is known no longer, on either side and with all that is of the person") {
  test::SharingHost host("submit1", kMonday);
  host.write(kAnn, kJoe);
  host.write(kAnn, "zoe+tag@mail.example.org");
  host.write("bob@ours.example", "pat@else.example");
  HeardPairs heard(test::learn_key());
  take(heard, host);
  const auto pending = [&](const char* person) {
    heard.set_pending({test::learn_key().hash_of_person(Forgets::hash_of(canonicalize_line(person)))});
  };
  pending("joe@example.org");
  CHECK_FALSE(heard.find(kAnn, kJoe));
  CHECK(heard.find(kAnn, "zoe+tag@mail.example.org"));
  pending("zoe@mail.example.org");
  CHECK_FALSE(heard.find(kAnn, "zoe+tag@mail.example.org"));
  pending("@.example.org");
  CHECK_FALSE(heard.find(kAnn, kJoe));
  CHECK_FALSE(heard.find(kAnn, "zoe+tag@mail.example.org"));
  CHECK(heard.find("bob@ours.example", "pat@else.example"));
  pending("bob@ours.example");
  CHECK_FALSE(heard.find("bob@ours.example", "pat@else.example"));
  heard.set_pending({});
  CHECK(heard.find(kAnn, kJoe));
}

TEST_CASE("what does not fit is refused, and what was known stays") {
  test::SharingHost host("submit1", kMonday);
  host.write(kAnn, kJoe);
  HeardPairs heard(test::learn_key());
  take(heard, host);
  SECTION("another key") {
    test::SharingHost other("submit1", kMonday, test::learn_key(2));
    other.write(kAnn, "zoe@example.org");
    CHECK_THAT(test::error_of([&] { take(heard, other); }).what(), Contains("another key"));
  }
  SECTION("a file that was changed") {
    const Manifest manifest = host.share().manifest.manifest;
    HeardPairs fresh(test::learn_key());
    const std::string path = host.shared() + "/" + manifest.files.front().name;
    fs::resize_file(path, fs::file_size(path) - 1);
    CHECK_THAT(test::error_of([&] { fresh.take(host.shared(), manifest); }).what(), Contains("bloomgate pull"));
    CHECK(fresh.source() == 0);
  }
  SECTION("files of two hosts") {
    test::SharingHost other("submit2", kMonday);
    other.write(kAnn, "zoe@example.org");
    Manifest mixed = host.share().manifest.manifest;
    PublishedFile second = other.share().manifest.manifest.files.front();
    fs::copy(other.shared() + "/" + second.name, host.shared() + "/0000000000000099.pairs");
    second.name = "0000000000000099.pairs";
    mixed.files.push_back(second);
    CHECK_THAT(test::error_of([&] { heard.take(host.shared(), mixed); }).what(), Contains("does not go on"));
    CHECK_FALSE(heard.find(kAnn, "zoe@example.org"));
  }
  CHECK(heard.find(kAnn, kJoe));
}

}  // namespace
}  // namespace bloomgate
