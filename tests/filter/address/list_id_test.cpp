#include "filter/address/list_id.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::string list_id_of(std::string_view value) {
  return read_list_id(value).value_or("-");
}

TEST_CASE("a List-Id is the host in the angle brackets, in lower case, with any words before it") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"<announce.lists.example.org>", "announce.lists.example.org"},
      {" <Announce.Lists.EXAMPLE.org> ", "announce.lists.example.org"},
      {"News for everybody <announce.lists.example.org>", "announce.lists.example.org"},
      {"\"News, \\\"really\\\"\" <announce.lists.example.org>", "announce.lists.example.org"},
      {"=?utf-8?q?N=C3=A9ws?= <announce.lists.example.org>", "announce.lists.example.org"},
      {"Forum | Category: [odd] @home; <category.forum.example.org>", "category.forum.example.org"},
      {"a long name\n\tthat is folded\r\n <announce.lists.example.org>", "announce.lists.example.org"},
      {"(a comment) News <announce.lists.example.org>", "announce.lists.example.org"},
      {"Caf\xc3\xa9 <announce.lists.example.org>", "announce.lists.example.org"},
      {"<list.0123456789abcdef.localhost>", "list.0123456789abcdef.localhost"},
      {"<xn--mller-kva.example>", "xn--mller-kva.example"},
      {"<dev_team.lists.example.org.>", "dev_team.lists.example.org"},
  };
  for (const auto& [value, want] : cases) {
    INFO(value);
    CHECK(list_id_of(value) == want);
  }
}

TEST_CASE("a List-Id that two programs could read differently names no list") {
  const std::string_view cases[] = {
      "",
      "announce.lists.example.org",
      "<>",
      "<lists>",
      "<announce.lists.example.org",
      "announce.lists.example.org>",
      "<other.example.org> <announce.lists.example.org>",
      "<announce.lists.example.org> <other.example.org>",
      "(<other.example.org>) <announce.lists.example.org>",
      "(<announce.lists.example.org>)",
      "\"<announce.lists.example.org>\"",
      "\"<other.example.org>\" <announce.lists.example.org>",
      "<announce.lists.example.org> (by hand)",
      "<announce.lists.example.org> words",
      "<announce.lists.example.org(x)>",
      "<announce .lists.example.org>",
      "<\n announce.lists.example.org>",
      "<announce.lists.\n example.org>",
      "<announce@lists.example.org>",
      "<announce..lists.example.org>",
      "<\xef\xbd\x81nnounce.lists.example.org>",
      "<m\xc3\xbcller.example>",
      "a \"quote that stays open <announce.lists.example.org>",
      "a (comment that stays open <announce.lists.example.org>",
      "back\\slash <announce.lists.example.org>",
      "line\nend <announce.lists.example.org>",
      "nul\x01 <announce.lists.example.org>",
      "bad \xff byte <announce.lists.example.org>",
  };
  for (const std::string_view value : cases) {
    INFO(value);
    CHECK(list_id_of(value) == "-");
  }
  CHECK(list_id_of("<" + std::string(300, 'a') + ".example>") == "-");
}

TEST_CASE("the host of a list is the part after its first label") {
  CHECK(list_host("announce.lists.example.org") == "lists.example.org");
  CHECK(list_host("a.b") == "b");
  CHECK(list_host("localhost").empty());
}

}  // namespace
}  // namespace bloomgate
