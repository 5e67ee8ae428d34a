#include "milter/message/kept_fields.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Values = std::vector<std::string>;

Values values_of(KeptFields& fields) {
  const auto views = fields.views();
  return {views.begin(), views.end()};
}

TEST_CASE("fields are kept in their order, empty ones too, until they are cleared") {
  KeptFields fields({.fields = 10, .bytes_each = 100, .bytes = 1000});
  CHECK(values_of(fields).empty());
  for (const char* const value : {"one", "", "three", ""}) CHECK(fields.add(value));
  CHECK(fields.copies() == Values{"one", "", "three", ""});
  CHECK(values_of(fields) == Values{"one", "", "three", ""});
  CHECK(values_of(fields) == Values{"one", "", "three", ""});
  fields.clear();
  CHECK(values_of(fields).empty());
  CHECK(fields.add("next"));
  CHECK(values_of(fields) == Values{"next"});
}

TEST_CASE("number, length and sum of kept fields are bounded") {
  KeptFields fields({.fields = 3, .bytes_each = 4, .bytes = 9});
  CHECK(fields.add("abcdefgh"));
  CHECK(fields.add("ijkl"));
  CHECK_FALSE(fields.add("mn"));
  CHECK(fields.add("m"));
  CHECK(values_of(fields) == Values{"abcd", "ijkl", "m"});
  CHECK_FALSE(fields.add(""));
  CHECK(values_of(fields).size() == 3);
}

TEST_CASE("a message of large fields leaves no large memory behind, and the next one is kept as well") {
  KeptFields fields({.fields = 10, .bytes_each = 100'000, .bytes = 1'000'000});
  for (int i = 0; i < 10; ++i) CHECK(fields.add(std::string(100'000, 'x')));
  fields.clear();
  CHECK(fields.add("small"));
  CHECK(values_of(fields) == Values{"small"});
}

}  // namespace
}  // namespace bloomgate
