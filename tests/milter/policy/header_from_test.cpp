#include "milter/policy/header_from.hpp"

#include <catch2/catch.hpp>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "filter/address.hpp"

namespace bloomgate {

std::ostream& operator<<(std::ostream& out, const HeaderFrom& from) {
  return out << header_from_kind_name(from.kind) << " " << from.address;
}

namespace {

HeaderFrom parse(std::string_view field) {
  return parse_header_from(std::vector{field});
}
HeaderFrom mailbox(std::string address) {
  return {HeaderFromKind::one_mailbox, std::move(address)};
}

constexpr auto kNone = HeaderFromKind::no_mailbox;
constexpr auto kSeveral = HeaderFromKind::several_mailboxes;
constexpr auto kMalformed = HeaderFromKind::malformed;

TEST_CASE("a From field with one mailbox gives its address, however it is dressed") {
  struct Case {
    std::string_view field, address;
  };
  const std::vector<Case> cases = {
      {"joe@example.org", "joe@example.org"},
      {" joe@example.org", "joe@example.org"},
      {"<joe@example.org>", "joe@example.org"},
      {"Joe Doe <joe@example.org>", "joe@example.org"},
      {"Joe Doe<joe@example.org>", "joe@example.org"},
      {"\"Doe, Joe\" <Joe.Doe@Example.ORG>", "Joe.Doe@Example.ORG"},
      {"\"a \\\" quote\" <joe@example.org>", "joe@example.org"},
      {"\"back\\\\slash\" <joe@example.org>", "joe@example.org"},
      {"\"\" <joe@example.org>", "joe@example.org"},
      {"Joe Q. Public <joe@example.org>", "joe@example.org"},
      {"joe@example.org (Joe Doe)", "joe@example.org"},
      {"(Joe) joe@example.org", "joe@example.org"},
      {"Joe (at (his) home) Doe <joe@example.org> (really)", "joe@example.org"},
      {"Joe (with \\) and <evil@example.net>) <joe@example.org>", "joe@example.org"},
      {"\"evil@example.net\" <joe@example.org>", "joe@example.org"},
      {"\"<evil@example.net>\" <joe@example.org>", "joe@example.org"},
      {"joe@example.org <joe@example.org>", "joe@example.org"},
      {"Joe@Example.org <Joe@example.org>", "Joe@example.org"},
      {"Joe Doe\n <joe@example.org>", "joe@example.org"},
      {"Joe Doe\r\n\t<joe@example.org>", "joe@example.org"},
      {"\"Joe\n Doe\" <joe@example.org>", "joe@example.org"},
      {"Joe Doe <joe@example.org>\n ", "joe@example.org"},
      {"< joe@example.org >", "joe@example.org"},
      {"=?utf-8?q?J=C3=B8rn?= <joe@example.org>", "joe@example.org"},
      {"=?UTF-8?B?SsO4cm4=?= =?iso-8859-1?Q?_D=F8e?= <joe@example.org>", "joe@example.org"},
      {"\"=?utf-8?q?J=C3=B8rn?=\" <joe@example.org>", "joe@example.org"},
      {"=?utf-8?q?=22evil=40example=2Enet=22?= <joe@example.org>", "joe@example.org"},
      {"=?unknown-charset?q?=FF?= <joe@example.org>", "joe@example.org"},
      {"J\u00f8rn <j\u00f8rn@m\u00fcller.example>", "j\u00f8rn@m\u00fcller.example"},
      {"joe@xn--mller-kva.example", "joe@xn--mller-kva.example"},
      {"\"joe doe\"@example.org", "\"joe doe\"@example.org"},
      {"Joe <\"joe@home\"@example.org>", "\"joe@home\"@example.org"},
      {"Joe <\"a \\\"b\\\" c\"@example.org>", "\"a \\\"b\\\" c\"@example.org"},
      {"joe@[192.0.2.1]", "joe@[192.0.2.1]"},
      {"Joe <joe@[IPv6:2001:db8::1]>", "joe@[IPv6:2001:db8::1]"},
      {"Joe <joe+tag=x@example.org>", "joe+tag=x@example.org"},
      {"Joe <@relay.example,@other.example:joe@example.org>", "@relay.example,@other.example:joe@example.org"},
  };
  for (const auto& [field, address] : cases) {
    CAPTURE(field);
    CHECK(parse(field) == mailbox(std::string(address)));
  }
}

TEST_CASE("a From field that does not name one mailbox, the same for all readers, names none") {
  struct Case {
    std::string_view field;
    HeaderFromKind want;
  };
  using namespace std::string_view_literals;
  const std::vector<Case> cases = {
      {"", kNone},
      {" \n ", kNone},
      {"Undisclosed:;", kNone},
      {"joe@example.org, jane@example.org", kSeveral},
      {"Joe <joe@example.org>, Jane <jane@example.org>", kSeveral},
      {"Friends: joe@example.org, jane@example.org;", kSeveral},
      {"Friends: joe@example.org;", kMalformed},
      {"joe", kMalformed},
      {"Joe Doe", kMalformed},
      {"<>", kMalformed},
      {"evil@example.net <joe@example.org>", kMalformed},
      {"joe@example.org <joe@example.org", kMalformed},
      {"Joe <joe@example.org> trailing", kMalformed},
      {"\"Joe <joe@example.org>", kMalformed},
      {"Joe (open <joe@example.org>", kMalformed},
      {"joe@example.org\nBcc: evil@example.net", kMalformed},
      {"joe@example.org\r", kMalformed},
      {"Joe\r <joe@example.org>", kMalformed},
      {"joe@example.org\0evil@example.net"sv, kMalformed},
      {"=?utf-8?q?joe=40example=2Eorg?=", kMalformed},
      {"=?utf-8?q?joe?=@example.org", kMalformed},
  };
  for (const auto& [field, want] : cases) {
    CAPTURE(field);
    CHECK(parse(field) == HeaderFrom{want});
  }
}

TEST_CASE("a message without a From field, or with more than one, is from nobody") {
  CHECK(parse_header_from({}).kind == HeaderFromKind::absent);
  const std::vector<std::string_view> two = {"joe@example.org", "joe@example.org"};
  CHECK(parse_header_from(two).kind == HeaderFromKind::several_fields);
}

}  // namespace
}  // namespace bloomgate
