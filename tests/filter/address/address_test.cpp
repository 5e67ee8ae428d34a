#include "filter/address/address.hpp"

#include <map>
#include <random>
#include <set>
#include <vector>

#include "address_wording.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::string_literals;

constexpr AddressProfile kFold{.keep_local_part_case = false};
constexpr AddressProfile kKeep{.keep_local_part_case = true};

struct Row {
  std::string name;
  std::string input;
  std::string want;  // wording() of the entry
};

std::string rejected(RejectReason reason) {
  return "rejected: " + std::string(reject_reason_name(reason));
}

// What a path and a line of a list come to alike.
const std::vector<Row>& common_rows() {
  static const std::vector<Row> rows = {
      // Plain addresses
      {"an address", "joe@example.org", "joe@example.org"},
      {"an address in brackets", "<joe@example.org>", "joe@example.org"},
      {"a domain in mixed case", "joe@Example.ORG", "joe@example.org"},
      {"a dot after the domain", "joe@example.org.", "joe@example.org"},
      {"a dot after the domain, in brackets", "<joe@example.org.>", "joe@example.org"},
      {"the shortest address", "a@b", "a@b"},
      {"digits only", "1@2", "1@2"},
      {"a dot in the local part", "joe.doe@example.org", "joe.doe@example.org"},
      {"many dots in the local part", "a.b.c.d@example.org", "a.b.c.d@example.org"},
      {"a tag", "joe+tag@example.org", "joe+tag@example.org"},
      {"every special character of an atom", "a!#$%&'*+-/=?^_`{|}~@example.org", "a!#$%&'*+-/=?^_`{|}~@example.org"},
      {"a hyphen first in the local part", "-joe-@example.org", "-joe-@example.org"},
      {"space round it", "  joe@example.org  ", "joe@example.org"},
      {"space round the brackets", " <joe@example.org> ", "joe@example.org"},
      {"a domain of one label", "root@localhost", "root@localhost"},
      {"a hyphen in a label", "joe@my-host.example", "joe@my-host.example"},
      {"two hyphens in the third and fourth place", "joe@r3---sn.example", "joe@r3---sn.example"},
      {"an underscore in a label", "joe@_dmarc.my_host.example", "joe@_dmarc.my_host.example"},
      {"a domain of digits", "joe@123.example", "joe@123.example"},
      {"a bare IPv4 address is a name like any other", "joe@192.0.2.1", "joe@192.0.2.1"},
      // RFC 3696 section 3, RFC 5321 appendix D, RFC 5322 appendix A
      {"RFC 3696: user+mailbox", "user+mailbox@example.com", "user+mailbox@example.com"},
      {"RFC 3696: slash and equals sign", "customer/department=shipping@example.com",
       "customer/department=shipping@example.com"},
      {"RFC 3696: dollar sign", "$A12345@example.com", "$a12345@example.com"},
      {"RFC 3696: bangs and per cent", "!def!xyz%abc@example.com", "!def!xyz%abc@example.com"},
      {"RFC 3696: underscore", "_somename@example.com", "_somename@example.com"},
      {"RFC 3696: escaped at sign", R"("Abc\@def"@example.com)", R"("abc@def"@example.com)"},
      {"RFC 3696: escaped space", R"("Fred\ Bloggs"@example.com)", R"("fred bloggs"@example.com)"},
      {"RFC 3696: escaped backslash", R"("Joe.\\Blow"@example.com)", R"("joe.\\blow"@example.com)"},
      {"RFC 3696: quoted at sign", R"("Abc@def"@example.com)", R"("abc@def"@example.com)"},
      {"RFC 3696: quoted space", R"("Fred Bloggs"@example.com)", R"("fred bloggs"@example.com)"},
      {"RFC 3696 as first published: escapes without quotes", R"(Abc\@def@example.com)",
       "rejected: bad-local-part-character"},
      {"RFC 5321: a mailbox", "<Smith@bar.com>", "smith@bar.com"},
      {"RFC 5321: a source route", "<@hosta.int,@jkl.org:userc@d.bar.org>", "userc@d.bar.org"},
      {"RFC 5321: an IPv4 literal", "joe@[123.255.37.2]", "joe@[123.255.37.2]"},
      {"RFC 5322: an obsolete local part of two quoted words", R"("a"."b"@example.com)",
       "rejected: bad-local-part-character"},
      {"RFC 5322: a comment is not for envelopes", "joe(comment)@example.org", "rejected: bad-local-part-character"},
      // Quotes
      {"needless quotes", R"("joe"@example.org)", "joe@example.org"},
      {"needless quotes in brackets", R"(<"joe.doe"@example.org>)", "joe.doe@example.org"},
      {"needless quotes and escapes", R"("\j\o\e"@example.org)", "joe@example.org"},
      {"an escaped letter in upper case", R"("\J"@example.org)", "j@example.org"},
      {"an empty quoted string", R"(""@example.org)", R"(""@example.org)"},
      {"a quoted space", R"(" "@example.org)", R"(" "@example.org)"},
      {"two dots in quotes", R"("a..b"@example.org)", R"("a..b"@example.org)"},
      {"a dot first in quotes", R"(".a"@example.org)", R"(".a"@example.org)"},
      {"a dot last in quotes", R"("a."@example.org)", R"("a."@example.org)"},
      {"a dot alone in quotes", R"("."@example.org)", R"("."@example.org)"},
      {"a quote in quotes", R"("a\"b"@example.org)", R"("a\"b"@example.org)"},
      {"a quote alone in quotes", R"("\""@example.org)", R"("\""@example.org)"},
      {"a backslash in quotes", R"("a\\b"@example.org)", R"("a\\b"@example.org)"},
      {"brackets in quotes", R"(<"a<b>c"@example.org>)", R"("a<b>c"@example.org)"},
      {"a comma in quotes", R"("a,b"@example.org)", R"("a,b"@example.org)"},
      {"an escaped comma needs no escape", R"("a\,b"@example.org)", R"("a,b"@example.org)"},
      {"a quoted number sign after space", R"("a #b"@example.org)", R"("a #b"@example.org)"},
      {"a quoted at sign and a comma in a route", R"(<@relay.example:"a@b,c"@example.org>)", R"("a@b,c"@example.org)"},
      {"nothing quoted is lost to the fast path", R"("a b".c@example.org)", "rejected: bad-local-part-character"},
      {"text after the quotes", R"("a"b@example.org)", "rejected: bad-local-part-character"},
      {"quotes after text", R"(a"b"@example.org)", "rejected: bad-local-part-character"},
      {"an escaped character beyond ASCII", "\"\\é\"@example.org", "rejected: bad-local-part-character"},
      {"a missing quote", R"("joe@example.org)", "rejected: unterminated-quote"},
      {"a missing quote in brackets", R"(<"joe@example.org>)", "rejected: unterminated-quote"},
      {"an escaped last quote", R"("joe\"@example.org)", "rejected: unterminated-quote"},
      {"a backslash at the end", R"("joe\)", "rejected: unterminated-quote"},
      {"a quote alone", "\"", "rejected: unterminated-quote"},
      {"a quoted string without a domain", R"("joe")", "rejected: missing-at-sign"},
      // Source routes
      {"a route of one hop", "<@relay.example:joe@example.org>", "joe@example.org"},
      {"a route of three hops", "<@a,@b,@c:joe@example.org>", "joe@example.org"},
      {"a route through literals", "<@[192.0.2.1],@[IPv6:2001:db8::1]:joe@example.org>", "joe@example.org"},
      {"a route through an internationalised host", "<@müller.example:joe@example.org>", "joe@example.org"},
      {"a route to a quoted local part", R"(<@a:"b c"@d>)", R"("b c"@d)"},
      {"a route without colon", "<@a,@b>", "rejected: bad-source-route"},
      {"a route with a comma too many", "<@a,:joe@example.org>", "rejected: bad-source-route"},
      {"a route without its second at sign", "<@a,b:joe@example.org>", "rejected: bad-source-route"},
      {"a route with another sign than its second at sign", "<@a,#b:joe@example.org>", "rejected: bad-source-route"},
      {"a route that ends after its comma", "<@a,", "rejected: bad-source-route"},
      {"a route through nothing", "<@:joe@example.org>", "rejected: bad-source-route"},
      {"a route through an impossible host", "<@a/b:joe@example.org>", "rejected: bad-source-route"},
      {"a route through an impossible literal", "<@[1.2.3]:joe@example.org>", "rejected: bad-source-route"},
      {"a route through a literal without end", "<@[IPv6:::1:joe@example.org>", "rejected: bad-source-route"},
      {"a route through a host and a word", "<@a,@b c:joe@example.org>", "rejected: bad-source-route"},
      {"a route through a host and a word, first", "<@a b:joe@example.org>", "rejected: empty-local-part"},
      {"a route through a host and a TAB, first", "<@a\tb:joe@example.org>", "rejected: empty-local-part"},
      {"a route that goes on behind a bracket", "<@a,@b>@c:joe@example.org>", "rejected: bad-source-route"},
      {"a route that goes on behind a space", "<@a,@b @c:joe@example.org>", "rejected: bad-source-route"},
      {"a route to nobody", "<@a:@example.org>", "rejected: empty-local-part"},
      {"a route to somebody without a domain", "<@a:joe>", "rejected: missing-at-sign"},
      {"a route to nothing", "<@a:>", "rejected: missing-at-sign"},
      // Address literals
      {"an IPv6 literal", "joe@[IPv6:2001:db8::1]", "joe@[ipv6:2001:db8::1]"},
      {"an IPv6 literal in long form", "joe@[ipv6:2001:0DB8:0:0:0:0:0:0001]", "joe@[ipv6:2001:db8::1]"},
      {"an IPv6 literal with an IPv4 tail", "joe@[IPv6:::ffff:192.0.2.1]", "joe@[ipv6:::ffff:192.0.2.1]"},
      {"the longest IPv6 literal", "joe@[IPv6:1111:2222:3333:4444:5555:6666:123.123.123.123]",
       "joe@[ipv6:1111:2222:3333:4444:5555:6666:7b7b:7b7b]"},
      {"an IPv6 literal in brackets", "<joe@[IPv6:::1]>", "joe@[ipv6:::1]"},
      {"the unspecified address", "joe@[IPv6:::]", "joe@[ipv6:::]"},
      {"an IPv4 literal of three numbers", "joe@[192.0.2]", "rejected: bad-address-literal"},
      {"an IPv4 literal with a leading zero", "joe@[192.0.02.1]", "rejected: bad-address-literal"},
      {"an IPv4 literal out of range", "joe@[192.0.2.256]", "rejected: bad-address-literal"},
      {"an IPv4 literal tagged as IPv6", "joe@[IPv6:192.0.2.1]", "rejected: bad-address-literal"},
      {"an IPv6 literal without its tag", "joe@[2001:db8::1]", "rejected: bad-address-literal"},
      {"an IPv6 literal with a zone", "joe@[IPv6:fe80::1%eth0]", "rejected: bad-address-literal"},
      {"a literal of another kind", "joe@[x400:c=de]", "rejected: bad-address-literal"},
      {"an empty literal", "joe@[]", "rejected: bad-address-literal"},
      {"an empty IPv6 literal", "joe@[IPv6:]", "rejected: bad-address-literal"},
      {"a literal without its end", "joe@[192.0.2.11", "rejected: bad-address-literal"},
      {"a literal's start alone", "joe@[", "rejected: bad-address-literal"},
      {"a literal and a dot", "joe@[192.0.2.1].", "rejected: bad-address-literal"},
      {"a literal one octet longer than an IPv6 address", "joe@[IPv6:" + repeat("0", 46) + "]",
       "rejected: bad-address-literal"},
      {"a literal too long for any address", "joe@[IPv6:" + repeat("0", 60) + "::1]", "rejected: bad-address-literal"},
      // What is not there
      {"no at sign", "joe", "rejected: missing-at-sign"},
      {"no at sign, in brackets", "<joe>", "rejected: missing-at-sign"},
      {"no at sign, a domain", "example.org", "rejected: missing-at-sign"},
      {"no at sign, a domain with a dot at its end", "example.org.", "rejected: missing-at-sign"},
      {"brackets round a space", "< >", "rejected: missing-at-sign"},
      {"one bracket", "<", "rejected: missing-at-sign"},
      {"the other bracket", ">", "rejected: missing-at-sign"},
      {"no local part, in brackets", "<@example.org>", "rejected: empty-local-part"},
      {"no local part and space", "<@example.org >", "rejected: empty-local-part"},
      {"no domain", "joe@", "rejected: empty-domain"},
      {"no domain, in brackets", "<joe@>", "rejected: empty-domain"},
      {"a dot for a domain", "joe@.", "rejected: empty-domain"},
      // Brackets
      {"a bracket that is not closed", "<joe@example.org", "rejected: unbalanced-brackets"},
      {"a bracket that was not opened", "joe@example.org>", "rejected: unbalanced-brackets"},
      {"a bracket that was not opened, and a domain that needs the grammar", "joe@müller.example>",
       "rejected: unbalanced-brackets"},
      {"two brackets", "<<joe@example.org>>", "rejected: bad-local-part-character"},
      {"a bracket too many at the end", "<joe@example.org>>", "rejected: trailing-text"},
      {"space inside the brackets", "< joe@example.org>", "rejected: bad-local-part-character"},
      {"space before the closing bracket", "<joe@example.org >", "rejected: bad-domain-character"},
      {"text after the brackets", "<joe@example.org>x", "rejected: trailing-text"},
      {"a number sign after the brackets", "<joe@example.org>#x", "rejected: trailing-text"},
      // Local parts
      {"two dots in a row", "a..b@example.org", R"("a..b"@example.org)"},
      {"a dot first", ".a@example.org", R"(".a"@example.org)"},
      {"a dot last", "a.@example.org", R"("a."@example.org)"},
      {"a dot last, in brackets", "<Docomo.@Example.org.>", R"("docomo."@example.org)"},
      {"nothing but a dot", ".@example.org", R"("."@example.org)"},
      {"nothing but dots", "....@example.org", R"("...."@example.org)"},
      {"a dot first, behind a route", "<@relay.example:.a@example.org>", R"(".a"@example.org)"},
      {"dots anywhere and a domain that needs the grammar", ".a..b.@müller.example",
       R"(".a..b."@xn--mller-kva.example)"},
      {"two dots beside a letter beyond ASCII", "É..b@example.org", R"("é..b"@example.org)"},
      {"a comma", "joe,doe@example.org", "rejected: bad-local-part-character"},
      {"a colon", "joe:doe@example.org", "rejected: bad-local-part-character"},
      {"a semicolon", "joe;doe@example.org", "rejected: bad-local-part-character"},
      {"parentheses", "(joe)@example.org", "rejected: bad-local-part-character"},
      {"a bracket inside", "joe>x@example.org", "rejected: bad-local-part-character"},
      {"a square bracket", "joe[1]@example.org", "rejected: bad-local-part-character"},
      // Domains
      {"two dots in the domain", "joe@example..org", "rejected: empty-label"},
      {"a dot first in the domain", "joe@.example.org", "rejected: empty-label"},
      {"two dots after the domain", "joe@example.org..", "rejected: empty-label"},
      {"two at signs", "joe@doe@example.org", "rejected: bad-domain-character"},
      {"a slash in the domain", "joe@example/org", "rejected: bad-domain-character"},
      {"a colon in the domain", "joe@example.org:25", "rejected: bad-domain-character"},
      {"a comma after the domain", "joe@example.org,", "rejected: bad-domain-character"},
      {"a quote in the domain", "joe@\"example\".org", "rejected: bad-domain-character"},
      {"an asterisk for a label", "joe@*.example.org", "rejected: bad-domain-character"},
      {"a hyphen first in a label", "joe@-example.org", "joe@-example.org"},
      {"a hyphen last in a label", "joe@example-.org", "joe@example-.org"},
      {"a hyphen last in the domain", "joe@example.org-", "joe@example.org-"},
      {"a hyphen first in the last label", "joe@example.-org", "joe@example.-org"},
      {"a hyphen for a label", "joe@-", "joe@-"},
      // Control characters and bytes that are no text
      {"NUL in the local part", "jo\0e@example.org"s, "rejected: control-character"},
      {"NUL in the domain", "joe@example\0.org"s, "rejected: control-character"},
      {"NUL at the end", "joe@example.org\0"s, "rejected: control-character"},
      {"NUL at the start", "\0joe@example.org"s, "rejected: control-character"},
      {"NUL alone", "\0"s, "rejected: control-character"},
      {"NUL in a literal", "joe@[192.0.2.1\0]"s, "rejected: control-character"},
      {"NUL after the brackets", "<joe@example.org>\0"s, "rejected: control-character"},
      {"NUL in a route", "<@a\0:joe@example.org>"s, "rejected: control-character"},
      {"NUL after the null sender's brackets", "<>\0"s, "rejected: control-character"},
      {"TAB in the local part", "jo\te@example.org", "rejected: control-character"},
      {"TAB in quotes", "\"jo\te\"@example.org", "rejected: control-character"},
      {"TAB in brackets", "<joe@example.org\t>", "rejected: control-character"},
      {"DEL in the domain", "joe@example\x7f.org", "rejected: control-character"},
      {"DEL in quotes", "\"jo\x7f\"@example.org", "rejected: control-character"},
      {"a control character in a literal", "joe@[192.0.2.1\x01]", "rejected: control-character"},
      {"a control character after the brackets", "<joe@example.org>\x01", "rejected: control-character"},
      {"a line end in the middle", "joe@example.org\njim@example.org", "rejected: control-character"},
      {"a carriage return in the middle", "joe@example.org\rjim@example.org", "rejected: control-character"},
      {"a line end after the brackets", "<joe@example.org>\nx", "rejected: control-character"},
      {"an escaped line end in quotes", "\"a\\\nb\"@example.org", "rejected: control-character"},
      {"U+0080", "jo\u0080e@example.org", "rejected: control-character"},
      {"U+009F", "jo\u009fe@example.org", "rejected: control-character"},
      {"U+0085, the next line", "joe@exa\u0085mple.org", "rejected: control-character"},
      {"U+2028, the line separator", "jo\u2028e@example.org", "rejected: control-character"},
      {"U+2029, the paragraph separator, in quotes", "\"jo\u2029e\"@example.org", "rejected: control-character"},
      {"U+FEFF, the byte-order mark, in the middle", "jo\ufeffe@example.org", "rejected: control-character"},
      {"U+00A0 is no control character", "jo\u00a0e@example.org", "jo\u00a0e@example.org"},
      {"Latin-1 in the local part", "j\xf6@example.org", "rejected: invalid-utf8"},
      {"Latin-1 in the domain", "joe@m\xfcller.example", "rejected: invalid-utf8"},
      {"Latin-1 in quotes", "\"j\xf6\"@example.org", "rejected: invalid-utf8"},
      {"a sequence cut off", "jo\xc3@example.org", "rejected: invalid-utf8"},
      {"an overlong slash", "jo\xc0\xaf@example.org", "rejected: invalid-utf8"},
      {"an overlong NUL", "jo\xc0\x80@example.org", "rejected: invalid-utf8"},
      {"half of a surrogate pair", "jo\xed\xa0\x80@example.org", "rejected: invalid-utf8"},
      {"beyond Unicode", "jo\xf4\x90\x80\x80@example.org", "rejected: invalid-utf8"},
      {"a stray continuation byte", "\x80@example.org", "rejected: invalid-utf8"},
      // Limits
      {"a local part of 64 octets", std::string(64, 'a') + "@b", std::string(64, 'a') + "@b"},
      {"a local part of 65 octets", std::string(65, 'a') + "@b", std::string(65, 'a') + "@b"},
      {"a mailing list's sender",
       "<List-Return-1680-some-reader-with-quite-a-long-name=mailbox.example.ORG@lists.example.com>",
       "list-return-1680-some-reader-with-quite-a-long-name=mailbox.example.org@lists.example.com"},
      {"a local part of 252 octets", std::string(252, 'a') + "@b", std::string(252, 'a') + "@b"},
      {"a local part of 253 octets", std::string(253, 'a') + "@b", "rejected: address-too-long"},
      {"a quoted local part of 252 octets", "\" " + std::string(249, 'a') + "\"@b",
       "\" " + std::string(249, 'a') + "\"@b"},
      {"a quoted local part of 253 octets", "\" " + std::string(250, 'a') + "\"@b", "rejected: address-too-long"},
      {"250 octets that get quotes", "." + std::string(249, 'a') + "@b", "\"." + std::string(249, 'a') + "\"@b"},
      {"251 octets that get quotes", "." + std::string(250, 'a') + "@b", "rejected: address-too-long"},
      {"252 octets in needless quotes", "\"" + std::string(252, 'a') + "\"@b", std::string(252, 'a') + "@b"},
      {"252 octets, each with a needless escape", "\"" + repeat("\\a", 252) + "\"@b", std::string(252, 'a') + "@b"},
      {"253 octets in needless quotes", "\"" + std::string(253, 'a') + "\"@b", "rejected: address-too-long"},
      {"252 octets with escapes that are needed", "\"" + repeat("\\\"", 125) + "\"@b",
       "\"" + repeat("\\\"", 125) + "\"@b"},
      {"254 octets with escapes that are needed", "\"" + repeat("\\\"", 126) + "\"@b", "rejected: address-too-long"},
      {"a local part as long as the input may be", std::string(2046, 'a') + "@b", "rejected: address-too-long"},
      {"a label of 63 octets", "a@" + std::string(63, 'b') + ".c", "a@" + std::string(63, 'b') + ".c"},
      {"a label of 64 octets", "a@" + std::string(64, 'b') + ".c", "rejected: label-too-long"},
      {"a last label of 64 octets", "a@b." + std::string(64, 'c'), "rejected: label-too-long"},
      {"an address of 254 octets", "a@" + domain_of(252), "a@" + domain_of(252)},
      {"an address of 254 octets and a dot", "a@" + domain_of(252) + ".", "a@" + domain_of(252)},
      {"an address of 255 octets", "a@" + domain_of(253), "rejected: address-too-long"},
      {"an address of 254 octets, 64 of them local", std::string(64, 'a') + "@" + domain_of(189),
       std::string(64, 'a') + "@" + domain_of(189)},
      {"an address of 255 octets, 64 of them local", std::string(64, 'a') + "@" + domain_of(190),
       "rejected: address-too-long"},
      {"an address of 254 octets, 127 of them local", std::string(127, 'a') + "@" + domain_of(126),
       std::string(127, 'a') + "@" + domain_of(126)},
      {"an address of 255 octets, 128 of them local", std::string(128, 'a') + "@" + domain_of(126),
       "rejected: address-too-long"},
      {"an address with a domain of 255 octets", "a@" + domain_of(255), "rejected: address-too-long"},
      {"an address with a domain of 256 octets", "a@" + domain_of(256), "rejected: domain-too-long"},
      {"a route with a long domain before a short address", "<@" + domain_of(255) + ":a@b>", "a@b"},
      {"a route with a domain of 256 octets", "<@" + domain_of(256) + ":a@b>", "rejected: bad-source-route"},
      {"2048 octets", std::string(1024, ' ') + "a@b" + std::string(1021, ' '), "a@b"},
      {"2049 octets", std::string(1024, ' ') + "a@b" + std::string(1022, ' '), "rejected: too-long"},
      {"2049 octets of anything", std::string(2049, '\0'), "rejected: too-long"},
  };
  return rows;
}

const std::vector<Row>& path_rows() {
  static const std::vector<Row> rows = {
      {"the null sender", "<>", "null sender"},
      {"the null sender with parameters", "<> BODY=8BITMIME", "null sender"},
      {"the null sender with space round it", " <> ", "null sender"},
      {"the null sender and text", "<>x", "rejected: trailing-text"},
      {"nothing", "", "rejected: missing-at-sign"},
      {"nothing but space", "   ", "rejected: missing-at-sign"},
      {"one parameter", "<joe@example.org> SIZE=1000", "joe@example.org"},
      {"several parameters", "<joe@example.org> SIZE=1 BODY=8BITMIME SMTPUTF8", "joe@example.org"},
      {"a parameter with brackets", "<joe@example.org> AUTH=<jim@example.org>", "joe@example.org"},
      {"a parameter after a path without brackets", "joe@example.org SIZE=1", "joe@example.org"},
      {"a parameter that is no UTF-8", "<joe@example.org> X=\xff", "joe@example.org"},
      {"a parameter and quotes with space", R"(<"a b"@example.org> SIZE=1)", R"("a b"@example.org)"},
      {"quotes with space and no brackets", R"("a b"@example.org SIZE=1)", R"("a b"@example.org)"},
      {"a line end in a parameter", "<joe@example.org> SIZE=1\r\n", "rejected: control-character"},
      {"a line end", "<joe@example.org>\r\n", "rejected: control-character"},
      {"a TAB after the brackets", "<joe@example.org>\tSIZE=1", "rejected: control-character"},
      {"a TAB after a path without brackets", "joe@example.org\tSIZE=1", "rejected: control-character"},
      {"a TAB before the path", "\t<joe@example.org>", "rejected: control-character"},
      {"a name is no part of a path", "Mary Smith <mary@x.test>", "rejected: bad-local-part-character"},
      {"a quoted name is no part of a path", R"("Joe Q. Public" <john.q.public@example.com>)",
       "rejected: bad-local-part-character"},
      {"a bracket in the middle", "joe<doe@example.org", "rejected: bad-local-part-character"},
      {"a name and no space", "joe<doe@example.org>", "rejected: bad-local-part-character"},
      {"a parameter without its space", "<joe@example.org>SIZE=1", "rejected: trailing-text"},
      {"a user and a parameter", "<joe> AUTH=<jim@example.org>", "rejected: missing-at-sign"},
      {"a number sign first is an atom's", "#joe@example.org", "#joe@example.org"},
      {"a byte-order mark first is none of a path's", "\ufeffjoe@example.org", "rejected: control-character"},
      {"a route without brackets", "@relay.example:joe@example.org", "joe@example.org"},
      {"a domain is not a path", "@example.org", "rejected: empty-local-part"},
      {"a domain tree is not a path", "@.example.org", "rejected: empty-local-part"},
      {"an at sign alone", "@", "rejected: empty-local-part"},
      {"a literal is not a path", "@[192.0.2.1]", "rejected: empty-local-part"},
  };
  return rows;
}

const std::vector<Row>& line_rows() {
  static const std::vector<Row> rows = {
      // Nothing
      {"nothing", "", "blank"},
      {"nothing but space and TAB", " \t ", "blank"},
      {"a line end", "\n", "blank"},
      {"a CR LF", "\r\n", "blank"},
      {"a byte-order mark", "\ufeff", "blank"},
      {"a comment", "# joe@example.org", "blank"},
      {"a comment that looks like an address", "#joe@example.org", "blank"},
      {"a comment after space", " \t# x", "blank"},
      {"a comment after a byte-order mark", "\ufeff# x\r\n", "blank"},
      {"a comment with a TAB", "#\tx", "blank"},
      {"a comment that is no UTF-8", "# M\xfcller", "blank"},
      {"a comment of 2048 octets and a CR LF", "#" + std::string(2047, 'x') + "\r\n", "blank"},
      {"a comment of 2049 octets", "#" + std::string(2048, 'x'), "rejected: too-long"},
      {"a comment with NUL", "# \0"s, "rejected: control-character"},
      {"a comment with a line in it that ends the old Mac way", "# x\rjoe@example.org", "rejected: control-character"},
      {"two lines in one, the first a comment", "# x\njoe@example.org", "rejected: control-character"},
      {"a line end in a comment after an address", "joe@example.org # x\nann@example.org",
       "rejected: control-character"},
      {"a carriage return more than a line end has", "joe@example.org\r\r\n", "rejected: control-character"},
      {"two carriage returns", "joe@example.org\r\r", "rejected: control-character"},
      {"a TAB after a word that is no address", "joe\t", "rejected: missing-at-sign"},
      {"a comment after a domain and a TAB", "@example.org\t# x", "@example.org"},
      {"a comment after a tree and a TAB", "@.example.org\t# x", "@.example.org"},
      {"a quote in a name that is not closed", "Joe \"Doe <joe@example.org>", "rejected: bad-local-part-character"},
      {"a quote before a name that is not closed", "\"Joe Doe <joe@example.org>", "rejected: unterminated-quote"},
      // Round an address
      {"a line end after an address", "joe@example.org\n", "joe@example.org"},
      {"a CR LF after an address", "joe@example.org\r\n", "joe@example.org"},
      {"a CR after an address", "joe@example.org\r", "joe@example.org"},
      {"a CR LF after brackets", "<joe@example.org>\r\n", "joe@example.org"},
      {"two line ends", "joe@example.org\n\n", "rejected: control-character"},
      {"TABs round an address", "\tjoe@example.org\t", "joe@example.org"},
      {"space before the line end", "joe@example.org \t \r\n", "joe@example.org"},
      {"a byte-order mark before an address", "\ufeffjoe@example.org", "joe@example.org"},
      {"a byte-order mark and brackets", "\ufeff <joe@example.org>", "joe@example.org"},
      {"a byte-order mark after space", " \ufeffjoe@example.org", "rejected: control-character"},
      {"two byte-order marks", "\ufeff\ufeffjoe@example.org", "rejected: control-character"},
      {"a comment after an address", "joe@example.org # a friend", "joe@example.org"},
      {"a comment after a TAB", "joe@example.org\t#", "joe@example.org"},
      {"a comment after brackets", "<joe@example.org> # <a@b>", "joe@example.org"},
      {"a comment with TAB after an address", "joe@example.org # a\tb", "joe@example.org"},
      {"a comment with NUL after an address", "joe@example.org # \0"s, "rejected: control-character"},
      {"a comment after quotes with space", R"("a b"@example.org #x)", R"("a b"@example.org)"},
      {"a number sign without space is no comment", "joe@example.org#x", "rejected: bad-domain-character"},
      {"a number sign first, in brackets", "<#joe@example.org>", "#joe@example.org"},
      {"a number sign first, in quotes", R"("#joe"@example.org)", "#joe@example.org"},
      {"a word after an address", "joe@example.org OK", "rejected: trailing-text"},
      {"another address after an address", "joe@example.org jim@example.org", "rejected: trailing-text"},
      {"another address after brackets", "<joe@example.org> <jim@example.org>", "rejected: trailing-text"},
      {"a comma after brackets", "<joe@example.org>, <jim@example.org>", "rejected: trailing-text"},
      {"a control character after space", "joe@example.org \x01", "rejected: control-character"},
      // Display names
      {"RFC 5322: a name before the address", "Mary Smith <mary@x.test>", "mary@x.test"},
      {"RFC 5322: a quoted name before the address", R"("Joe Q. Public" <john.q.public@example.com>)",
       "john.q.public@example.com"},
      {"a name and a comment", "Joe <joe@example.org> # a friend", "joe@example.org"},
      {"a name and a CR LF", "\"Joe\" <Joe@example.org>\r\n", "joe@example.org"},
      {"a name and a TAB", "Joe\t<joe@example.org>", "joe@example.org"},
      {"a name and no space", "\"Joe\"<joe@example.org>", "joe@example.org"},
      {"a name that is empty", "\"\" <joe@example.org>", "joe@example.org"},
      {"a name beyond ASCII", "Jörg Müller <jörg@müller.example>", "jörg@xn--mller-kva.example"},
      {"a name with a comma in quotes", R"("Doe, Joe" <joe@example.org>)", "joe@example.org"},
      {"a name with a bracket in quotes", R"("Joe <3" <joe@example.org>)", "joe@example.org"},
      {"a name with quotes in quotes", R"("Joe \"the\" Doe" <joe@example.org>)", "joe@example.org"},
      {"a name with quotes in the middle", R"(Joe "the" Doe <joe@example.org>)", "joe@example.org"},
      {"a name with a comment in it", "Joe (work) O'Doe <joe@example.org>", "joe@example.org"},
      {"a name that is an encoded word", "=?utf-8?q?J=C3=B6rg?= <joe@example.org>", "joe@example.org"},
      {"a name before a quoted local part", R"(Joe <"two words"@example.org>)", R"("two words"@example.org)"},
      {"a name before dots anywhere", "Joe <.joe@example.org>", R"(".joe"@example.org)"},
      {"the address again for a name", "joe@example.org <Joe@Example.org>", "joe@example.org"},
      {"the address again in quotes", R"("Joe@example.org" <joe@example.org>)", "joe@example.org"},
      {"the address again in both quotes", R"("'joe@example.org'" <joe@example.org> # x)", "joe@example.org"},
      {"the address again, and more", "joe@example.org x <joe@example.org>", "rejected: trailing-text"},
      {"the address again in a comment", "joe@example.org # <jim@example.org>", "joe@example.org"},
      {"a local part with an address and brackets in quotes", R"("joe@x<joe@x> # "@example.org)",
       R"("joe@x<joe@x> # "@example.org)"},
      {"another address in the name's quotes", R"("boss@partner.example" <mallory@evil.example>)",
       "rejected: display-name"},
      {"an escaped at sign in the name's quotes", R"("boss\@partner.example" <mallory@evil.example>)",
       "rejected: display-name"},
      {"another address for a name", "boss@partner.example <mallory@evil.example>", "rejected: trailing-text"},
      {"another address in the name", "Boss boss@partner.example <mallory@evil.example>",
       "rejected: bad-local-part-character"},
      {"a name with a comma", "Doe, Joe <joe@example.org>", "rejected: display-name"},
      {"a name with a semicolon", "Doe; Joe <joe@example.org>", "rejected: display-name"},
      {"a name with a colon", "Friends: Joe <joe@example.org>", "rejected: display-name"},
      {"a name with a backslash", "Joe\\ <joe@example.org>", "rejected: display-name"},
      {"a name with a bracket", "Joe > Jim <joe@example.org>", "rejected: display-name"},
      {"a name with a number sign", "joe # <joe@example.org>", "rejected: display-name"},
      {"a name and two addresses", "Joe <joe@example.org>, Jim <jim@example.org>", "rejected: trailing-text"},
      {"a name before two brackets", "Joe <<joe@example.org>>", "rejected: bad-local-part-character"},
      {"a name and an open bracket", "Joe <joe@example.org", "rejected: unbalanced-brackets"},
      {"a name before nothing", "Joe <>", "rejected: missing-at-sign"},
      {"a name before a domain", "Example <@example.org>", "rejected: empty-local-part"},
      {"a name without its second quote", "\"Joe <joe@example.org>", "rejected: unterminated-quote"},
      {"a name in Latin-1", "J\xf6rg <joe@example.org>", "rejected: invalid-utf8"},
      {"a name with a control character", "Jo\x1b <joe@example.org>", "rejected: control-character"},
      {"a name with a TAB in it", "Joe\tDoe <joe@example.org>", "rejected: control-character"},
      {"a bracket in the middle", "joe<doe@example.org", "rejected: unbalanced-brackets"},
      {"a word and a comment", "joe # no domain", "rejected: missing-at-sign"},
      // The null sender
      {"the null sender", "<>", "rejected: null-sender-in-list"},
      {"the null sender with a comment", "<> # bounces", "rejected: null-sender-in-list"},
      {"the null sender with space round it", " <> \r\n", "rejected: null-sender-in-list"},
      // Domains
      {"a domain", "@example.org", "@example.org"},
      {"a domain in mixed case with a dot", "@Example.ORG.", "@example.org"},
      {"a domain with space round it", " @example.org\t\r\n", "@example.org"},
      {"a domain with a comment", "@example.org # all of them", "@example.org"},
      {"an internationalised domain", "@müller.example", "@xn--mller-kva.example"},
      {"an IPv4 literal", "@[192.0.2.1]", "@[192.0.2.1]"},
      {"an IPv6 literal", "@[IPv6:2001:DB8::1]", "@[ipv6:2001:db8::1]"},
      {"an impossible literal", "@[192.0.2.1.5]", "rejected: bad-address-literal"},
      {"a top-level domain", "@example", "@example"},
      {"a domain of 255 octets", "@" + domain_of(255), "@" + domain_of(255)},
      {"a domain of 255 octets and a dot", "@" + domain_of(255) + ".", "@" + domain_of(255)},
      {"a domain of 256 octets", "@" + domain_of(256), "rejected: domain-too-long"},
      {"a domain of more octets than a line", "@" + domain_of(2000), "rejected: domain-too-long"},
      {"a domain and a word", "@example.org OK", "rejected: trailing-text"},
      {"a domain with a number sign", "@example.org#x", "rejected: bad-domain-character"},
      {"a domain and a control character", "@example.org\x01", "rejected: control-character"},
      {"a domain in brackets", "<@example.org>", "rejected: empty-local-part"},
      {"a route without brackets", "@a:joe@example.org", "rejected: bad-domain-character"},
      {"an at sign alone", "@", "rejected: empty-domain"},
      {"an at sign and space", "@ example.org", "rejected: empty-domain"},
      {"an at sign and a comment", "@ # x", "rejected: empty-domain"},
      {"two at signs", "@@example.org", "rejected: bad-domain-character"},
      {"a domain in Latin-1", "@m\xfcller.example", "rejected: invalid-utf8"},
      // Domain trees
      {"a domain tree", "@.example.org", "@.example.org"},
      {"a domain tree in mixed case with a dot", "@.Example.ORG.", "@.example.org"},
      {"a domain tree with a comment", "@.example.org # and all below", "@.example.org"},
      {"an internationalised domain tree", "@.müller.example", "@.xn--mller-kva.example"},
      {"a domain tree of 255 octets", "@." + domain_of(255), "@." + domain_of(255)},
      {"a domain tree of 256 octets", "@." + domain_of(256), "rejected: domain-too-long"},
      {"a tree of nothing", "@.", "rejected: empty-domain"},
      {"a tree of nothing and space", "@. example.org", "rejected: empty-domain"},
      {"a tree of a tree", "@..example.org", "rejected: empty-label"},
      {"a tree of a literal", "@.[192.0.2.1]", "rejected: bad-domain-character"},
      {"a wildcard", "@*.example.org", "rejected: bad-domain-character"},
  };
  return rows;
}

// What holds for every entry whatsoever.
void check_views(const Entry& entry) {
  CHECK(entry.is_key() == !entry.key().empty());
  CHECK((entry.kind() == EntryKind::rejected) == (entry.reason() != RejectReason::none));
  CHECK(entry.local_part().empty() == (entry.kind() != EntryKind::address));
  CHECK(entry.domain().empty() == !entry.is_key());
  std::string whole;
  if (entry.kind() == EntryKind::address) whole = std::string(entry.local_part()) + "@";
  if (entry.kind() == EntryKind::domain) whole = "@";
  if (entry.kind() == EntryKind::domain_tree) whole = "@.";
  CHECK(entry.key() == whole + std::string(entry.domain()));
}

// A key given back as a line: in brackets, where it would be a comment.
std::string as_line(const Entry& entry) {
  const std::string key(entry.key());
  return key.starts_with('#') ? "<" + key + ">" : key;
}

TEST_CASE("A path comes to its address, to the null sender or to a reason") {
  for (const auto* rows : {&common_rows(), &path_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      const Entry entry = canonicalize_path(row.input, kFold);
      CHECK(wording(entry) == row.want);
      check_views(entry);
    }
  }
}

TEST_CASE("A line of a list comes to its entry, to nothing or to a reason") {
  for (const auto* rows : {&common_rows(), &line_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      const Entry entry = canonicalize_line(row.input, kFold);
      CHECK(wording(entry) == row.want);
      check_views(entry);
    }
  }
}

TEST_CASE("Keeping the case of local parts changes no outcome but the local part") {
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
        const Entry folded = canonicalize(row.input, kFold);
        const Entry kept = canonicalize(row.input, kKeep);
        CHECK(kept.kind() == folded.kind());
        CHECK(kept.reason() == folded.reason());
        CHECK(kept.domain() == folded.domain());
        check_views(kept);
        if (!kept.is_key()) continue;
        CHECK(wording(canonicalize_line(as_line(kept), kFold)) == folded.key());
      }
    }
  }
}

