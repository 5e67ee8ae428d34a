#include "filter/contacts/forgotten_people.hpp"

#include <fstream>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using std::chrono::days;

constexpr Day kMonday{days(20'780)};

ForgottenPeople read_back(const ForgottenPeople& people) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("people");
  std::ofstream(path) << people.text();
  return ForgottenPeople::read(path);
}

TEST_CASE("a person is forgotten up to a day, with all tags, and so is all of a domain") {
  const Day last = last_day_at(std::chrono::system_clock::now());
  ForgottenPeople made;
  CHECK(made.empty());
  CHECK_FALSE(made.have("ann@ours.example", kMonday));
  made.add(canonicalize_line("Ann@ours.example"), kMonday);
  made.add(canonicalize_line("@gone.example"), kMonday);
  made.add(canonicalize_line("@.tree.example"), kMonday);
  made.add(canonicalize_line("ann@ours.example"), kMonday - days(9));  // an earlier day changes nothing
  CHECK(made.text().find("ann") == std::string::npos);
  const ForgottenPeople people = read_back(made);
  CHECK(people.text() == made.text());
  std::string deep = std::string(64, 'x') + "@";
  for (int label = 0; label < 110; ++label) deep += "a.";
  for (const std::string& address :
       {std::string("ann@ours.example"), std::string("ann+tag@ours.example"), std::string("x@gone.example"),
        std::string("x@a.b.tree.example"), deep + "tree.example"}) {
    CAPTURE(address);
    CHECK(people.have(address, kMonday));
    CHECK(people.have(address, kMonday - days(3'000)));
    CHECK(people.have(address, std::nullopt));
    CHECK_FALSE(people.have(address, kMonday + days(1)));
  }
  for (const std::string& address :
       {std::string("bob@ours.example"), std::string("x@sub.gone.example"), std::string("annex@ours.example"),
        std::string("list:ann.ours.example"), std::string("ann"), "x@" + std::string(5'000, 'a'),
        "@" + std::string(5'000, '.')}) {
    CAPTURE(address.substr(0, 100));
    CHECK_FALSE(people.have(address, kMonday));
    CHECK_FALSE(people.have(address, std::nullopt));
  }
  // Anybody can write a day of the future into a message.
  CHECK_FALSE(people.have("ann@ours.example", last));
  CHECK(people.have("ann@ours.example", last + days(2)));
  made.add(canonicalize_line("ann@ours.example"), kMonday + days(9));
  CHECK(made.have("ann@ours.example", kMonday + days(9)));
}

TEST_CASE("two files have different hashes of one person") {
  ForgottenPeople one;
  ForgottenPeople other;
  one.add(canonicalize_line("ann@ours.example"), kMonday);
  other.add(canonicalize_line("ann@ours.example"), kMonday);
  CHECK(one.text() != other.text());
  CHECK(one.text().substr(one.text().find('\n')) != other.text().substr(other.text().find('\n')));
}

TEST_CASE("a file that is not as it was written is refused, and its line is named") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("people");
  CHECK(test::error_code_of([&] { ForgottenPeople::read(path); }) == ErrorCode::cannot_open);
  const std::string first = "bloomgate-forgotten 1 00000000000000ff\n";
  const std::string line = "2026-11-27 00000000000000ff\n";
  for (const std::string& text :
       {std::string(), std::string("x\n"), std::string("bloomgate-forgotten 1 ff\n"),
        std::string("bloomgate-forgotten 2 00000000000000ff\n"), first + "x\n", first + "2026-02-30 00000000000000ff\n",
        first + "2026-11-27 0ff\n", first + line + line, first + line.substr(0, line.size() - 1), first + "\n"}) {
    CAPTURE(text);
    std::ofstream(path, std::ios::trunc) << text;
    const BloomgateError error = test::error_of([&] { ForgottenPeople::read(path); });
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(std::string(error.what()).find(text == first + "x\n" ? ": line 2 is not" : ": line ") != std::string::npos);
  }
  std::ofstream(path, std::ios::trunc) << first << line;
  CHECK_FALSE(ForgottenPeople::read(path).empty());
}

TEST_CASE("the last day of a time is that of the zone in which it comes first") {
  const std::chrono::system_clock::time_point noon = kMonday + std::chrono::hours(12);
  CHECK(last_day_at(noon) == kMonday + days(1));
  CHECK(last_day_at(noon - std::chrono::hours(3)) == kMonday);
}

}  // namespace
}  // namespace bloomgate
