#include "milter/fields/header_from.hpp"

#include <iterator>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "filter/address/address.hpp"
#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {

std::ostream& operator<<(std::ostream& out, const HeaderFrom& from) {
  return out << "kind " << static_cast<int>(from.kind) << " " << from.address;
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

TEST_CASE("a From field with one mailbox gives its address, whatever names and comments surround it") {
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
      {"J\u00f8rn <joe@XN--mller-kva.example>", "joe@XN--mller-kva.example"},
      {"J\u00f8rn <joe@xn--ls8h.example> (an emoji's)", "joe@xn--ls8h.example"},
      {"j..doe@example.org", "j..doe@example.org"},
      {"Joe <.joe@example.org>", ".joe@example.org"},
      {"=?utf-8?q?J=C3=B8rn?= <Docomo.@example.org>", "Docomo.@example.org"},
      {"a=?b@example.org", "a=?b@example.org"},
      {"Joe <=?utf-8?q?joe@example.org>", "=?utf-8?q?joe@example.org"},
      {"=?utf-8?q?J=C3=B8rn?= <a=?b@example.org>", "a=?b@example.org"},
      {"Joe\t<\"joe doe\"@example.org>\t", "\"joe doe\"@example.org"},
      {"...@example.org (Joe)", "...@example.org"},
      {"J\u00f8rn <.j\u00f8rn.@m\u00fcller.example>", ".j\u00f8rn.@m\u00fcller.example"},
      {"\"evil@example.net\" <j..doe@example.org>", "j..doe@example.org"},
      {"Joe <joe@-example-.org>", "joe@-example-.org"},
      {"\"joe doe\"@example.org", "\"joe doe\"@example.org"},
      {"Joe <\"joe@home\"@example.org>", "\"joe@home\"@example.org"},
      {"Joe <\"a \\\"b\\\" c\"@example.org>", "\"a \\\"b\\\" c\"@example.org"},
      {"joe@[192.0.2.1]", "joe@[192.0.2.1]"},
      {"Joe <joe@[IPv6:2001:db8::1]>", "joe@[IPv6:2001:db8::1]"},
      {"Joe <joe+tag=x@example.org>", "joe+tag=x@example.org"},
      {"Joe <@relay.example,@other.example:joe@example.org>", "@relay.example,@other.example:joe@example.org"},
      {"Joe <@relay.example:\"joe doe\"@example.org>", "@relay.example:\"joe doe\"@example.org"},
  };
  for (const auto& [field, address] : cases) {
    CAPTURE(field);
    CHECK(parse(field) == mailbox(std::string(address)));
  }
}

