#include "milter/fields/content_type.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// "text", or the kind of multipart and its boundary; "-" for what may change how the body is read.
std::string read(std::string_view value) {
  const auto structure = harmless_content_type(value);
  if (!structure) return "-";
  if (structure->kind == BodyKind::text) return "text";
  return (structure->kind == BodyKind::alternative ? "alternative " : "multipart ") + structure->boundary;
}

TEST_CASE("an unsigned Content-Type may name plain text or a usual multipart") {
  struct Case {
    std::string value, want;
  };
  const Case cases[] = {
      {" text/plain", "text"},
      {"TEXT/Plain; charset=\"UTF-8\"", "text"},
      {"text/plain;\r\n\tcharset=iso-8859-1; format=flowed; delsp=yes", "text"},
      {"text/plain; charset=us-ascii (as ever);", "text"},
      {"multipart/alternative; boundary=\"000000000000a1b2\"", "alternative 000000000000a1b2"},
      {" multipart/mixed;\n boundary=\"=_x y\"", "multipart =_x y"},
      {"multipart/mixed; charset=utf-8; boundary=b", "multipart b"},
      {"multipart/related; type=\"text/html\"; boundary=b", "multipart b"},
      {"multipart/report; report-type=delivery-status; boundary=b", "multipart b"},
      {"multipart/signed; protocol=\"application/pkcs7-signature\"; micalg=sha-256; boundary=b", "multipart b"},
      {"multipart/mixed; boundary=\"a\\\"b\"", "multipart a\"b"},
      {"multipart/mixed; boundary=" + std::string(70, 'b'), "multipart " + std::string(70, 'b')},
  };
  for (const Case& c : cases) {
    INFO(c.value);
    CHECK(read(c.value) == c.want);
  }
}

TEST_CASE("an unsigned Content-Type that may change how the body is read is refused") {
  for (const std::string value : {"",
                                  "text",
                                  "text/",
                                  "text/html",
                                  "text/plain; name=x.html",
                                  "text/plain; charset=utf-7",
                                  "text/plain; charset=utf-16",
                                  "text/plain; charset=iso-2022-jp",
                                  "text/plain; charset=\"\"",
                                  "text/plain; charset=us-ascii; charset=utf-7",
                                  "text/plain; charset*0=utf-; charset*1=7",
                                  "text/plain, text/html",
                                  "text/plain text/html",
                                  "text/plain; charset",
                                  "text/plain; charset=\"utf-8",
                                  "text/plain (x",
                                  "text/plain; =x",
                                  "text/plain;; charset=utf-8",
                                  "message/rfc822",
                                  "application/pdf",
                                  "multipart/mixed",
                                  "multipart/digest; boundary=b",
                                  "multipart/x-mixed-replace; boundary=b",
                                  "multipart/form-data; boundary=b",
                                  "multipart/mixed; boundary=\"\"",
                                  "multipart/mixed; charset=utf-7; boundary=b",
                                  "multipart/mixed; boundary=\"b \"",
                                  "multipart/mixed; boundary=a; boundary=b",
                                  "multipart/mixed; boundary*=b",
                                  "multipart/mixed; boundary*0=b",
                                  "multipart/related; start=\"<x>\"; boundary=b",
                                  "multipart/mixed; name=x; boundary=b",
                                  "multipart/mixed; boundary=\"\xc3\xa4\"",
                                  "text/plain\nX: y"}) {
    INFO(value);
    CHECK(read(value) == "-");
  }
  CHECK(read("multipart/mixed; boundary=" + std::string(71, 'b')) == "-");
}

TEST_CASE("an encoding is one of MIME's or unknown") {
  CHECK(known_encoding(" 7bit") == BodyEncoding::none);
  CHECK(known_encoding("8BIT") == BodyEncoding::none);
  CHECK(known_encoding("binary (all of it)") == BodyEncoding::none);
  CHECK(known_encoding("Quoted-Printable") == BodyEncoding::quoted_printable);
  CHECK(known_encoding("base64\r\n ") == BodyEncoding::base64);
  for (const std::string_view value :
       {"", "x-uuencode", "base64 7bit", "base64, 7bit", "\"base64\"", "base64; x=y", "base-64"}) {
    INFO(value);
    CHECK_FALSE(known_encoding(value));
  }
}

TEST_CASE("only version 1.0 of MIME is harmless") {
  CHECK(is_harmless_mime_version(" 1.0 (by some program)"));
  for (const std::string_view value : {"", "1.1", "1.0 1.0", "2"}) {
    INFO(value);
    CHECK_FALSE(is_harmless_mime_version(value));
  }
}

TEST_CASE("only a bare inline is a harmless disposition") {
  CHECK(is_harmless_disposition(" Inline"));
  for (const std::string_view value : {"", "attachment", "inline; filename=x.html", "inline attachment"}) {
    INFO(value);
    CHECK_FALSE(is_harmless_disposition(value));
  }
}

TEST_CASE("a very long Content-Type is refused, since it is read once for each signature") {
  CHECK(harmless_content_type("text/plain; charset=utf-8; format=flowed; delsp=yes"));
  CHECK(harmless_content_type("multipart/mixed; boundary=x; protocol=\"" + std::string(3000, 'a') + "\""));
  CHECK_FALSE(harmless_content_type("multipart/mixed; boundary=x; protocol=\"" + std::string(5000, 'a') + "\""));
}

}  // namespace
}  // namespace bloomgate
