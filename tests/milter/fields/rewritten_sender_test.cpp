#include "milter/fields/rewritten_sender.hpp"

#include <set>
#include <vector>

#include "config/enum_words.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

const std::vector<std::string> kTrusted = {"forwarder.example", "second.example", "xn--mller-kva.example"};

struct Row {
  std::string name;
  std::string path;
  std::string want;  // wording() of the result
};

// "joe@example.org by batv from example.org"; "as it is" where nothing was undone.
std::string wording(const RewrittenSender& sender) {
  if (!sender.is_undone()) return sender.path().empty() && sender.layers().empty() ? "as it is" : "half undone";
  std::string text(sender.path());
  constexpr auto kNames =
      enum_words<Rewriting>({{Rewriting::batv, "batv"}, {Rewriting::srs0, "srs0"}, {Rewriting::srs1, "srs1"}});
  for (const Rewriting layer : sender.layers()) text.append(" by ").append(word_of(kNames, layer));
  return text.append(sender.is_forwarded() ? " forwarded from " : " from ").append(sender.sending_domain());
}

const std::vector<Row> kRows = {
    {"a plain sender", "<joe@example.org>", "as it is"},
    {"the null sender", "<>", "as it is"},
    {"nothing", "", "as it is"},
    {"an at sign", "@", "as it is"},
    {"a bracket", "<", "as it is"},
    // BATV
    {"prvs with the tag first", "<prvs=0123abcdef=joe@example.org>", "joe@example.org by batv from example.org"},
    {"prvs with the tag last", "<prvs=joe=0123abcdef@example.org>", "joe@example.org by batv from example.org"},
    {"prvs without brackets", "prvs=0123abcdef=joe@example.org", "joe@example.org by batv from example.org"},
    {"prvs in capitals", "<PRVS=0123ABCDEF=Joe@Example.ORG>", "Joe@Example.ORG by batv from example.org"},
    {"the shortest tag", "<prvs=0123abcd=joe@example.org>", "joe@example.org by batv from example.org"},
    {"the longest tag", "<prvs=0123456789ab=joe@example.org>", "joe@example.org by batv from example.org"},
    {"a tag too short", "<prvs=0123abc=joe@example.org>", "as it is"},
    {"a tag too long", "<prvs=0123456789abc=joe@example.org>", "as it is"},
    {"a word of hex digits is no tag", "<prvs=deadbeefed=0123abcdef@example.org>",
     "deadbeefed@example.org by batv from example.org"},
    {"two fields that may be the tag", "<prvs=1111111111=2222222222@example.org>", "as it is"},
    {"no field that may be the tag", "<prvs=joe=doe@example.org>", "as it is"},
    {"an equals sign in the local part, tag first", "<prvs=0123abcdef=joe=doe@example.org>",
     "joe=doe@example.org by batv from example.org"},
    {"an equals sign in the local part, tag last", "<prvs=joe=doe=0123abcdef@example.org>",
     "joe=doe@example.org by batv from example.org"},
    {"tags at both ends of a local part", "<prvs=0123abcdef=joe=4567abcdef@example.org>", "as it is"},
    {"prvs without a local part", "<prvs=0123abcdef=@example.org>", "as it is"},
    {"prvs without a local part, tag last", "<prvs==0123abcdef@example.org>", "as it is"},
    {"prvs without a tag", "<prvs=joe@example.org>", "as it is"},
    {"prvs in quotes", R"(<"prvs=0123abcdef=joe"@example.org>)", "as it is"},
    {"prvs after a plus", "<joe+prvs=0123abcdef@example.org>", "as it is"},
    {"prvs at an address literal", "<prvs=0123abcdef=joe@[192.0.2.1]>", "joe@[192.0.2.1] by batv from [192.0.2.1]"},
    {"prvs with a local part beyond ASCII", "<prvs=0123abcdef=j\xc3\xb8rn@example.org>",
     "j\xc3\xb8rn@example.org by batv from example.org"},
    {"prvs with an opening bracket alone", "<prvs=0123abcdef=joe@example.org", "as it is"},
    {"prvs with a closing bracket alone", "xprvs=0123abcdef=joe@example.org>", "as it is"},
    {"prvs with a space in the local part", "<prvs=0123abcdef=joe doe@example.org>", "as it is"},
    {"prvs beside a field that has digits and is no tag", "<prvs=joe.12345=0123abcdef@example.org>",
     "joe.12345@example.org by batv from example.org"},
    {"prvs at an invalid domain", "<prvs=0123abcdef=joe@exa+mple.org>", "as it is"},
    {"prvs at no domain at all", "<prvs=0123abcdef=joe>", "as it is"},
    {"prvs twice", "<prvs=0123abcdef=prvs=4567abcdef=joe@example.org>",
     "joe@example.org by batv by batv from example.org"},
    {"Barracuda's form", "<btv1==0364a8b6f5e==joe@example.org>", "joe@example.org by batv from example.org"},
    {"Barracuda's form in capitals", "<BTV1==0364A8B6F5E==joe@example.org>",
     "joe@example.org by batv from example.org"},
    {"Barracuda's form with equals signs in the local part", "<btv1==0364a8b6f5e==a==b@example.org>",
     "a==b@example.org by batv from example.org"},
    {"Barracuda's form with an invalid tag", "<btv1==joe==doe@example.org>", "as it is"},
    {"Barracuda's form with one equals sign", "<btv1==0364a8b6f5e=joe@example.org>", "as it is"},
    {"Barracuda's form without a tag", "<btv1====joe@example.org>", "as it is"},
    {"Barracuda's form without a local part", "<btv1==0364a8b6f5e==@example.org>", "as it is"},
    // SRS0
    {"SRS0 of a trusted forwarder", "<SRS0=HHHH=TT=example.org=joe@forwarder.example>",
     "joe@example.org by srs0 forwarded from forwarder.example"},
    {"SRS0 with a plus", "<SRS0+HHHH=TT=example.org=joe@forwarder.example>",
     "joe@example.org by srs0 forwarded from forwarder.example"},
    {"SRS0 with a hyphen", "<SRS0-HHHH=TT=example.org=joe@forwarder.example>",
     "joe@example.org by srs0 forwarded from forwarder.example"},
    {"SRS0 in small letters, its domain in capitals", "<srs0=hhhh=tt=example.org=joe@FORWARDER.example.>",
     "joe@example.org by srs0 forwarded from forwarder.example"},
    {"SRS0 of a trusted forwarder beyond ASCII", "<SRS0=HHHH=TT=example.org=joe@m\xc3\xbcller.example>",
     "joe@example.org by srs0 forwarded from xn--mller-kva.example"},
    {"SRS0 with all that a hash may have", "<SRS0=a+/Z9=2A=example.org=joe@forwarder.example>",
     "joe@example.org by srs0 forwarded from forwarder.example"},
    {"SRS0 with an equals sign in the local part", "<SRS0=HHHH=TT=example.org=a=b@forwarder.example>",
     "a=b@example.org by srs0 forwarded from forwarder.example"},
    {"SRS0 of a stranger", "<SRS0=HHHH=TT=example.org=joe@evil.example>", "as it is"},
    {"SRS0 below a trusted forwarder", "<SRS0=HHHH=TT=example.org=joe@mail.forwarder.example>", "as it is"},
    {"SRS0 of a name that ends like a trusted one", "<SRS0=HHHH=TT=example.org=joe@notforwarder.example>", "as it is"},
    {"SRS0 without a hash", "<SRS0==TT=example.org=joe@forwarder.example>", "as it is"},
    {"SRS0 with an odd hash", "<SRS0=H!HH=TT=example.org=joe@forwarder.example>", "as it is"},
    {"SRS0 with a long timestamp", "<SRS0=HHHH=TTT=example.org=joe@forwarder.example>", "as it is"},
    {"SRS0 with an odd timestamp", "<SRS0=HHHH=T.=example.org=joe@forwarder.example>", "as it is"},
    {"SRS0 without a domain", "<SRS0=HHHH=TT==joe@forwarder.example>", "as it is"},
    {"SRS0 with an invalid domain", "<SRS0=HHHH=TT=exa+mple.org=joe@forwarder.example>", "as it is"},
    {"SRS0 without a local part", "<SRS0=HHHH=TT=example.org=@forwarder.example>", "as it is"},
    {"SRS0 with three fields", "<SRS0=HHHH=TT=example.org@forwarder.example>", "as it is"},
    {"SRS0 with another separator", "<SRS0.HHHH=TT=example.org=joe@forwarder.example>", "as it is"},
    {"SRS0 in quotes", R"(<"SRS0=HHHH=TT=example.org=joe"@forwarder.example>)", "as it is"},
    {"SRS0 behind a source route", "<@forwarder.example:SRS0=HHHH=TT=example.org=joe@evil.example>", "as it is"},
    {"a second at sign", "<SRS0=HHHH=TT=example.org=joe@forwarder.example@evil.example>", "as it is"},
    {"SRS2", "<SRS2=HHHH=TT=example.org=joe@forwarder.example>", "as it is"},
    // SRS1
    {"SRS1 where both forwarders are trusted", "<SRS1=GGGG=forwarder.example==HHHH=TT=example.org=joe@second.example>",
     "joe@example.org by srs1 forwarded from second.example"},
    {"SRS1 with other separators", "<SRS1+GGGG=forwarder.example=-HHHH=TT=example.org=joe@second.example>",
     "joe@example.org by srs1 forwarded from second.example"},
    {"SRS1 in small letters", "<srs1=gggg=Forwarder.Example==hhhh=tt=example.org=joe@second.example>",
     "joe@example.org by srs1 forwarded from second.example"},
    {"SRS1 whose first forwarder is a stranger", "<SRS1=GGGG=evil.example==HHHH=TT=example.org=joe@second.example>",
     "as it is"},
    {"SRS1 whose last forwarder is a stranger", "<SRS1=GGGG=forwarder.example==HHHH=TT=example.org=joe@evil.example>",
     "as it is"},
    {"SRS1 with a first address that only its forwarder can read",
     "<SRS1=GGGG=forwarder.example==opaque@second.example>", "as it is"},
    {"SRS1 without the first one's separator", "<SRS1=GGGG=forwarder.example=HHHH=TT=example.org=joe@second.example>",
     "as it is"},
    {"SRS1 without a hash", "<SRS1==forwarder.example==HHHH=TT=example.org=joe@second.example>", "as it is"},
    {"SRS1 without a first forwarder", "<SRS1=GGGG===HHHH=TT=example.org=joe@second.example>", "as it is"},
    // One in the other
    {"BATV inside SRS0", "<SRS0=HHHH=TT=example.org=prvs=0123abcdef=joe@forwarder.example>",
     "joe@example.org by srs0 by batv forwarded from forwarder.example"},
    {"SRS0 inside BATV", "<prvs=0123abcdef=SRS0=HHHH=TT=example.org=joe@forwarder.example>",
     "joe@example.org by batv by srs0 forwarded from forwarder.example"},
    {"SRS0 inside SRS0, both trusted", "<SRS0=HHHH=TT=forwarder.example=SRS0=HHHH=TT=example.org=joe@second.example>",
     "joe@example.org by srs0 by srs0 forwarded from second.example"},
    {"SRS0 inside SRS0, the inner one a stranger's",
     "<SRS0=HHHH=TT=evil.example=SRS0=HHHH=TT=example.org=joe@second.example>",
     "SRS0=HHHH=TT=example.org=joe@evil.example by srs0 forwarded from second.example"},
    {"five layers are one too many",
     "<prvs=0123abcdef=prvs=0123abcdef=prvs=0123abcdef=prvs=0123abcdef=prvs=0123abcdef=joe@example.org>",
     "prvs=0123abcdef=joe@example.org by batv by batv by batv by batv from example.org"},
};

