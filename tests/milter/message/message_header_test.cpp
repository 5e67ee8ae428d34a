#include "milter/message/message_header.hpp"

#include <sstream>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Fields = std::vector<HeaderField>;

Fields fields_of(const std::string& text) {
  std::istringstream stream(text);
  return read_message_header(stream);
}

TEST_CASE("the fields of a message are read as a mail server hands them over") {
  struct Case {
    std::string_view name;
    std::string text;
    Fields want;
  };
  const Case cases[] = {
      {"usual", "From: a@b.example\nTo:c\n\nFrom: body\n", {{"From", " a@b.example"}, {"To", "c"}}},
      {"CR LF", "From: a@b.example\r\nTo: c\r\n\r\nX: y\r\n", {{"From", " a@b.example"}, {"To", " c"}}},
      {"folded", "Subject: one\n two\n\tthree\nTo: c\n", {{"Subject", " one\n two\n\tthree"}, {"To", " c"}}},
      {"space before the colon", "From \t: a\n", {{"From \t", " a"}}},
      {"mailbox file", "From a@b.example Sat Nov 21 10:00:00 2026\nTo: c\n", {{"To", " c"}}},
      {"such a line further down", "To: c\nFrom a@b.example Sat Nov 21 10:00:00 2026\nX: y\n", {{"To", " c"}}},
      {"a line that is no field ends it", "To: c\nno field\nX: y\n", {{"To", " c"}}},
      {"a space in the name", "To: c\nX Y: z\n", {{"To", " c"}}},
      {"a control character in the name", "To: c\nX\x7fY: z\n", {{"To", " c"}}},
      {"no name", ": c\n", {}},
      {"begins folded", " To: c\nX: y\n", {}},
      {"empty", "", {}},
      {"no body", "To:", {{"To", ""}}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(fields_of(c.text) == c.want);
  }
}

TEST_CASE("the body starts after the header") {
  std::istringstream stream("To: c\r\n\r\nHello.\r\n\r\nBye.\r\n");
  std::string body;
  CHECK(read_message_header(stream, &body) == Fields{{"To", " c"}});
  CHECK(body == "Hello.\r\n\r\nBye.\r\n");
}

TEST_CASE("a header without an end is read up to a limit") {
  const Fields fields = fields_of("To: c\nX: " + std::string(2 * kMaxMessageHeaderBytes, 'x') + "\nY: z\n");
  REQUIRE(fields.size() == 2);
  CHECK(fields.back().value.size() < kMaxMessageHeaderBytes);
}

}  // namespace
}  // namespace bloomgate
