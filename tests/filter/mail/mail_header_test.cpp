#include "filter/mail/mail_header.hpp"

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

TEST_CASE("a field has a name and a value, and ends before the next one") {
  struct Case {
    std::string_view header, field, name, value, rest;
  };
  const Case cases[] = {
      {"To: c\nX: y\n", "To: c", "To", " c", "X: y\n"},
      {"To \t:c\r\n d\r\nX: y", "To \t:c\r\n d", "To", "c\r\n d", "X: y"},
      {"To: c\r\n\td\r\n\r\n", "To: c\r\n\td", "To", " c\r\n\td", "\r\n"},
      {" c\nX: y", " c", " c", "", "X: y"},
      {"\r\nHello.", "", "", "", "Hello."},
      {"To:", "To:", "To", "", ""},
      {"", "", "", "", ""},
  };
  for (const Case& c : cases) {
    INFO(c.header);
    std::string_view rest = c.header;
    const std::string_view field = take_field(rest);
    CHECK(field == c.field);
    CHECK(split_field(field).name == c.name);
    CHECK(split_field(field).value == c.value);
    CHECK(rest == c.rest);
  }
}

TEST_CASE("a line starts a field or belongs to the one before") {
  CHECK(starts_field("From \t: a"));
  for (const char* line : {"", ":", ": c", "X Y: z", " To: c", "no field", "X\x7f: y"}) CHECK_FALSE(starts_field(line));
  const HeaderLine first = split_header_line("To \t:  c ");
  CHECK((first.name == "To" && first.value == "c" && !first.goes_on));
  const HeaderLine second = split_header_line("\t d: e ");
  CHECK((second.name.empty() && second.value == "d: e" && second.goes_on));
  const HeaderLine none = split_header_line("no field");
  CHECK((none.name.empty() && none.value.empty() && !none.goes_on));
}

TEST_CASE("the body starts after the header") {
  std::istringstream stream("To: c\r\n\r\nHello.\r\n\r\nBye.\r\n");
  std::string body;
  CHECK(read_message_header(stream, &body) == Fields{{"To", " c"}});
  CHECK(body == "Hello.\r\n\r\nBye.\r\n");
}

TEST_CASE("a CR before a line end does not become a part of it") {
  CHECK(fields_of("X: b\r\r\n Pay here.\r\n\r\n") == Fields{{"X", " b\r\r\n Pay here."}});
  CHECK(fields_of("X: b\r\n Pay here.\r\n\r\n") == Fields{{"X", " b\n Pay here."}});
}

TEST_CASE("a header without an end is read up to a limit") {
  const Fields fields = fields_of("To: c\nX: " + std::string(2 * kMaxMessageHeaderBytes, 'x') + "\nY: z\n");
  REQUIRE(fields.size() == 2);
  CHECK(fields.back().value.size() < kMaxMessageHeaderBytes);
}

}  // namespace
}  // namespace bloomgate