TEST_CASE("rewritten senders are undone as far as that is safe") {
  std::set<std::string> names;
  for (const Row& row : kRows) {
    CAPTURE(row.name, row.path);
    CHECK(names.insert(row.name).second);
    CHECK(wording(undo_rewriting(row.path, kTrusted)) == row.want);
  }
}

TEST_CASE("without trusted forwarders no domain is changed") {
  for (const Row& row : kRows) {
    CAPTURE(row.name, row.path);
    CHECK_FALSE(undo_rewriting(row.path, {}).is_forwarded());
  }
}

TEST_CASE("an SRS address longer than RFC 5321 allows is undone, and one that hides such an address is not") {
  const std::string local_part(60, 'j');
  const std::string start = "<SRS0=HHHH=TT=example.org=";
  CHECK(undo_rewriting(start + local_part + "@forwarder.example>", kTrusted).path() == local_part + "@example.org");
  const std::string too_long(kMaxAddressBytes, 'j');
  CHECK(wording(undo_rewriting(start + too_long + "@forwarder.example>", kTrusted)) == "as it is");
  CHECK(wording(undo_rewriting(start + std::string(kMaxInputBytes, 'j') + "@forwarder.example>", kTrusted)) ==
        "as it is");
}

TEST_CASE("a name longer than any trusted forwarder's is not trusted") {
  const std::string label(62, 'x');
  const std::string longest = label + '.' + label + '.' + label + '.' + label + ".xxx";
  REQUIRE(longest.size() == kMaxDomainBytes);
  const std::vector<std::string> trusted = {longest, "second.example"};
  const auto undone = [&](const std::string& first) {
    return wording(undo_rewriting("<SRS1=GGGG=" + first + "==HHHH=TT=example.org=joe@second.example>", trusted));
  };
  CHECK(undone(longest) == "joe@example.org by srs1 forwarded from second.example");
  CHECK(undone(longest + "y") == "as it is");
}

TEST_CASE("an undone and canonical address is the one in the list") {
  const RewrittenSender sender = undo_rewriting("<prvs=0123abcdef=Joe@M\xc3\xbcller.example>", {});
  CHECK(canonicalize_path(sender.path()).key() == "joe@xn--mller-kva.example");
  const RewrittenSender dots =
      undo_rewriting("<SRS0=HHHH=TT=example.org=prvs=0123abcdef=j..doe.@forwarder.example>", kTrusted);
  CHECK(canonicalize_path(dots.path()).key() == R"("j..doe."@example.org)");
  // With '=' as a separator of tags, the canonicaliser would leave `prvs` of it.
  const AddressProfile profile{.tag_separators = *TagSeparators::parse("+=")};
  const RewrittenSender tagged = undo_rewriting("<prvs=0123abcdef=joe+x@example.org>", {});
  CHECK(canonicalize_path(tagged.path(), profile).key() == "joe@example.org");
}

}  // namespace
}  // namespace bloomgate
