#include "milter/fields/result_forgery.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

struct Case {
  std::string_view text;
  bool want;
};

TEST_CASE("a greeting that could end a comment or start a result can forge results") {
  const std::vector<Case> cases = {
      {"", false},
      {"mail.example.org", false},
      {"[192.0.2.1]", false},
      {"[IPv6:2001:db8::1]", false},
      {"localhost", false},
      {"WIN_server-1", false},
      {"m\u00fcller.example", false},
      {"x); dkim=pass header.d=bank.example (", true},
      {"x)", true},
      {"(x", true},
      {"x;y", true},
      {"x\"y", true},
      {"x\\y", true},
      {"x y", true},
      {"x\ty", true},
      {std::string_view("x\0y", 3), true},
  };
  for (const auto& [helo, want] : cases) {
    CAPTURE(helo);
    CHECK(helo_can_forge_results(helo) == want);
  }
}

TEST_CASE("a sender with more than a space in quotes can forge results") {
  const std::vector<Case> cases = {
      {"<joe@example.org>", false},
      {"joe@example.org", false},
      {"<>", false},
      {"<prvs=1234=joe+tag@example.org>", false},
      {"<\"joe\"@example.org>", false},
      {"<\"joe doe\"@example.org>", false},
      {"<joe@[192.0.2.1]>", false},
      {"<joe@[IPv6:2001:db8::1]>", false},
      {"<j\u00f8rn@example.org>", false},
      {"<\"a); dkim=pass header.d=bank.example (b\"@evil.example>", true},
      {"<\"a; dkim=pass header.d=bank.example; b\"@evil.example>", true},
      {"<\"a\\\"b\"@evil.example>", true},
      {"<\"joe@bank.example\"@evil.example>", true},
      {"<a;b@evil.example>", true},
      {"<a(b)@evil.example>", true},
      {"<a\"b@evil.example>", true},
      {"<\"a\"b\"@evil.example>", true},
      {"<\"joe>", true},
      {"<joe doe@evil.example>", true},
      {"<@relay.example,@other.example:joe@evil.example>", true},
      {"<joe@evil.example; dkim=pass>", true},
      {" <joe@example.org>\r\n ", false},
      {"<joe@evil.example", true},
      {"joe@evil.example>", true},
  };
  for (const auto& [path, want] : cases) {
    CAPTURE(path);
    CHECK(sender_can_forge_results(path) == want);
  }
}

TEST_CASE("a signature whose identity, domain or selector is more than an address can forge results") {
  const std::vector<Case> cases = {
      {"v=1; a=rsa-sha256; c=relaxed/simple; d=example.org; s=sel; t=1700000000;\n\tbh=28Ab=; h=From:To; b=ab+/c0==",
       false},
      {"v=1; d=example.org; i=@example.org; s=a.b; b=x", false},
      {"v=1; d=example.org;\r\n\ti=joe@news.example.org; s=a.b; b=x", false},
      {"v=1; d=example.org; i=bounce=3Djoe@example.org; b=x", false},
      {"v=1; d=example.org; i=@example.org; z=Subject:a=3Bb=20c|To:=28x=29; b=x", false},
      {"v=1; d=example.org; i = @example.org ; b=x", false},
      {"", false},
      {";;;", false},
      {"v=1; d=evil.example; i=x=3B=20dkim=3Dpass=20header.d=3Dbank.example=3B@evil.example; b=x", true},
      {"v=1; d=evil.example; i=x=3b@evil.example; b=x", true},
      {"v=1; d=evil.example; i=x=28@evil.example; b=x", true},
      {"v=1; d=evil.example; i=x=0Ay@evil.example; b=x", true},
      {"v=1; d=evil.example; I=x=3By@evil.example; b=x", true},
      {"v=1; d=evil.example; i\n = x=3By@evil.example; b=x", true},
      {"v=1; d=evil.example; i=@evil.example; i=x=3By@evil.example; b=x", true},
      {"v=1; d=evil.example; i=x y@evil.example; b=x", true},
      {"v=1; d=evil.example; i=\"x\"@evil.example; b=x", true},
      {"v=1; d=evil.example; i=x=@evil.example; b=x", true},
      {"v=1; d=evil.example; i=x@evil.example=3", true},
      {"v=1; d=evil.example; i=x@evil.example=", true},
      {"v=1; d=evil.example; i=x=4Gy@evil.example", true},
      {"v=1; d=evil.example dkim; s=a; b=x", true},
      {"v=1; d=evil.example; s=a (; b=x", true},
      {"v=1; d=evil.example; s=a\"; b=x", true},
  };
  for (const auto& [signature, want] : cases) {
    CAPTURE(signature);
    CHECK(signature_can_forge_results(signature) == want);
  }
}

TEST_CASE("a From that cannot be read, or with an odd address, can forge results") {
  const auto from = [](std::string_view field) { return parse_header_from(std::vector{field}); };
  CHECK_FALSE(from_can_forge_results(HeaderFrom{}));
  CHECK_FALSE(from_can_forge_results(from("\"a; b (c\" <joe@example.org>")));
  CHECK_FALSE(from_can_forge_results(from("\"joe doe\"@example.org")));
  CHECK(from_can_forge_results(from("\"a; b\"@evil.example")));
  CHECK(from_can_forge_results(from("joe@evil.example; dkim=pass header.d=bank.example")));
  CHECK(from_can_forge_results(from("joe@example.org, jane@example.org")));
  CHECK(from_can_forge_results(from("Undisclosed:;")));
  CHECK(from_can_forge_results({HeaderFromKind::several_fields}));
}

}  // namespace
}  // namespace bloomgate
