#include "milter/learning/heard_pairs.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/shared_learning.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using std::chrono::days;

constexpr LearnedDay kMonday{days(20'780)};
constexpr HeardPairs::Day kMondaysNumber = 20'780;
const std::string kAnn = "ann@ours.example";
const std::string kJoe = "joe@example.org";

void take(HeardPairs& heard, test::SharingHost& host) {
  heard.take(host.shared(), host.share().manifest);
}

TEST_CASE("a pair that a host shares is found with its day, and no other pair is") {
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
  CHECK(heard.host() == host.host());
  heard.clear_pairs();
  CHECK_FALSE(heard.find(kAnn, kJoe));
}

TEST_CASE("only new files are read, and removed pairs are no longer found") {
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

TEST_CASE(
    "a person whom another host has forgotten is no longer found, on either side, with all of the person's entries") {
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

// It knows the key by which pairs are hashed, and so can choose hashes, but not where they are in memory.
TEST_CASE("hashes that a host has chosen do not slow down the loading of its pairs") {
  test::SharingHost host("submit1", kMonday);
  std::vector<SharedRecord> records;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    records.push_back({.kind = SharedKind::pair, .hash = i << 8 | std::uint64_t{7} << 40, .day = kMondaysNumber});
  }
  host.share();
  const SharedHeader header = {.source = 1, .key_check = test::learn_key().check(), .day = 1, .is_whole = true};
  const std::string text = shared_text(header, records);
  host.replace_by(text);
  HeardPairs heard(test::learn_key());
  heard.take(host.shared(), *read_manifest(host.shared()));  // hours, if all were in one place
  CHECK(heard.size() == records.size());
}

TEST_CASE("people and applied forgets that a host shares are bounded") {
  test::SharingHost host("submit1", kMonday);
  std::vector<SharedRecord> records;
  for (std::uint64_t i = 1; i <= HeardPairs::kMostPeople + 10; ++i) {
    records.push_back({.kind = SharedKind::person, .hash = i, .second = i, .day = kMondaysNumber});
  }
  for (std::uint64_t i = 1; i <= HeardPairs::kMostApplied + 10; ++i) {
    records.push_back({.kind = SharedKind::applied, .hash = i, .second = i});
  }
  host.share();
  const SharedHeader header = {.source = 1, .key_check = test::learn_key().check(), .day = 1, .is_whole = true};
  const std::string text = shared_text(header, records);
  host.replace_by(text);
  HeardPairs heard(test::learn_key());
  heard.take(host.shared(), *read_manifest(host.shared()));
  CHECK(heard.people().size() == HeardPairs::kMostPeople);
  CHECK(heard.people().rbegin()->first == static_cast<std::int64_t>(HeardPairs::kMostPeople) + 10);
  CHECK(heard.applied().size() == HeardPairs::kMostApplied);
}

TEST_CASE("invalid files are refused, and known pairs stay") {
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
    const SignedManifest manifest = host.share().manifest;
    HeardPairs fresh(test::learn_key());
    const std::string path = host.shared() + "/" + manifest.manifest.files.front().name;
    fs::resize_file(path, fs::file_size(path) - 1);
    CHECK_THAT(test::error_of([&] { fresh.take(host.shared(), manifest); }).what(), Contains("bloomgate pull"));
    CHECK(fresh.source() == 0);
  }
  SECTION("files of two hosts") {
    test::SharingHost other("submit2", kMonday);
    other.write(kAnn, "zoe@example.org");
    SignedManifest mixed = host.share().manifest;
    PublishedFile second = other.share().manifest.manifest.files.front();
    fs::copy(other.shared() + "/" + second.name, host.shared() + "/0000000000000099.pairs");
    second.name = "0000000000000099.pairs";
    mixed.manifest.files.push_back(second);
    CHECK_THAT(test::error_of([&] { heard.take(host.shared(), mixed); }).what(), Contains("does not go on"));
    CHECK_FALSE(heard.find(kAnn, "zoe@example.org"));
  }
  CHECK(heard.find(kAnn, kJoe));
}

}  // namespace
}  // namespace bloomgate