TEST_CASE("A key is canonical: it gives itself") {
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    for (const Row& row : *rows) {
      CAPTURE(row.name, row.input);
      for (const AddressProfile profile : {kFold, kKeep}) {
        for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
          const Entry entry = canonicalize(row.input, profile);
          if (!entry.is_key()) continue;
          CHECK(wording(canonicalize_line(as_line(entry), profile)) == entry.key());
          if (entry.kind() != EntryKind::address) continue;
          CHECK(wording(canonicalize_path(entry.key(), profile)) == entry.key());
          CHECK(wording(canonicalize_path("<" + std::string(entry.key()) + ">", profile)) == entry.key());
        }
      }
    }
  }
}

TEST_CASE("The tables above reach every reason at least twice") {
  std::map<std::string, int> rows_by_want;
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    for (const Row& row : *rows) ++rows_by_want[row.want];
  }
  // Some reasons need more than a plain row: domain_test.cpp, pair_test.cpp and address_allocation_test.cpp have them.
  const std::set<RejectReason> elsewhere = {RejectReason::none,
                                            RejectReason::invalid_idn,
                                            RejectReason::pair,
                                            RejectReason::incomplete_pair,
                                            RejectReason::too_many_labels,
                                            RejectReason::out_of_memory};
  for (std::size_t i = 0; i < kRejectReasonCount; ++i) {
    const auto reason = static_cast<RejectReason>(i);
    CAPTURE(reject_reason_name(reason));
    CHECK((elsewhere.contains(reason) || rows_by_want[rejected(reason)] >= 2));
  }
}

