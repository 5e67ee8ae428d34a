#include "filter/base/fixed_text.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a copy of a text is that text, and says whether it was too long") {
  FixedText<8> text;
  text.append("abc");
  FixedText<8> copy = text;
  CHECK(copy == text);
  CHECK_FALSE(copy.overflowed());
  copy.append("defghi");
  CHECK(copy.view() == "abcdefgh");
  CHECK(copy.overflowed());
  CHECK(text.view() == "abc");

  const FixedText<8>& itself = copy;
  copy = itself;
  CHECK(copy.view() == "abcdefgh");
  copy = text;
  CHECK(copy == text);
  CHECK_FALSE(copy.overflowed());
  copy.append('d');
  CHECK(copy.view() == "abcd");
  copy = {};
  CHECK(copy.view().empty());
}

}  // namespace
}  // namespace bloomgate
