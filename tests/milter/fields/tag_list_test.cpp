#include "milter/fields/tag_list.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a list of tags is read with the white space that it may have") {
  const TagList list(" v=1; a = rsa-sha256;\r\n\tb =\r\n x y ;c=;");
  CHECK(list.is_valid());
  CHECK(list.tags().size() == 4);
  CHECK(list.find("v") == "1");
  CHECK(list.find("a") == "rsa-sha256");
  CHECK(list.find("b") == "x y");
  CHECK(list.find("c") == "");
  CHECK_FALSE(list.find("d"));
  CHECK(without_any_space(" x\r\n\ty ") == "xy");
  CHECK(TagList("").is_valid());
  CHECK(TagList("d=m\u00fcller.example").find("d") == "m\u00fcller.example");  // RFC 8616
}

TEST_CASE("a list with a tag that occurs twice, or with anything but tags, is invalid") {
  for (const std::string text :
       {"p=x; p=y", "p=x; P=y", "v=1;; a=x", ";v=1", "v", "v=1; a", "=1", "v v=1", "1v=1", "v=\x01"}) {
    INFO(text);
    CHECK_FALSE(TagList(text).is_valid());
  }
  CHECK_FALSE(TagList("p=x; p=y").find("p"));
  CHECK(TagList("p=x; p=y; v=1").find("v") == "1");
}

TEST_CASE("a list of very many tags is invalid, and no more of them are kept than are compared") {
  std::string text;
  for (std::size_t i = 0; i < TagList::kMaxTags; ++i) text += "t" + std::to_string(i) + "=v;";
  CHECK(TagList(text).is_valid());
  text += "last=v";
  const TagList list(text);
  CHECK_FALSE(list.is_valid());
  CHECK(list.tags().size() == TagList::kMaxTags);
  CHECK(list.find("t0") == "v");
  CHECK_FALSE(list.find("last"));
}

}  // namespace
}  // namespace bloomgate
