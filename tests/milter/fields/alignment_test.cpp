#include "milter/fields/alignment.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("the organisational domain is the public suffix and one label") {
  struct Case {
    std::string_view domain, want;
  };
  const std::string longest = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." +
                              std::string(55, 'd') + ".example";
  const std::vector<Case> cases = {
      {"example.org", "example.org"},
      {"mail.example.org", "example.org"},
      {"a.b.c.d.example.org", "example.org"},
      {"org", ""},
      {"co.uk", ""},
      {"example.co.uk", "example.co.uk"},
      {"mail.example.co.uk", "example.co.uk"},
      // A wildcard of the list, and its exception.
      {"foo.ck", ""},
      {"a.foo.ck", "a.foo.ck"},
      {"www.ck", "www.ck"},
      {"mail.www.ck", "www.ck"},
      // What the list does not know is a top-level domain by its first rule.
      {"mx.corp.test", "corp.test"},
      {"localhost", ""},
      // Names under which others let their customers be.
      {"joe.github.io", "joe.github.io"},
      {"github.io", ""},
      // International ones, in the form that all our domains have.
      {"mail.xn--mller-kva.example", "xn--mller-kva.example"},
      {"xn--55qx5d.cn", ""},
      {"mail.example.xn--55qx5d.cn", "example.xn--55qx5d.cn"},
      {"mail.example.xn--p1ai", "example.xn--p1ai"},
      {"xn--p1ai", ""},
      {"[192.0.2.1]", ""},
      {"[ipv6:2001:db8::1]", ""},
      {"", ""},
      {longest, std::string_view(longest).substr(3 * 64)},
  };
  for (const auto& [domain, want] : cases) {
    CAPTURE(domain);
    CHECK(organizational_domain(domain) == want);
  }
  CHECK(organizational_domain("a." + longest).empty());
}

TEST_CASE("a domain is below another one only after a dot") {
  CHECK(is_same_or_below("example.org", "example.org"));
  CHECK(is_same_or_below("a.example.org", "example.org"));
  CHECK(is_same_or_below("a.b.example.org", "example.org"));
  CHECK_FALSE(is_same_or_below("badexample.org", "example.org"));
  CHECK_FALSE(is_same_or_below("example.org", "a.example.org"));
  CHECK_FALSE(is_same_or_below("example.org", "example.com"));
  CHECK_FALSE(is_same_or_below("", "example.org"));
}

TEST_CASE("domains are aligned if they are equal, or, relaxed, of one organisation") {
  struct Case {
    std::string_view one, other;
    bool strict, relaxed;
  };
  const std::vector<Case> cases = {
      {"example.org", "example.org", true, true},
      {"mail.example.org", "example.org", false, true},
      {"mail.example.org", "news.example.org", false, true},
      {"example.org", "example.com", false, false},
      {"example.org", "badexample.org", false, false},
      {"example.org", "example.org.evil.example", false, false},
      {"a.co.uk", "b.co.uk", false, false},
      {"co.uk", "a.co.uk", false, false},
      {"co.uk", "co.uk", true, true},
      {"joe.github.io", "jane.github.io", false, false},
      {"joe.github.io", "github.io", false, false},
      {"www.joe.github.io", "joe.github.io", false, true},
      {"a.foo.ck", "foo.ck", false, false},
      {"b.a.foo.ck", "a.foo.ck", false, true},
      {"www.ck", "ck", false, false},
      {"a.www.ck", "www.ck", false, true},
      {"localhost", "localhost", true, true},
      {"mx.localhost", "localhost", false, false},
      {"com", "org", false, false},
      {"[192.0.2.1]", "[192.0.2.1]", true, true},
      {"[192.0.2.1]", "[192.0.2.2]", false, false},
      {"mail.xn--mller-kva.example", "xn--mller-kva.example", false, true},
      {"", "", false, false},
      {"", "example.org", false, false},
  };
  for (const auto& [one, other, strict, relaxed] : cases) {
    CAPTURE(one, other);
    CHECK(aligned(one, other, Alignment::strict) == strict);
    CHECK(aligned(other, one, Alignment::strict) == strict);
    CHECK(aligned(one, other, Alignment::relaxed) == relaxed);
    CHECK(aligned(other, one, Alignment::relaxed) == relaxed);
  }
}

TEST_CASE("a child is a name below the other one in the same organisation") {
  CHECK(is_child("mg.shop.example", "shop.example"));
  CHECK(is_child("a.b.shop.example", "shop.example"));
  CHECK_FALSE(is_child("shop.example", "shop.example"));
  CHECK_FALSE(is_child("shop.example", "mg.shop.example"));
  CHECK_FALSE(is_child("mg.shop.example", "news.shop.example"));
  CHECK_FALSE(is_child("othershop.example", "shop.example"));
  CHECK_FALSE(is_child("example.co.uk", "co.uk"));
  CHECK_FALSE(is_child("joe.github.io", "github.io"));
  CHECK_FALSE(is_child("", "shop.example"));
  CHECK_FALSE(is_child("shop.example", ""));
}

}  // namespace
}  // namespace bloomgate
