#include "milter/deep_check/safe_text.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::string_view_literals;

TEST_CASE("a cleaned text has no line end, and only ASCII") {
  struct Case {
    std::string_view name, text, forbidden, ascii, utf8;
  };
  const Case cases[] = {
      {"plain text", "joe@example.org", "", "joe@example.org", "joe@example.org"},
      {"line breaks", "a\r\nB: c", "", "a??B: c", "a??B: c"},
      {"other controls", "a\0b\tc\x7f\x1b"sv, "", "a?b?c??", "a?b?c??"},
      {"UTF-8", "jo\u00e9", "", "jo??", "jo\u00e9"},
      {"what is forbidden", "a<b>(c)", "<>", "a?b?(c)", "a?b?(c)"},
      {"nothing", "", "x", "", ""},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(ascii_text(c.text, 100, c.forbidden) == c.ascii);
    CHECK(utf8_text(c.text, 100, c.forbidden) == c.utf8);
  }
}

TEST_CASE("a cleaned text is cut off at its limit") {
  CHECK(ascii_text("abcdef", 4) == "abcd");
  CHECK(utf8_text("abcdef", 4) == "abcd");
  CHECK(symbol_name(std::string(1000, 'x')) == std::string(100, 'x'));
}

TEST_CASE("the name of a test keeps only the characters of such names") {
  CHECK(symbol_name("BAYES_99") == "BAYES_99");
  CHECK(symbol_name("__X.y:z-1") == "__X.y:z-1");
  CHECK(symbol_name("A,B (C)\n") == "A?B??C??");
}

TEST_CASE("a client without a known name has an empty name") {
  CHECK(known_host_name("mail.example.org") == "mail.example.org");
  CHECK(known_host_name("unknown").empty());
  CHECK(known_host_name("[192.0.2.1]").empty());
  CHECK(known_host_name("").empty());
}

}  // namespace
}  // namespace bloomgate