TEST_CASE("a From field in which readers may see different mailboxes gives none") {
  struct Case {
    std::string_view field;
    HeaderFromKind want;
  };
  using namespace std::string_view_literals;
  const std::vector<Case> cases = {
      {"", kNone},
      {" \n ", kNone},
      {"(nobody)", kMalformed},
      {"Undisclosed:;", kNone},
      {"Undisclosed: ;", kNone},
      {"\"Undisclosed recipients\": (none) ;", kNone},
      // Several.
      {"joe@example.org, jane@example.org", kSeveral},
      {"joe@example.org,jane@example.org", kSeveral},
      {"joe@example.org, joe@example.org", kSeveral},
      {"Joe <joe@example.org>, Jane <jane@example.org>", kSeveral},
      {"<joe@example.org>, <evil@example.net>", kSeveral},
      {"Joe <joe@example.org>,\n Jane <jane@example.org>", kSeveral},
      {"Friends: joe@example.org, jane@example.org;", kSeveral},
      {"Friends: joe@example.org;, jane@example.org", kSeveral},
      // One, in a form that not all know.
      {"Friends: joe@example.org;", kMalformed},
      {"Friends: Joe <joe@example.org>;", kMalformed},
      {"Friends: joe@example.org", kMalformed},
      {",joe@example.org", kMalformed},
      {"joe@example.org,", kMalformed},
      {"joe@example.org;", kMalformed},
      {"Joe <joe@example.org>,", kMalformed},
      {"Doe, Joe <joe@example.org>", kMalformed},
      {"Joe <joe@example.org>;", kMalformed},
      // None.
      {"joe", kMalformed},
      {"Joe Doe", kMalformed},
      {"joe@", kMalformed},
      {"@example.org", kMalformed},
      {"<joe>", kMalformed},
      {"<@example.org>", kMalformed},
      {"<>", kMalformed},
      {"Joe <>", kMalformed},
      {"joe at example.org", kMalformed},
      // Two addresses where some see the first and some the last.
      {"evil@example.net <joe@example.org>", kMalformed},
      {"joe@example.net <joe@example.org>", kMalformed},
      {"joe@example.org <joe@example.net>", kMalformed},
      {"Joe@example.org <joe@example.org>", kMalformed},
      {"Joe evil@example.net <joe@example.org>", kMalformed},
      {"joe@example.org Joe <joe@example.org>", kSeveral},
      {"<evil@example.net> <joe@example.org>", kSeveral},
      {"<evil@example.net> joe@example.org", kSeveral},
      {"evil@example.net joe@example.org", kSeveral},
      {"Joe <evil@example.net> <joe@example.org>", kSeveral},
      {"<evil@example.net <joe@example.org>>", kSeveral},
      {"Joe <<joe@example.org>>", kMalformed},
      {"Joe <joe@example.org> trailing", kMalformed},
      {"Joe <joe@example.org> \"trailing\"", kMalformed},
      {"Joe <joe@example.org>, trailing", kMalformed},
      {"joe@example.org@example.net", kMalformed},
      {"Joe <joe@example.org@example.net>", kMalformed},
      {"Joe <evil@example.net,joe@example.org>", kSeveral},
      {"Joe <evil@example.net:joe@example.org>", kSeveral},
      {"evil@example.net:joe@example.org", kSeveral},
      {"@relay.example:joe@example.org", kMalformed},
      {"Joe <@relay.example joe@example.org>", kMalformed},
      // Unbalanced.
      {"joe@example.org <joe@example.org", kMalformed},
      {"Joe joe@example.org>", kMalformed},
      {"Joe <joe@example.org", kMalformed},
      {"\"Joe <joe@example.org>", kMalformed},
      {"Joe\" <joe@example.org>", kMalformed},
      {"\"Joe\\\" <joe@example.org>", kMalformed},
      {"\"evil\" \" <joe@example.org>", kMalformed},
      {"Joe (open <joe@example.org>", kMalformed},
      {"joe@[<>](", kMalformed},
      {"Joe) <joe@example.org>", kMalformed},
      {"Joe (a (b) <joe@example.org>", kMalformed},
      {"Joe (\") <evil@example.net> (\") <joe@example.org>", kMalformed},
      {"Joe (\\) <joe@example.org>", kMalformed},
      {"joe@[192.0.2.1", kMalformed},
      {"joe@192.0.2.1]", kMalformed},
      // GMime finds two mailboxes in these.
      {"joe@[192.0. 2.1], jane@example.org", kMalformed},
      {"joe@example.org, jane@example.org, ann@[192.0.2.1", kMalformed},
      {"joe@example.org, jane@example.org)", kMalformed},
      {"joe@example.org, jane@example.org]", kMalformed},
      {"Joe \\<joe@example.org>", kMalformed},
      // Comments and space inside of an address.
      {"joe(c)@example.org", kMalformed},
      {"joe@(c)example.org", kMalformed},
      {"joe @example.org", kMalformed},
      {"joe@ example.org", kMalformed},
      {"joe@example .org", kMalformed},
      {"joe . doe@example.org", kMalformed},
      {"joe@example.(evil)org", kMalformed},
      {"Joe <joe(c)@example.org>", kMalformed},
      {"Joe <(c)joe@example.org>", kMalformed},
      {"Joe <joe@example.org(c)>", kMalformed},
      {"Joe <joe@\n example.org>", kMalformed},
      {"Joe <joe @example.org>", kMalformed},
      {"\"joe\" . doe@example.org", kMalformed},
      {"\"joe\".doe@example.org", kMalformed},
      {"joe\"doe\"@example.org", kMalformed},
      // Not an address for the canonicaliser either.
      {"joe@example..org", kMalformed},
      {"<@relay.example:joe..doe@example.org>", kMalformed},
      {"joe..doe@example.org evil@example.net", kMalformed},
      {"joe..doe@evil.example <joe@example.org>", kMalformed},
      {"joe.(c).doe@example.org", kMalformed},
      {".. joe@example.org", kMalformed},
      {"joe@exa$mple.org", kMalformed},
      {"joe@[evil]", kMalformed},
      {"joe,doe@example.org", kMalformed},
      {"jo:e@example.org", kMalformed},
      // Encoded words where an address should be.
      {"=?utf-8?q?joe=40example=2Eorg?=", kMalformed},
      {"=?utf-8?q?Joe_=3Cjoe=40example=2Eorg=3E?=", kMalformed},
      {"=?utf-8?q?joe?=@example.org", kMalformed},
      {"<=?utf-8?q?joe=40example.org?=>", kMalformed},
      {"Joe <=?utf-8?q?joe?=@example.org>", kMalformed},
      {"=?utf-8?b?Ym9zc0BiYW5rLmV4YW1wbGU=?==?utf-8?q?=00?=@example.org", kMalformed},
      {"\"=?utf-8?q?joe?=\"@example.org", kMalformed},
      {"=?utf-8?q?joe@example.org (?=)", kMalformed},
      // The tab is a part of the local part, which no list can have.
      {"\"joe\tdoe\"@example.org", kMalformed},
      {"Joe\r\n <\"joe\r\n\tdoe\"@example.org>", kMalformed},
      // Lines and bytes that end a field, or a string, for some.
      {"joe@example.org\nBcc: evil@example.net", kMalformed},
      {"joe@example.org\r\nBcc: evil@example.net", kMalformed},
      {"joe@example.org\n", kMalformed},
      {"joe@example.org\r", kMalformed},
      {"Joe\r <joe@example.org>", kMalformed},
      {"Joe\r\r\n <joe@example.org>", kMalformed},
      {"joe@example.org\0evil@example.net"sv, kMalformed},
      {"joe@example.org\0"sv, kMalformed},
      {"Joe\0 <joe@example.org>"sv, kMalformed},
      {"\"Joe\0\" <joe@example.org>"sv, kMalformed},
      {"Joe \x01 <joe@example.org>", kMalformed},
      {"Joe \x1b$B <joe@example.org>", kMalformed},
      {"Joe \x7f <joe@example.org>", kMalformed},
      {"Joe \u0085 <joe@example.org>", kMalformed},
      {"Joe \u2028 <joe@example.org>", kMalformed},
      {"J\xf8rn <joe@example.org>", kMalformed},
      {"\x83\x5c\" <joe@example.org>", kMalformed},
      {"joe@m\xfcller.example", kMalformed},
  };
  for (const auto& [field, want] : cases) {
    CAPTURE(field);
    CHECK(parse(field) == HeaderFrom{want});
  }
}

