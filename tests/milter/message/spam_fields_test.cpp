#include "milter/message/spam_fields.hpp"

#include <catch2/catch.hpp>

namespace bloomgate {
namespace {

TEST_CASE("every field whose name begins with X-Spam, in any case, claims to be a checker's result") {
  for (const char* const name : {"X-Spam", "X-Spam-Status", "x-spam-flag", "X-SPAM-Score", "X-Spamd-Result",
                                 "X-Spam-Flag ", "X-Spam\t", "X-Spambayes"}) {
    INFO(name);
    CHECK(SpamFields::is_one(name));
  }
  for (const char* const name :
       {"", "X", "X-Spa", "X-Spa ", " X-Spam", "Spam", "X-Bloomgate", "X-Not-Spam", "X-Virus"}) {
    INFO(name);
    CHECK_FALSE(SpamFields::is_one(name));
  }
}

TEST_CASE("fields are counted by name, whatever its case and the space behind it") {
  SpamFields fields;
  for (const char* const name : {"X-Spam-Flag", "X-Spam-Status ", "x-spam-flag", "X-SPAM-FLAG\t", "X-Spam"}) {
    fields.add(name);
  }
  REQUIRE(fields.names().size() == 3);
  CHECK(fields.names()[0].name == "X-Spam-Flag");
  CHECK(fields.names()[0].count == 3);
  CHECK(fields.names()[1].name == "X-Spam-Status");
  CHECK(fields.names()[1].count == 1);
  CHECK(fields.names()[2].count == 1);
  CHECK_FALSE(fields.too_many());
  fields.clear();
  CHECK(fields.names().empty());
}

TEST_CASE("many fields of few names are counted, and too many names are told from few") {
  SpamFields fields;
  for (int i = 0; i < 20'000; ++i) fields.add("X-Spam-" + std::to_string(i % 200));
  CHECK(fields.names().size() == 200);
  CHECK(fields.names()[0].count == 100);
  CHECK_FALSE(fields.too_many());
  fields.add("X-Spam-more");
  CHECK(fields.too_many());
  CHECK(fields.names().size() == 200);
  fields.add("X-Spam-1");
  CHECK(fields.too_many());
  fields.clear();
  CHECK_FALSE(fields.too_many());
  fields.add("X-Spam-" + std::string(2000, 'x'));
  CHECK(fields.too_many());
}

}  // namespace
}  // namespace bloomgate
