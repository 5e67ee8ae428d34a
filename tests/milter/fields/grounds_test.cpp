#include "milter/fields/grounds.hpp"

#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "milter/fields/authentication.hpp"
#include "tests/support/allocated_bytes.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::allocated_bytes;

constexpr auto kDkim = AuthenticationMethod::dkim;
constexpr auto kSpf = AuthenticationMethod::spf;
constexpr auto kDmarc = AuthenticationMethod::dmarc;

const HeaderFrom kFrom = {HeaderFromKind::one_mailbox, "joe@bank.example"};

struct Message {
  std::string_view sender = "<mallory@evil.example>";
  std::vector<std::string_view> signatures = {};
  std::string_view helo = "mail.evil.example";
};

Grounds grounds_of(const Message& message) {
  Grounds grounds;
  grounds.begin(message.helo, message.sender);
  for (const std::string_view signature : message.signatures) grounds.add_signature(signature);
  return grounds;
}

TEST_CASE("a pass needs evidence in its message") {
  const Grounds grounds = grounds_of({.sender = "<Joe@Bounce.Example.ORG>",
                                      .signatures = {"v=1; d=News.Example.com; s=a; b=d=evil.example",
                                                     "v=1;\n\td = m\u00fcller.example ;\n\ts=a; b=x"}});
  CHECK(grounds.support(kSpf, "bounce.example.org"));
  CHECK_FALSE(grounds.support(kSpf, "example.org"));
  CHECK_FALSE(grounds.support(kSpf, "news.example.com"));
  CHECK(grounds.support(kDkim, "news.example.com"));
  CHECK(grounds.support(kDkim, "a.news.example.com"));
  CHECK(grounds.support(kDkim, "xn--mller-kva.example"));
  CHECK_FALSE(grounds.support(kDkim, "example.com"));
  CHECK_FALSE(grounds.support(kDkim, "evil.example"));
  CHECK_FALSE(grounds.support(kDkim, "bounce.example.org"));
  CHECK(grounds.support(kDmarc, "example.org"));
  CHECK(grounds.support(kDmarc, "example.com"));
  CHECK_FALSE(grounds.support(kDmarc, "evil.example"));
  CHECK(grounds.support(AuthenticationMethod::arc, ""));
  CHECK_FALSE(grounds.is_misleading(kFrom));
}