TEST_CASE("a quoted name with an at sign gives no mailbox if it was folded inside its quotes") {
  for (const char* const end : {"\r\n ", "\n ", "\r\n\t"}) {
    const std::string fold = end;
    CHECK(parse("\"joe@bank.example" + fold + "x\" <joe@example.org>").kind == kMalformed);
    CHECK(parse("\"x" + fold + "joe@bank.example\" <joe@example.org>").kind == kMalformed);
    CHECK(parse("(5\" disk) \"joe@bank.example" + fold + "\" <joe@example.org>").kind == kMalformed);
    CHECK(parse("\"joe@example.org\"" + fold + "<joe@example.org>") == mailbox("joe@example.org"));
    CHECK(parse("\"Joe" + fold + "Doe\" <joe@example.org>") == mailbox("joe@example.org"));
    CHECK(parse("(joe@bank" + fold + "example) \"Joe\" <joe@example.org>") == mailbox("joe@example.org"));
  }
}

TEST_CASE("a From field whose mailbox is doubtful only for the second reader gives none") {
  // GMime takes no dot for the start of a name, and no literal for one, and may find a group in the quotes behind it.
  // What another program then sees nobody knows.
  for (const char* const field : {".. <joe@example.org>", ".Joe Doe <joe@example.org>", "[] <joe@example.org>",
                                  ". example.org <joe@example.org>", "[] \"a,b\" \"a:b;\" <joe@example.org>"}) {
    INFO(field);
    CHECK(parse(field).kind == kMalformed);
  }
}

