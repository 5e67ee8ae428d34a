#include "filter/mail/calendar_reply.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

struct Case {
  std::string value;
  bool want;
};

// A Content-Type whose method is in so many pieces, the last of which have one letter each.
std::string in_pieces(int count) {
  constexpr std::string_view kMethod = "REPLY";
  const int first = count - static_cast<int>(kMethod.size());
  std::string type = "text/calendar";
  for (int piece = 0; piece < count; ++piece) {
    type += "; method*" + std::to_string(piece) + "=";
    if (piece >= first) type += kMethod[static_cast<std::size_t>(piece - first)];
  }
  return type;
}

TEST_CASE("a Content-Type of an answer to an invitation is recognised however it is written") {
  const Case cases[] = {
      {"text/calendar; method=REPLY", true},
      {" TEXT/Calendar;\r\n\tcharset=\"utf-8\";\r\n\tMETHOD=reply", true},
      {"text/calendar; method=\"REPLY\"; name=x.ics", true},
      {"text/calendar;method = \"\\RE\\PLY\"", true},
      {"text/calendar;method=\"RE\\\\PLY\"", false},
      {"text/calendar;method=RE\\PLY", false},
      {in_pieces(32), true},
      {in_pieces(33), false},
      {"text/calendar; x method=REPLY", true},
      {"text/calendar; =\"; method=REPLY", true},
      {"text/calendar; x=\"\\\"; method=REQUEST; \\(\"; method=REPLY", true},
      {"text/calendar; method*0*=''REPL; method*1*='x'Y", false},
      {"text / calendar (an answer) ; (x; method=\"y) method (z) = REPLY(!)", true},
      {"text/calendar; component=VEVENT method=REPLY", true},
      {"text/calendar; method*=us-ascii'en'REPLY", true},
      {"text/calendar; method*=''%52E%50LY", true},
      {"text/calendar; method*1=PLY; method*0=RE", true},
      {"text/calendar; method*0*=utf-8''%52E; method*1=\"PL\"; method*2*=%59", true},
      {"text/calendar; x=\"; method=REQUEST\"; method=REPLY", true},
      {"text/calendar; =; \"; method=REPLY", true},
      {"text/calendar; method=Counter", true},
      {"text/calendar; method=REFRESH", true},
      {"text/calendar; method=DeclineCounter", true},
      {"text/calendar; method=REQUEST", false},
      {"text/calendar; method=REPLYING", false},
      {"text/calendar; method=", false},
      {"text/calendar; x=\"; method=REPLY\"", false},
      {"text/calendar; x=\"; method=REPLY", false},
      {"text/calendar (; method=REPLY)", false},
      {"text/calendar (; method=REPLY", false},
      {"text/calendar; name=methodreply.ics", false},
      {"text/calendar; method*0=RE; method*2=PLY", false},
      {"text/calendar; method*1=REPLY", false},
      {"text/calendar; method=" + std::string(300, 'R'), false},
      {"text/calendar", false},
      {"text/calendars; method=REPLY", false},
      {"application/ics; method=REPLY", false},
      {"method=REPLY", false},
      {"", false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.value);
    CHECK(is_calendar_reply(each.value) == each.want);
  }
}

TEST_CASE("a body is read of a multipart with a boundary, and of a calendar") {
  CHECK(needs_body("multipart/mixed; boundary=x"));
  CHECK(needs_body(" Multipart/X; boundary*0=\"x y\""));
  CHECK(needs_body("Text/Calendar"));
  CHECK_FALSE(needs_body("multipart/mixed"));
  CHECK_FALSE(needs_body("multipart/mixed; boundary=\"\""));
  CHECK_FALSE(needs_body("text/plain; boundary=x"));
  CHECK(needs_body("multipart/mixed; boundary=" + std::string(200, 'x')));
  CHECK_FALSE(needs_body("multipart/mixed; boundary=" + std::string(201, 'x')));
}

const std::string kMixed = "multipart/mixed; boundary=\"=_out\"";
const std::string kReply = "Content-Type: text/calendar; method=REPLY; charset=utf-8\n\nQkVHSU4=\n";

std::string part(const std::string& boundary, const std::string& text) {
  return "--" + boundary + "\n" + text;
}