TEST_CASE("a signature that leaves open what a reader sees is no evidence") {
  constexpr std::chrono::sys_seconds kNow(std::chrono::seconds(1'000'000'000));
  constexpr std::string_view kGood = "v=1; d=bank.example; s=1; h=from:subject; t=1000000000; b=x";
  const auto supports = [&](std::vector<std::string_view> signatures, std::string_view name,
                            const CoverRules& rules = {}, AuthenticationMethod method = kDkim) {
    Grounds grounds = grounds_of({.signatures = std::move(signatures)});
    grounds.add_field("From", "joe@bank.example");
    grounds.add_field("Subject", "test");
    grounds.add_field(name, "x");
    grounds.end_header(rules, kNow);
    return grounds.support(method, "bank.example");
  };
  CHECK(supports({kGood}, "X-Any"));
  CHECK(supports({kGood}, "X-Any", {}, kDmarc));
  CHECK_FALSE(supports({kGood}, "Reply-To"));
  CHECK_FALSE(supports({kGood}, "Reply-To", {}, kDmarc));
  CHECK_FALSE(supports({kGood}, "Subject"));
  CHECK_FALSE(supports({kGood}, "Content-Type"));
  CHECK_FALSE(supports({"v=1; d=bank.example; s=1; h=from; t=1000000000; b=x"}, "X-Any"));
  CHECK_FALSE(supports({"v=1; d=bank.example; s=1; h=subject; t=1000000000; b=x"}, "X-Any"));
  CHECK_FALSE(supports({"v=1; d=bank.example; s=1; h=from:subject; t=1000000000; l=9; b=x"}, "X-Any"));
  CHECK_FALSE(supports({"v=1; d=bank.example; s=1; h=from:subject; b=x"}, "X-Any"));
  CHECK_FALSE(supports({"v=1; d=bank.example; s=1; h=from:subject; t=999135999; b=x"}, "X-Any"));
  CHECK(supports({"v=1; d=bank.example; s=1; h=from:subject; t=999136000; b=x"}, "X-Any"));
  CHECK(supports({"v=1; d=bank.example; s=1; h=from:subject; t=1000086400; b=x"}, "X-Any"));
  CHECK_FALSE(supports({"v=1; d=bank.example; s=1; h=from:subject; t=1000086401; b=x"}, "X-Any"));
  CHECK_FALSE(supports({kGood}, "X-Any", {.require_oversigned = true}));
  CHECK_FALSE(supports({kGood}, "X-Any", {.max_age = std::chrono::days(-1)}));
  CoverRules more;
  more.required.add(WatchedField::to);
  CHECK_FALSE(supports({kGood}, "To", more));
  // Which of two a result is about is not known, but it is not about that of another domain.
  constexpr std::string_view kOpen = "v=1; d=bank.example; s=2; h=from; t=1000000000; b=x";
  CHECK_FALSE(supports({kGood, kOpen}, "X-Any"));
  CHECK(supports({kGood, "v=1; d=other.example; s=2; h=from; t=1000000000; b=x"}, "X-Any"));
}

// Signatures of a bank, of which the open ones leave the Subject to an attacker, and what a verifier says of them.
TEST_CASE("a result is about each signature that it can mean, and none of these may leave anything open") {
  constexpr std::chrono::sys_seconds kNow(std::chrono::seconds(1'000'000'000));
  constexpr auto kCovers = "h=from:subject; t=1000000000; ";
  constexpr auto kOpen = "h=from; t=1000000000; ";
  constexpr auto kGood = "s=new; b=GOODgoodGOODgood";
  const auto signature = [](std::string_view what, std::string_view name, std::string_view domain = "bank.example") {
    return "v=1; d=" + std::string(domain) + "; " + std::string(what) + std::string(name);
  };
  const std::string good = signature(kCovers, kGood);
  const std::string open_good = signature(kOpen, kGood);
  const std::string open_old = signature(kOpen, "s=old; b=OPENopenOPENopen");
  const std::string open_new = signature(kOpen, "s=new; b=OPENopenOPENopen");
  struct Row {
    std::string_view sentence;
    std::vector<std::string> signatures;
    std::vector<std::string_view> results;
    bool want;
  };
  const std::vector<Row> rows = {
      {"Nothing is named.", {good, open_old}, {""}, false},
      {"The selector names the one that covers.", {good, open_old}, {"header.s=NEW"}, true},
      {"The selector names the one that does not.", {good, open_old}, {"header.s=old"}, false},
      {"The start names the one that covers.", {good, open_new}, {"header.s=new header.b=GOODgood"}, true},
      {"The start names the one that does not.", {good, open_new}, {"header.b=OPENopen"}, false},
      {"A start in another case is another one.", {good, open_new}, {"header.b=goodgood"}, false},
      {"The start is folded in the message.",
       {signature(kCovers, "s=new; b=GO OD\r\n\tgood\r\n GOODgood"), open_new},
       {"header.b=GOODgood"},
       true},
      {"No signature has the selector that is named.", {good}, {"header.s=other"}, false},
      {"No signature has the start that is named.", {good}, {"header.b=OTHERoth"}, false},
      {"One has the selector, another one the start.",
       {signature(kCovers, "s=new; b=OPENopenOPENopen"), signature(kCovers, "s=old; b=GOODgoodGOODgood")},
       {"header.s=new header.b=GOODgood"},
       false},
      {"The one that is named is of another domain.",
       {signature(kCovers, kGood, "evil.example"), signature(kCovers, "s=old; b=OPENopenOPENopen")},
       {"header.s=new"},
       false},
      // A reader has a message with an open signature that is good, and puts a worthless one beside it.
      {"The worthless one has the same selector.",
       {open_good, signature(kCovers, "s=new; b=FAKEfakeFAKEfake")},
       {"header.s=new"},
       false},
      {"The worthless one has the same selector and start.",
       {open_good, signature(kCovers, "s=new; b=GOODgoodFAKEfake")},
       {"header.s=new header.b=GOODgood"},
       false},
      {"The same, and the start that is named is too short to narrow.",
       {open_good, signature(kCovers, "s=new; b=GOFAKEfakeFAKEfake")},
       {"header.s=new header.b=GOODgoo"},
       false},
      {"The good one has a start that some verifiers repair, to that of the worthless one.",
       {signature(kOpen, "s=new; b=*GOODgoodGOODgood"), signature(kCovers, "s=new; b=GOODgoodFAKEfake")},
       {"header.s=new header.b=GOODgood"},
       false},
      {"The same with padding in front.",
       {signature(kOpen, "s=new; b==GOODgoodGOODgood"), signature(kCovers, "s=new; b=GOODgoodFAKEfake")},
       {"header.s=new header.b=GOODgood"},
       false},
      {"The same with a control character, which makes the list invalid for us.",
       {signature(kOpen, "s=new; b=\vGOODgoodGOODgood"), signature(kCovers, "s=new; b=GOODgoodFAKEfake")},
       {"header.s=new header.b=GOODgood"},
       false},
      {"The same, and nothing is named.",
       {signature(kOpen, "s=new; b=GOOD\x01goodGOODgood"), signature(kCovers, "s=new; b=GOODgoodFAKEfake")},
       {""},
       false},
      {"The verifier writes a longer start than we keep.",
       {signature(kOpen, "s=new; b=0123456789abcdef0123456789abcdefGOOD"),
        signature(kCovers, "s=new; b=0123456789abcdef0123456789abcdefFAKE")},
       {"header.b=0123456789abcdef0123456789abcdefFAKE"},
       false},
      {"The same if it is a good one that covers.",
       {signature(kCovers, "s=new; b=0123456789abcdef0123456789abcdefGOOD")},
       {"header.b=0123456789abcdef0123456789abcdefGOOD"},
       true},
      // Several results.
      {"Each is named, and one covers.",
       {good, open_old},
       {"header.s=old; dkim=pass header.d=bank.example header.s=new"},
       true},
      {"The same in two fields.", {good, open_old}, {"header.s=old", "header.s=new"}, true},
      {"The one that covers fails, the open one passes.",
       {good, open_old},
       {"header.s=old; dkim=fail header.d=bank.example header.s=new"},
       false},
      {"The one that covers passes, the open one fails in the same field.",
       {good, open_old},
       {"header.s=new; dkim=fail header.d=bank.example header.s=old"},
       true},
      {"Another field says fail of the one that covers.",
       {good, open_old},
       {"header.s=new", "header.s=old; dkim=fail header.d=bank.example header.s=new"},
       false},
      {"Two selectors in one result narrow nothing.", {good, open_old}, {"header.s=new header.s=old"}, false},
  };
  const std::vector<std::string> ids = {"mx"};
  for (const Row& row : rows) {
    INFO(row.sentence);
    Grounds grounds = grounds_of({.signatures = {row.signatures.begin(), row.signatures.end()}});
    grounds.add_field("From", "joe@bank.example");
    grounds.add_field("Subject", "test");
    grounds.end_header({}, kNow);
    std::vector<std::string> fields;
    for (const std::string_view result : row.results) {
      fields.push_back("mx; dkim=pass header.d=bank.example " + std::string(result));
    }
    const std::vector<std::string_view> values(fields.begin(), fields.end());
    const auto found = Authentication::summarize(values, ids, grounds, kFrom);
    CHECK(found.trusted_fields() == fields.size());
    CHECK(found.dkim_aligned("bank.example", Alignment::strict) == row.want);
  }
}

TEST_CASE("a message without sender and signatures has no evidence") {
  for (const std::string_view sender : {"<>", "", "junk"}) {
    const Grounds grounds = grounds_of({.sender = sender});
    CHECK_FALSE(grounds.support(kSpf, ""));
    CHECK_FALSE(grounds.support(kSpf, "bank.example"));
    CHECK_FALSE(grounds.support(kDkim, "bank.example"));
    CHECK_FALSE(grounds.support(kDmarc, "bank.example"));
  }
}

TEST_CASE("texts that can forge results make a message misleading, and not the next one") {
  CHECK(grounds_of({.helo = "x); dkim=pass ("}).is_misleading(kFrom));
  CHECK(grounds_of({.sender = "<\"a;b\"@evil.example>"}).is_misleading(kFrom));
  CHECK(grounds_of({.signatures = {"d=evil.example; i=a=3Bb@evil.example", "d=evil.example"}}).is_misleading(kFrom));
  CHECK(grounds_of({}).is_misleading({HeaderFromKind::malformed}));
  CHECK_FALSE(grounds_of({}).is_misleading({}));

  const std::vector<std::string_view> most(Grounds::kMaxSignatures, "d=evil.example");
  CHECK_FALSE(grounds_of({.signatures = most}).is_misleading(kFrom));
  std::vector<std::string_view> too_many = most;
  too_many.emplace_back("d=evil.example");
  Grounds grounds = grounds_of({.signatures = too_many});
  CHECK(grounds.is_misleading(kFrom));
  grounds.add_signature("d=late.example");
  CHECK_FALSE(grounds.support(kDkim, "late.example"));  // nor is it kept
  grounds.begin("mail.example.org", "<joe@example.org>");
  CHECK_FALSE(grounds.is_misleading(kFrom));
  CHECK_FALSE(grounds.support(kDkim, "evil.example"));
}

TEST_CASE("cleared evidence proves nothing, misleads no parser, and counts from zero") {
  Grounds grounds = grounds_of({.sender = "<\"a;b\"@evil.example>", .signatures = {"d=evil.example"}});
  CHECK(grounds.is_misleading(kFrom));
  grounds.clear();
  CHECK_FALSE(grounds.is_misleading(kFrom));

  const std::vector<std::string_view> most(Grounds::kMaxSignatures, "d=bank.example");
  grounds = grounds_of({.sender = "<joe@bank.example>", .signatures = most});
  grounds.clear();
  CHECK_FALSE(grounds.support(kSpf, "bank.example"));
  CHECK_FALSE(grounds.support(kDkim, "bank.example"));
  CHECK_FALSE(grounds.support(kDmarc, "bank.example"));
  for (const std::string_view signature : most) grounds.add_signature(signature);
  CHECK_FALSE(grounds.is_misleading(kFrom));
}

TEST_CASE("a signature without a domain, or with an empty one, is no evidence") {
  for (const std::string_view signature : {"v=1; s=a; b=x", "v=1; d=; s=a", "v=1; d=bank..example; s=a"}) {
    INFO(signature);
    CHECK_FALSE(grounds_of({.signatures = {signature}}).support(kDkim, ""));
  }
}

TEST_CASE("a signature is evidence for one domain, and for none if it has a tag twice") {
  for (const std::string_view signature :
       {"v=1; d=bank.example; s=a; d=bank.example", "v=1; d=evil.example; d=bank.example; s=a",
        "d=bank.example; D=evil.example", "d=bank.example; s=a; s=b", "d=; d=bank.example"}) {
    INFO(signature);
    const Grounds grounds = grounds_of({.signatures = {signature, "d=other.example; bh=x; b=y; h=from"}});
    CHECK_FALSE(grounds.support(kDkim, "bank.example"));
    CHECK_FALSE(grounds.support(kDkim, "evil.example"));
    CHECK_FALSE(grounds.support(kDmarc, "bank.example"));
    CHECK(grounds.support(kDkim, "other.example"));
  }
}

TEST_CASE("a message with signatures of very many tags takes little memory, and releases it") {
  std::string tags = "d=";
  tags.append(200, 'a').insert(2 + 60, ".").insert(2 + 120, ".").insert(2 + 180, ".");
  tags += ".example";
  std::string many = tags;
  for (int i = 0; i < 30'000; ++i) many += ";d=a";
  Grounds grounds;
  const std::size_t before = allocated_bytes();
  for (const std::string* const each : {&tags, &many}) {
    grounds.begin("mail.example.org", "<joe@example.org>");
    for (std::size_t i = 0; i < Grounds::kMaxSignatures; ++i) grounds.add_signature(*each);
    const std::size_t held = allocated_bytes() - before;
    CHECK(held < 32'768);
    CHECK(grounds.support(kDkim, std::string_view(tags).substr(2)) == (each == &tags));
  }
  grounds.clear();
  CHECK(allocated_bytes() - before < 16'384);
}

struct Case {
  std::string_view name;
  Message message;
  std::vector<std::string_view> fields;
  std::string_view passes;  // the methods that pass for bank.example: "dmarc dkim spf"
};

TEST_CASE("results that a sender made a trusted milter write do not pass") {
  constexpr auto kBankSignature = "v=1; d=bank.example; s=a; b=x";
  constexpr auto kForgedDmarc = "mx; spf=fail (x); dmarc=pass header.from=bank.example (y) smtp.mailfrom=evil.example";
  constexpr auto kInjected = "mx; spf=fail (x); dkim=pass header.d=bank.example (y) smtp.mailfrom=evil.example";
  const std::vector<Case> cases = {
      {"honest DKIM", {.signatures = {kBankSignature}}, {"mx; dkim=pass header.d=bank.example"}, "dkim"},
      {"honest SPF", {.sender = "<a@bank.example>"}, {"mx; spf=pass smtp.mailfrom=bank.example"}, "spf"},
      {"honest DMARC by DKIM",
       {.signatures = {kBankSignature}},
       {"mx; dmarc=pass header.from=bank.example", "mx; dkim=pass header.d=bank.example"},
       "dmarc dkim"},
      {"honest DMARC by SPF, the signature broken",
       {.sender = "<a@bounce.bank.example>", .signatures = {kBankSignature}},
       {"mx; dkim=fail header.d=bank.example", "mx; spf=pass smtp.mailfrom=bounce.bank.example",
        "mx; dmarc=pass header.from=bank.example"},
       "dmarc spf"},
      {"honest DMARC that tells nothing more",
       {.signatures = {kBankSignature}},
       {"mx; dmarc=pass header.from=bank.example"},
       "dmarc"},
      {"an injected DKIM pass", {}, {kInjected}, ""},
      {"an injected DKIM pass with a signature that the verifier finds bad",
       {.signatures = {kBankSignature}},
       {kInjected, "mx; dkim=fail header.d=bank.example"},
       ""},
      {"the same where the verifier finds no key",
       {.signatures = {kBankSignature}},
       {kInjected, "mx; dkim=permerror header.d=bank.example"},
       ""},
      {"an injected SPF pass", {}, {"mx; spf=fail (x); spf=pass smtp.mailfrom=bank.example (y) smtp.helo=x"}, ""},
      {"an injected SPF pass of the very sender",
       {.sender = "<joe@bank.example>"},
       {"mx; spf=fail (x); spf=pass smtp.mailfrom=bank.example; x=y (z) smtp.helo=x",
        "mx; spf=fail smtp.mailfrom=bank.example"},
       ""},
      {"an injected DMARC pass", {}, {kForgedDmarc}, ""},
      {"an injected DMARC pass with a signature that the verifier finds bad",
       {.signatures = {kBankSignature}},
       {kForgedDmarc, "mx; dkim=fail header.d=bank.example"},
       ""},
      {"a misleading greeting",
       {.signatures = {kBankSignature}, .helo = "x)"},
       {"mx; dkim=pass header.d=bank.example"},
       ""},
  };
  const std::vector<std::string> ids = {"mx"};
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const auto found = Authentication::summarize(each.fields, ids, grounds_of(each.message), kFrom);
    std::string passes = found.dmarc("bank.example") == Finding::pass ? " dmarc" : "";
    if (found.dkim_aligned("bank.example", Alignment::relaxed)) passes += " dkim";
    if (found.spf_aligned("bank.example", Alignment::relaxed)) passes += " spf";
    CHECK(passes == (each.passes.empty() ? "" : " " + std::string(each.passes)));
    CHECK(found.trusted_fields() == each.fields.size());
  }
}

TEST_CASE("a signature of a domain below the sender's is named, and no other") {
  Grounds grounds;
  grounds.begin("mail.example.org", "<joe@shop.example>");
  CHECK(grounds.signer_below("shop.example").empty());
  for (const std::string_view signer :
       {"shop.example", "other.example", "eshop.example", "MG.Shop.example", "b.shop.example"}) {
    grounds.add_signature("v=1; a=rsa-sha256; s=x; h=from; bh=AA==; b=AA==; d=" + std::string(signer));
  }
  CHECK(grounds.signer_below("shop.example") == "mg.shop.example");
  CHECK(grounds.signer_below("mg.shop.example").empty());
  grounds.clear();
  CHECK(grounds.signer_below("shop.example").empty());
}

TEST_CASE("a message with a misleading signature, or too many, names no mailing list and no signer") {
  const auto grounds_with = [](const std::string& more, std::size_t times) {
    Grounds grounds;
    grounds.begin("mx.example", "<a@b.example>");
    grounds.add_field("List-Id", "<news.lists.example>");
    grounds.add_signature("v=1; s=1; d=lists.example; h=from:list-id; b=Zm9v");
    for (std::size_t i = 0; i < times; ++i) grounds.add_signature(more);
    // A reader does not see this one; the verifier may.
    grounds.add_signature("v=1; s=1; d=lists.example; h=from; b=Zm9v");
    grounds.end_header({}, std::chrono::sys_seconds());
    return grounds;
  };
  const Grounds usual = grounds_with("v=1; s=1; d=other.example; h=from; b=Zm9v", 1);
  CHECK(usual.list_id() == "news.lists.example");
  CHECK(usual.signers().size() == 2);
  CHECK_FALSE(usual.signs_list_id("lists.example"));
  for (const Grounds& each : {grounds_with("v=1; s=x(y); d=other.example; h=from; b=Zm9v", 1),
                              grounds_with("v=1; s=1; d=other.example; h=from; b=Zm9v", Grounds::kMaxSignatures)}) {
    CHECK(each.list_id().empty());
    CHECK(each.signers().empty());
  }
}

TEST_CASE("for revocation a message names every signer and every mailing list, whatever else is in it") {
  Grounds grounds;
  grounds.begin("x;(evil", "<a@b.example>");
  grounds.add_signature("v=1; s=x(y); d=odd.example; h=from; b=Zm9v");
  grounds.add_signature("d=Lists.Example");
  grounds.add_signature("d=j(1.example");
  for (const char* const value : {"<news.lists.example>", "no list", "<more.lists.example>"}) {
    grounds.add_field("List-Id", value);
  }
  grounds.add_field("Subject", "<other.lists.example>");
  grounds.end_header({}, std::chrono::sys_seconds());
  const auto texts = [](std::span<const std::string> all) { return std::vector<std::string>(all.begin(), all.end()); };
  CHECK(texts(grounds.claimed_signers()) == std::vector<std::string>{"odd.example", "lists.example"});
  CHECK(texts(grounds.named_lists()) == std::vector<std::string>{"news.lists.example", "more.lists.example"});
  CHECK_FALSE(grounds.has_more_claims());
  for (std::size_t i = 3; i < Grounds::kMaxSignatures; ++i) grounds.add_signature("d=s.example");
  CHECK_FALSE(grounds.has_more_claims());
  grounds.add_signature("d=last.example");
  CHECK(grounds.has_more_claims());
  CHECK(texts(grounds.claimed_signers()) == std::vector<std::string>{"odd.example", "lists.example", "s.example"});
  grounds.clear();
  CHECK(grounds.claimed_signers().empty());
  CHECK(grounds.named_lists().empty());
  for (std::size_t i = 0; i < Grounds::kMostLists; ++i) grounds.add_field("List-Id", "<a.lists.example>");
  CHECK_FALSE(grounds.has_more_claims());
  grounds.add_field("List-Id", "<a.lists.example>");
  CHECK(grounds.has_more_claims());
  CHECK(grounds.named_lists().size() == Grounds::kMostLists);
}

}  // namespace
}  // namespace bloomgate
