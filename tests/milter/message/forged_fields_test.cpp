#include "milter/message/forged_fields.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Removal = ForgedFields::Removal;

constexpr std::size_t kMax = ForgedFields::kMaxRemovals;

ForgedFields forged_fields(std::size_t marks, std::size_t results, std::size_t others = 0) {
  ForgedFields fields;
  for (std::size_t i = 0; i < marks + results + others; ++i) fields.add_field();
  for (std::size_t i = 0; i < marks; ++i) fields.add_mark();
  for (std::size_t i = 0; i < results; ++i) fields.add_result("X-Spam-" + std::to_string(i));
  return fields;
}

TEST_CASE("every field whose name begins with X-Spam, in any case, claims to be a checker's result") {
  for (const char* const name : {"X-Spam", "X-Spam-Status", "x-spam-flag", "X-SPAM-Score", "X-Spamd-Result",
                                 "X-Spam-Flag ", "X-Spam\t", "X-Spambayes"}) {
    INFO(name);
    CHECK(ForgedFields::is_result(name));
  }
  for (const char* const name :
       {"", "X", "X-Spa", "X-Spa ", " X-Spam", "Spam", "X-Bloomgate", "X-Not-Spam", "X-Virus"}) {
    INFO(name);
    CHECK_FALSE(ForgedFields::is_result(name));
  }
}

TEST_CASE("results are counted by name, whatever its case and the space after it") {
  ForgedFields fields;
  for (const char* const name : {"X-Spam-Flag", "X-Spam-Status ", "x-spam-flag", "X-SPAM-FLAG\t", "X-Spam"}) {
    fields.add_result(name);
  }
  REQUIRE(fields.results().size() == 3);
  CHECK(fields.results()[0].name == "X-Spam-Flag");
  CHECK(fields.results()[0].count == 3);
  CHECK(fields.results()[1].name == "X-Spam-Status");
  CHECK(fields.results()[1].count == 1);
  CHECK(fields.results()[2].count == 1);
  CHECK(fields.count(true) == 5);
  CHECK(fields.count(false) == 0);
  fields.clear();
  CHECK(fields.results().empty());
  CHECK(fields.count(true) == 0);
}

TEST_CASE("a hundred forged fields of all kinds together can be removed, and one more is too many") {
  for (const std::size_t marks : {std::size_t{0}, std::size_t{1}, kMax / 2, kMax}) {
    INFO(marks);
    CHECK(forged_fields(marks, kMax - marks).removal(true) == Removal::possible);
    CHECK(forged_fields(marks + 1, kMax - marks).removal(true) == Removal::too_many);
    CHECK(forged_fields(marks, kMax - marks + 1).removal(true) == Removal::too_many);
  }
}

TEST_CASE("results that stay in the message do not count") {
  CHECK(forged_fields(kMax, 5000).removal(false) == Removal::possible);
  CHECK(forged_fields(kMax + 1, 0).removal(false) == Removal::too_many);
}

TEST_CASE("forged fields among so many others that each is a long search are too many") {
  CHECK(forged_fields(kMax, 0, 10'000 - kMax).removal(true) == Removal::possible);
  CHECK(forged_fields(kMax, 0, 10'001 - kMax).removal(true) == Removal::too_many);
  CHECK(forged_fields(1, 0, 500'000).removal(true) == Removal::possible);
  CHECK(forged_fields(0, 2, 500'000).removal(true) == Removal::too_many);
  CHECK(forged_fields(0, 0, 2'000'000).removal(true) == Removal::possible);
}

TEST_CASE("at most as many names of results are kept as can be removed, and no long name") {
  ForgedFields fields = forged_fields(0, 100'000);
  CHECK(fields.results().size() == kMax);
  CHECK(fields.count(true) == 100'000);
  fields.clear();
  CHECK(fields.removal(true) == Removal::possible);
  fields.add_result("X-Spam-" + std::string(2000, 'x'));
  CHECK(fields.results().empty());
  CHECK(fields.removal(true) == Removal::too_many);
  CHECK(fields.removal(false) == Removal::possible);
}

TEST_CASE("a result with a name as long as a line of mail can be removed, and one with a longer name cannot") {
  const std::string start = "X-Spam-";
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{1001}}) {
    ForgedFields fields;
    fields.add_field();
    fields.add_result(start + std::string(bytes - start.size(), 'x'));
    CHECK(fields.removal(true) == (bytes == 1000 ? Removal::possible : Removal::too_many));
  }
}

TEST_CASE("cleared fields do not count for the next message") {
  ForgedFields fields = forged_fields(kMax, 1, ForgedFields::kMaxSearchSteps);
  fields.add_result("X-Spam-" + std::string(2000, 'x'));
  CHECK(fields.removal(true) == Removal::too_many);
  fields.clear();
  CHECK(fields.count(true) == 0);
  for (std::size_t i = 0; i < kMax; ++i) {
    fields.add_field();
    fields.add_mark();
  }
  CHECK(fields.removal(true) == Removal::possible);
}

}  // namespace
}  // namespace bloomgate