TEST_CASE("an answer to an invitation is found in a part, also in a nested one") {
  const std::string plain = part("=_out", "Content-Type: text/plain\n\nann has accepted\n");
  const std::string inner = "Content-Type: multipart/alternative;\n boundary*0=\"in\"; boundary*1=ner\n\n";
  const std::string attached =
      part("=_out", "Content-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=a\n\n");
  std::string deep = part("=_out", "");
  for (int depth = 0; depth < 30; ++depth) {
    const std::string name = "d" + std::to_string(depth);
    deep += "Content-Type: multipart/mixed; boundary=" + name + "\n\n--" + name + "\n";
  }
  const Case cases[] = {
      {plain + part("=_out", kReply) + "--=_out--\n", true},
      {part("=_out", kReply), true},
      {"a preamble\n" +
           part("=_out", "Content-Transfer-Encoding: base64\ncontent-type :\n TEXT/CALENDAR;\n\tmethod=\"reply\"\n\n"),
       true},
      {part("=_out  ", kReply), true},
      {plain + part("=_out", inner + part("inner", "\ntext\n") + part("inner", kReply) + "--inner--\n--=_out--\n"),
       true},
      {part("=_out", inner + part("inner", "\ntext\n") + part("=_out", kReply)), true},
      {part("=_out", inner + "--inner--\n" + part("=_out", kReply)), true},
      {part("=_out", "Content-Type: multipart/report; report-type=delivery-status\n\n"), true},
      {part("=_out", "Content-Type: message/delivery-status\n\n"), false},  // as a person may send it on
      {attached + "Content-Type: multipart/report; boundary=b\n\n", false},
      {part("=_out", "Content-Type: text/calendar\n\nBEGIN:VCALENDAR\nMETHOD:REPLY\n"), true},
      {part("=_out", "Content-Type: text/calendar\n\nMETHOD:REPLY\n--=_out--\n"), true},
      {part("=_out", "Content-Type: text/calendar; method=REQUEST\n\nMETHOD:REPLY\n--=_out\n\n"), true},
      {part("=_out", "Content-Type: text/calendar\n\n") + part("=_out", "\nMETHOD:REPLY\n"), false},
      {part("=_out", "Content-Type: text/calendar\n") + part("=_out", "\nMETHOD:REPLY\n"), false},
      {part("=_out", "Content-Type: text/calendar\nMETHOD:REPLY\n\nMETHOD:REQUEST\n"), false},
      {part("=_out", "Content-Type: text/plain\n\nMETHOD:REPLY\n"), false},
      {part("=_out", "Content-Type: text/calendar; method=REPLY"), true},
      {part("=_out", "Content-Type: text/calendar; method=REPLY\n--=_out--"), true},
      {part("=_out", "Content-Type: text/plain\nContent-Type: text/calendar; method=REPLY\n\n"), true},
      {part("=_out", "Content-Type: text/calendar\nContent-Type: text/plain\n\nMETHOD:REPLY\n"), true},
      {part("=_out", "a line without a colon\n" + kReply), true},
      {plain + part("=_out", "Content-Type: text/calendar; method=REQUEST\n\n"), false},
      {plain + kReply, false},
      {kReply, false},
      {part("=_out", "\n" + kReply), false},
      {part("=_other", kReply), false},
      {part("inner", kReply) + part("=_out", inner), false},
      {part("=_out", inner + "--inner--\n" + part("inner", kReply)), false},
      {part("=_out", "X-Content-Type: text/calendar; method=REPLY\n\n"), false},
      {"--=_out--\n" + part("=_out", kReply), false},
      {attached + part("a", kReply) + "--=_out--\n", false},
      {deep, false},
      {deep + kReply, false},  // too deep for any calendar
      {"", false},
  };
  for (const Case& each : cases) {
    std::string crlf;
    for (const char byte : each.value) crlf += byte == '\n' ? "\r\n" : std::string(1, byte);
    CAPTURE(each.value);
    CHECK(has_automatic_part(kMixed, each.value) == each.want);
    CHECK(has_automatic_part(kMixed, crlf) == each.want);
    CHECK_FALSE(has_automatic_part("text/plain", each.value));
  }
  CHECK(has_automatic_part("text/calendar; method=reply", ""));
  for (const std::string& boundary : {std::string("boundary=\"a\r\n b\""), std::string("boundary*=\"''a\r\n b\"")}) {
    CHECK(has_automatic_part("multipart/mixed; " + boundary, part("a b", kReply)));
  }
}

TEST_CASE("the text of a calendar says that it answers, however it is encoded") {
  const Case cases[] = {
      {"BEGIN:VCALENDAR\nmethod:Reply\nEND:VCALENDAR\n", true},
      {"METHOD:REPLY", true},
      {"MET\n HOD:RE\n\tPLY\n", true},
      {"METHOD;X-Y=\"a:b\" : REPLY \n", true},
      {"METHOD:COUNTER\n", true},
      {"METHOD:REPLY\nMETHOD:REQUEST\n", true},
      {"METHOD:" + std::string(188, ' ') + "REPLY\n", true},
      {"METHOD:" + std::string(189, ' ') + "REPLY\n", false},  // too long for any calendar
      {"ATTENDEE;CN=\nMETHOD:REPLY\n", true},
      {"SUMMARY:x=20=\n y\nMETH=\nOD=3AREP=4CY\n", true},
      {"METHOD:RE= \t\nPLY\n", true},
      {"QkVHSU46VkNBTEVOREFSDQpNRVRI\nT0Q6UkVQTFkNCg==\n", true},  // METHOD:REPLY in its second line
      {std::string("\xff\xfeM\0E\0T\0H\0O\0D\0:\0R\0E\0P\0L\0Y\0", 26).substr(2), true},
      {"METHOD:REQUEST\n", false},
      {"METHOD\nREPLY\n", false},
      {"X-METHOD:REPLY\n", false},
      {"DESCRIPTION:x\n METHOD:REPLY\n", false},
      {"DESCRIPTION:x\\nMETHOD:REPLY\n", false},
      {"METHOD:" + std::string(500, 'x') + ":REPLY\n", false},
      {"", false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.value);
    CHECK(has_automatic_part("text/calendar; charset=utf-8", each.value) == each.want);
    CHECK(has_automatic_part(kMixed, part("=_out", "Content-Type: text/calendar\n\n" + each.value)) == each.want);
    CHECK_FALSE(has_automatic_part("text/plain", each.value));
  }
}

TEST_CASE("an answer to an invitation is not found after the first 64 KiB") {
  const std::string begin = part("=_out", "\n");
  const std::string end = part("=_out", kReply);
  const std::size_t last = kCalendarReplyBytes - begin.size() - end.find("REPLY") - 5;
  const auto body = [&](std::size_t between) { return begin + std::string(between - 1, 'x') + "\n" + end; };
  CHECK(has_automatic_part(kMixed, body(last)));
  CHECK_FALSE(has_automatic_part(kMixed, body(last + 1)));
}

}  // namespace
}  // namespace bloomgate