TEST_CASE("a message without a From field, or with more than one, has no From mailbox") {
  CHECK(parse_header_from({}).kind == HeaderFromKind::absent);
  const std::vector<std::string_view> two = {"joe@example.org", "joe@example.org"};
  CHECK(parse_header_from(two).kind == HeaderFromKind::several_fields);
  const std::vector<std::string_view> one_empty = {"joe@example.org", ""};
  CHECK(parse_header_from(one_empty).kind == HeaderFromKind::several_fields);
}

TEST_CASE("a From field is read up to a bound") {
  const std::string_view address = " <joe@example.org>";
  const std::string local_part(kMaxLocalPartBytes - 10, 'j');
  CHECK(parse("Joe <" + local_part + "@example.org>") == mailbox(local_part + "@example.org"));
  CHECK(parse("Joe <" + local_part + "j@example.org>").kind == kMalformed);
  const std::string longest = std::string(kMaxHeaderFromBytes - address.size(), 'J') + std::string(address);
  CHECK(parse(longest) == mailbox("joe@example.org"));
  CHECK(parse(longest + " ").kind == kMalformed);
  CHECK(parse(std::string(kMaxHeaderFromBytes, '(')).kind == kMalformed);
  CHECK(parse(std::string(kMaxHeaderFromBytes, '<')).kind == kMalformed);
  CHECK(parse(std::string(kMaxHeaderFromBytes, ':')).kind != HeaderFromKind::one_mailbox);
}

// A field with a comment is always read by both readers, and one of the usual form by ours alone.
TEST_CASE("a From field of the usual form has the same mailbox as with a comment after it") {
  constexpr std::string_view kPieces[] = {"joe", "J.", "Doe", "j-d", "e_1", "a+b", "7",  " ", " ", ".", "..",
                                          "-",   "_",  "+",   ",",   "'",   "\"",  "\"", "<", ">", "@", "example.org"};
  std::mt19937 random(20261126);
  const auto pieces = [&](std::size_t most) {
    std::string text;
    for (std::size_t left = random() % (most + 1); left != 0; --left) text += kPieces[random() % std::size(kPieces)];
    return text;
  };
  std::vector<std::string> different;
  std::size_t mailboxes = 0;
  for (int round = 0; round < 40'000; ++round) {
    const std::string address =
        (random() % 4 == 0 ? pieces(3) : "joe") + "@example.org" + (random() % 16 == 0 ? "." : "");
    const std::string field = random() % 4 == 0   ? pieces(8)
                              : random() % 4 == 0 ? address
                                                  : pieces(5) + "<" + address + ">";
    const HeaderFrom from = parse(field);
    mailboxes += from.kind == HeaderFromKind::one_mailbox ? 1 : 0;
    const HeaderFrom with_comment = parse(field + " (x)");
    const bool is_one = from.kind == HeaderFromKind::one_mailbox || with_comment.kind == HeaderFromKind::one_mailbox;
    if (is_one && from != with_comment) different.push_back(field);
  }
  CHECK(different == std::vector<std::string>());
  CHECK(mailboxes > 5'000);
}

TEST_CASE("many threads read From fields at once") {
  std::vector<int> found(8);
  test::at_once(8, [&found](int number) {
    int& count = found[static_cast<std::size_t>(number)];
    for (int round = 0; round < 500; ++round) {
      count += parse("=?iso-8859-1?q?J=F8rn?= <joe@example.org>") == mailbox("joe@example.org") ? 1 : 0;
      count += parse("Friends: joe@example.org, jane@example.org;").kind == kSeveral ? 1 : 0;
    }
  });
  CHECK(found == std::vector<int>(8, 1000));
}

}  // namespace
}  // namespace bloomgate
