#include "milter/fields/body_check.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// The same in whole and in pieces of each size, since the body comes as the network cuts it.
bool holds(const BodyStructure& structure, BodyEncoding encoding, const std::string& body,
           bool (BodyCheck::*question)() const noexcept) {
  bool first = false;
  for (std::size_t piece = 1; piece <= body.size() + 1; ++piece) {
    BodyCheck check(structure, encoding);
    for (std::size_t at = 0; at < body.size(); at += piece) check.add(std::string_view(body).substr(at, piece));
    check.finish();
    const bool answer = (check.*question)();
    if (piece == 1) first = answer;
    CHECK(answer == first);
  }
  return first;
}

bool is_enclosed(const std::string& body, BodyKind kind = BodyKind::multipart) {
  return holds({kind, "b"}, BodyEncoding::none, body, &BodyCheck::is_enclosed);
}

bool is_encoded(BodyEncoding encoding, const std::string& body) {
  return holds({}, encoding, body, &BodyCheck::is_encoded);
}

TEST_CASE("a boundary that opens and closes the body is its writer's own") {
  CHECK(is_enclosed("--b\r\n\r\nHello.\r\n--b--\r\n"));
  CHECK(is_enclosed("\r\n--b \r\n\r\nHello.\r\n--b\r\n\r\nx\r\n--b--\t\r\n\r\n \r\n"));
  CHECK(is_enclosed("--b\r\n\r\nHello.\r\n--b--"));
  CHECK(is_enclosed("This is a multi-part message in MIME format.\r\n--b\r\n\r\nHello.\r\n--b--\r\n"));
  CHECK(is_enclosed("--b\r\n\r\n--bb\r\n--bb--\r\n--b--\r\n"));
  CHECK(is_enclosed("Hello.\r\n", BodyKind::text));
}

TEST_CASE("a boundary that an attacker may have chosen does not enclose the body") {
  CHECK_FALSE(is_enclosed(""));
  CHECK_FALSE(is_enclosed("Hello.\r\n--b\r\n\r\nPay.\r\n--b--\r\n"));
  CHECK_FALSE(is_enclosed("--a\r\n\r\nHello.\r\n--b\r\n\r\nPay.\r\n--b--\r\n--a--\r\n"));
  CHECK_FALSE(is_enclosed("--b\r\n\r\nHello.\r\n--b--\r\nmore\r\n"));
  CHECK_FALSE(is_enclosed("--b\r\n\r\nHello.\r\n--b--\r\nmore\r\n--b--\r\n"));
  CHECK_FALSE(is_enclosed("--b\r\n\r\nHello.\r\n"));
  CHECK_FALSE(is_enclosed("--bc\r\n\r\nHello.\r\n--bc--\r\n"));
  CHECK_FALSE(is_enclosed("--b--\r\n"));
  CHECK_FALSE(is_enclosed("--b\r\n\r\n--b--" + std::string(100, ' ') + "x\r\n"));
}

TEST_CASE("an alternative with an attachment in it would show the attachment alone") {
  const std::string body =
      "--b\r\n\r\nHello.\r\n--b\r\nContent-Type: text/html\r\n"
      "CONTENT-DISPOSITION:\r\n attachment\r\n\r\nPay.\r\n--b--\r\n";
  CHECK(is_enclosed(body, BodyKind::multipart));
  CHECK_FALSE(is_enclosed(body, BodyKind::alternative));
  CHECK(is_enclosed("--b\r\n\r\nContent-Disposition: attachment\r\n--b\r\n\r\nx\r\n--b--\r\n", BodyKind::alternative));
}

TEST_CASE("a body with another message in it may be a bounce, whatever its Content-Type says") {
  const auto has_message = [](const std::string& body, BodyKind kind = BodyKind::multipart) {
    return holds({kind, "b"}, BodyEncoding::none, body, &BodyCheck::has_message);
  };
  const std::string start = "--b\r\n\r\nNot delivered.\r\n--b\r\n";
  const std::string end = "\r\n\r\nFrom: a@b.example\r\n--b--\r\n";
  for (const char* const field :
       {"Content-Type: message/delivery-status", "content-type:Message/RFC822", "Content-Type :\r\n\tmessage/global",
        "Content-Type: text/rfc822-headers; charset=us-ascii", "Content-Type:\r\n message/disposition-notification"}) {
    CAPTURE(field);
    CHECK(has_message(start + field + end));
    CHECK(has_message(start + field + end, BodyKind::text));
  }
  for (const char* const text : {"Content-Type: text/plain", "Content-Types: message/rfc822",
                                 "message/rfc822 is a type", "X-Type: message/rfc822", "Content-Type message/rfc822"}) {
    CAPTURE(text);
    CHECK_FALSE(has_message(start + text + end));
  }
}

TEST_CASE("a body is in quoted-printable if digits or a line end follow each equals sign") {
  const auto encoding = BodyEncoding::quoted_printable;
  CHECK(is_encoded(encoding, ""));
  CHECK(is_encoded(encoding, "Hello.\r\n"));
  CHECK(is_encoded(encoding, "Gr=C3=BC=c3=9Fe\r\n"));
  CHECK(is_encoded(encoding, "one line =\r\nof two= \t\r\n."));
  CHECK_FALSE(is_encoded(encoding, "a=b\r\n"));
  CHECK_FALSE(is_encoded(encoding, "a=4x\r\n"));
  CHECK_FALSE(is_encoded(encoding, "a= b\r\n"));
  CHECK_FALSE(is_encoded(encoding, "<a href=\"x\">\r\n"));
  CHECK_FALSE(is_encoded(encoding, "caf\xe9\r\n"));
  CHECK_FALSE(is_encoded(encoding, "end ="));
  CHECK_FALSE(is_encoded(encoding, "end =4"));
}

TEST_CASE("a body is in base64 if it has no other bytes") {
  const auto encoding = BodyEncoding::base64;
  CHECK(is_encoded(encoding, "SGVsbG8u\r\n"));
  CHECK(is_encoded(encoding, "SGVs\r\nbG8=\r\n"));
  CHECK(is_encoded(encoding, "SGVsbA==\r\n\r\n"));
  CHECK_FALSE(is_encoded(encoding, "Hello.\r\n"));
  CHECK_FALSE(is_encoded(encoding, "SGVsbA==\r\nSGVs\r\n"));
  CHECK_FALSE(is_encoded(encoding, "SGVsb\r\n"));
  CHECK_FALSE(is_encoded(encoding, "SGVsb===\r\n"));
  CHECK_FALSE(is_encoded(encoding, "Write this: SGVsbG8u\r\n"));
}

}  // namespace
}  // namespace bloomgate