TEST_CASE("Names in the tables are given once") {
  for (const auto* rows : {&common_rows(), &path_rows(), &line_rows()}) {
    std::set<std::string> names;
    for (const Row& row : *rows) {
      CAPTURE(row.name);
      CHECK(names.insert(row.name).second);
    }
  }
}

// A source route is beyond the fast path and changes nothing, so that it shows what the grammar alone makes of the
// rest.
TEST_CASE("The fast path accepts nothing of which the grammar would not make the same") {
  std::mt19937 random(20240229);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same strings in each run
  const std::string_view alphabet = "aZ09.-_@+#\" \\<[";
  std::uniform_int_distribution<std::size_t> letter(0, alphabet.size() - 1);
  std::uniform_int_distribution<std::size_t> length(1, 12);
  int addresses = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = "a";
    for (std::size_t left = length(random); left > 0; --left) text += alphabet[letter(random)];
    if (text.find('@') == std::string::npos) text.insert(text.size() / 2, "@");
    if (text.starts_with('@')) continue;  // would be a route itself
    INFO(text);
    for (const AddressProfile profile : {kFold, kKeep}) {
      const Entry entry = canonicalize_path("<" + text + ">", profile);
      if (entry.kind() == EntryKind::address) ++addresses;
      REQUIRE(wording(canonicalize_path("<@x:" + text + ">", profile)) == wording(entry));
      REQUIRE(wording(canonicalize_line("<" + text + ">", profile)) == wording(entry));
    }
  }
  CHECK(addresses > 10'000);
}

TEST_CASE("An entry is a value: a copy has the same key and views of its own") {
  Entry copy;
  {
    const Entry entry = canonicalize_path("<Joe@Example.org>");
    copy = entry;
  }
  CHECK(copy.key() == "joe@example.org");
  CHECK(copy.local_part() == "joe");
  CHECK(copy.domain() == "example.org");
}

}  // namespace
}  // namespace bloomgate
