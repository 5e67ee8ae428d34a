#include "milter/dkim/signature_choice.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

const std::string kGood = "v=1; a=rsa-sha256; d=example.org; s=s1; h=from:to:subject; t=1000000000; bh=x; b=y";
constexpr std::chrono::sys_seconds kNow(std::chrono::seconds(1'000'000'000));

SignatureChoice chosen(const std::vector<std::string>& fields, const VerifyRules& rules = {}) {
  const std::vector<std::string_view> header(fields.begin(), fields.end());
  VerifyRequest request = {.header = header, .need = {}, .now = kNow};
  request.need.domains[0].append("example.org");
  return choose_signatures(request, rules);
}

SignatureChoice chosen(const std::string& signature, const VerifyRules& rules = {}) {
  return chosen(std::vector<std::string>{"From: joe@example.org", "DKIM-Signature: " + signature}, rules);
}

// The good signature with one tag in the place of its own.
std::string with(const std::string& name, const std::string& value) {
  std::string text = kGood;
  const std::size_t begin = text.find(" " + name + "=") + 1;
  const std::size_t end = std::min(text.find(';', begin), text.size());
  return text.replace(begin, end - begin, name + "=" + value);
}

TEST_CASE("a signature of an aligned domain is verified") {
  struct Case {
    std::string_view name;
    std::string signature;
  };
  const Case cases[] = {
      {"the domain itself", kGood},
      {"in capitals", with("d", "EXAMPLE.org")},
      {"a domain below", with("d", "news.example.org")},
      {"a selector of two labels", with("s", "a.b")},
      {"an identity", kGood + "; i=joe+x@example.org"},
      {"an identity with an escape", kGood + "; i=joe=2Bx@example.org"},
      {"an identity below", kGood + "; i=@news.example.org"},
      {"folded", "v=1;\r\n a=rsa-sha256;\r\n\td = example.org ; s=s1;h=from :\r\n to;t=1000000000;bh=x;b=y"},
      {"Ed25519", with("a", "ed25519-sha256")},
      {"an algorithm in capitals", with("a", "RSA-SHA256")},
      {"a semicolon at the end", kGood + ";\r\n "},
      {"a space before the signature's equals sign",
       "v=1; a=rsa-sha256; d=example.org; s=s1; h=from; t=1000000000; bh=x; b =y"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const SignatureChoice choice = chosen(c.signature, {.alignment = Alignment::relaxed});
    REQUIRE(choice.candidates.size() == 1);
    CHECK(choice.candidates[0].is_worth_verifying);
    CHECK(choice.candidates[0].signature.outcome != Outcome::pass);  // before it is verified
    CHECK_FALSE(choice.needs_other_signatures);
  }
}

TEST_CASE("a signature of another domain, or without one, is not verified") {
  for (const std::string& signature :
       {with("d", "attacker.example"), with("d", "notexample.org"), with("d", "org"),
        with("d", "example.org.attacker.example"), with("d", ""), with("d", "example.org."), with("d", ".example.org"),
        with("d", "example.org\\0.attacker.example"), with("d", "example.org(x)"), with("d", "example.org,x"),
        with("d", "x@example.org"), with("d", "exa\xc3\xa4mple.org"), with("d", "example..org"),
        kGood + "; d=example.org", std::string("nonsense"), std::string()}) {
    INFO(signature);
    CHECK(chosen(signature).candidates.empty());
  }
}

TEST_CASE("the reason why a signature is not verified is reported") {
  struct Case {
    std::string_view name;
    std::string signature;
    Outcome want;
  };
  const Case cases[] = {
      {"SHA-1", with("a", "rsa-sha1"), Outcome::weak_algorithm},
      {"an unknown algorithm", with("a", "rsa-sha999"), Outcome::weak_algorithm},
      {"From is not signed", with("h", "to:subject"), Outcome::from_not_signed},
      {"a field that begins like From", with("h", "fromage:to"), Outcome::from_not_signed},
      {"an identity outside", kGood + "; i=@attacker.example", Outcome::foreign_identity},
      {"an identity above", with("d", "news.example.org") + "; i=@example.org", Outcome::foreign_identity},
      {"an identity without a domain", kGood + "; i=joe", Outcome::foreign_identity},
      {"an identity without an at sign", kGood + "; i=example.org", Outcome::foreign_identity},
      {"an identity of two", kGood + "; i=a@example.org@attacker.example", Outcome::foreign_identity},
      {"an identity with an escaped NUL", kGood + "; i=@example.org=00@x.example", Outcome::malformed_signature},
      {"an identity with a quote", kGood + "; i=\"x\"@example.org", Outcome::malformed_signature},
      {"a selector with a NUL behind it", with("s", "x.\\000"), Outcome::malformed_signature},
      {"a selector that ends in a dot", with("s", "x."), Outcome::malformed_signature},
      {"a selector with a slash", with("s", "../x"), Outcome::malformed_signature},
      {"a selector with a slash in a label", with("s", "a/x"), Outcome::malformed_signature},
      {"a selector with an empty label", with("s", "a..b"), Outcome::malformed_signature},
      {"a selector with a label of 64 bytes", with("s", std::string(64, 'a')), Outcome::malformed_signature},
      {"a selector that is too long",
       with("s", std::string(60, 'a') + "." + std::string(60, 'b') + "." + std::string(60, 'c') + "." +
                     std::string(60, 'd')),
       Outcome::malformed_signature},
      {"no selector", with("s", ""), Outcome::malformed_signature},
      {"a body hash that is there twice", kGood + "; bh=x", Outcome::malformed_signature},
      {"a tag that is there twice in another case", kGood + "; B=y", Outcome::malformed_signature},
      {"an unknown tag that is there twice", kGood + "; zz=1; zz=1", Outcome::malformed_signature},
      {"a tag without a value", kGood + "; zz", Outcome::malformed_signature},
      {"two semicolons", kGood + ";; zz=1", Outcome::malformed_signature},
      {"a time that is no number", with("t", "10x"), Outcome::malformed_signature},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const SignatureChoice choice = chosen(c.signature, {.alignment = Alignment::relaxed});
    REQUIRE(choice.candidates.size() == 1);
    CHECK_FALSE(choice.candidates[0].is_worth_verifying);
    CHECK(signature_outcome_name(choice.candidates[0].signature.outcome) == signature_outcome_name(c.want));
  }
}

TEST_CASE("an oversigned From may be required") {
  const VerifyRules rules = {.cover = {.require_oversigned = true}};
  CHECK(chosen(kGood, rules).candidates.at(0).signature.outcome == Outcome::from_not_oversigned);
  CHECK(chosen(with("h", "from:to:from"), rules).candidates.at(0).is_worth_verifying);
}

// What becomes of a signature with that h= over these fields.
std::string outcome_of(const std::string& names, std::vector<std::string> fields, const VerifyRules& rules = {}) {
  fields.push_back("From: joe@example.org");
  fields.push_back("DKIM-Signature: " + with("h", names));
  const SignatureCandidate candidate = chosen(fields, rules).candidates.at(0);
  if (candidate.is_worth_verifying) return "verified";
  return std::string(signature_outcome_name(candidate.signature.outcome));
}

TEST_CASE("a field that a signature leaves open is named by the outcome") {
  CHECK(outcome_of("from", {"Subject: pay"}) == "field-added-subject");
  CHECK(outcome_of("from:subject", {"Subject: pay"}) == "verified");
  CHECK(outcome_of("from:subject", {"Subject: pay", "subject: test"}) == "field-added-subject");
  // Verifiers do not agree whether such a name is that of the field, so one that seems to be signed may not be.
  for (const char* const odd : {"Subject\t: pay", "Subject : pay", "Subject\x01: pay"}) {
    CHECK(outcome_of("from:subject:subject", {odd, "subject: test"}) == "field-added-subject");
  }
  CHECK(outcome_of("from:cc", {"Cc: ann@example.net"}, {.cover = {.required = WatchedFieldSet::of_bits(~0U)}}) ==
        "verified");
  CHECK(outcome_of("from", {"Cc: ann@example.net"}, {.cover = {.required = WatchedFieldSet::of_bits(~0U)}}) ==
        "field-added-cc");
}

TEST_CASE("the conditions on the body are derived from the header") {
  const std::vector<std::string> fields = {
      "From: joe@example.org", "MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=b",
      "Content-Transfer-Encoding: quoted-printable", "DKIM-Signature: " + with("h", "from:mime-version")};
  const SignatureChoice choice = chosen(fields);
  REQUIRE(choice.candidates.at(0).is_worth_verifying);
  CHECK(choice.candidates[0].needs_enclosed_body);
  CHECK(choice.candidates[0].needs_encoded_body);
  CHECK(choice.candidates[0].needs_no_message);
  CHECK(choice.structure.boundary == "b");
  CHECK(choice.encoding == BodyEncoding::quoted_printable);
}

TEST_CASE("a signature that is older than the limit does not count, nor one without a known time") {
  using namespace std::chrono_literals;
  const auto at = [](std::chrono::sys_seconds time) { return std::to_string(time.time_since_epoch().count()); };
  const auto outcome = [](const std::string& signature, const std::string& date, const VerifyRules& rules = {}) {
    const auto choice = chosen({"From: joe@example.org", date, "DKIM-Signature: " + signature}, rules);
    const SignatureCandidate& candidate = choice.candidates.at(0);
    return std::string(candidate.is_worth_verifying ? "verified" : signature_outcome_name(candidate.signature.outcome));
  };
  const std::string no_time = "v=1; a=rsa-sha256; d=example.org; s=s1; h=from:date; bh=x; b=y";
  const std::string date = "Date: Sun, 09 Sep 2001 01:46:40 +0000";  // kNow
  CHECK(outcome(with("t", at(kNow - 240h)), date) == "verified");
  CHECK(outcome(with("t", at(kNow - 240h - 1s)), date) == "too-old");
  CHECK(outcome(with("t", at(kNow - 240h - 1s)), date, {.cover = {.max_age = std::chrono::days(11)}}) == "verified");
  CHECK(outcome(with("t", at(kNow - 24h - 1s)), date, {.cover = {.max_age = std::chrono::days(1)}}) == "too-old");
  CHECK(outcome(with("t", at(kNow + 24h)), date) == "verified");
  CHECK(outcome(with("t", at(kNow + 24h + 1s)), date) == "not-yet-valid");
  CHECK(outcome(no_time, date) == "verified");
  CHECK(outcome(no_time, "Date: Thu, 30 Aug 2001 01:46:39 +0000") == "too-old");
  CHECK(outcome(no_time, "Date: Thu, 30 Aug 2001 01:46:40 +0000") == "verified");
  CHECK(outcome(no_time, "Date: soon") == "too-old");
  CHECK(outcome(no_time, "X-Date: none") == "too-old");
  CHECK(outcome("v=1; a=rsa-sha256; d=example.org; s=s1; h=from; bh=x; b=y", date) == "too-old");  // not signed
}

TEST_CASE("at most four signatures of aligned domains are verified, whatever others there are") {
  std::vector<std::string> fields = {"From: joe@example.org"};
  for (int i = 0; i < 60; ++i) fields.push_back("DKIM-Signature: " + with("d", "other.example"));
  for (int i = 0; i < 10; ++i) fields.push_back("DKIM-Signature: " + with("s", "s" + std::to_string(i)));
  const SignatureChoice choice = chosen(fields);
  REQUIRE(choice.candidates.size() == kMaxVerifiedSignatures);
  CHECK(choice.candidates[0].field == 61);
  CHECK(choice.candidates[3].signature.selector == "s3");
}

TEST_CASE("if a signature covers other signatures, the verifier gets them, unless there are many") {
  std::vector<std::string> fields = {"From: joe@example.org", "DKIM-Signature: " + with("h", "from:dkim-signature")};
  CHECK(chosen(fields).needs_other_signatures);
  for (int i = 0; i < 15; ++i) fields.push_back("DKIM-Signature: " + with("d", "other.example"));
  CHECK(chosen(fields).needs_other_signatures);
  fields.push_back("DKIM-Signature: " + with("d", "other.example"));
  CHECK_FALSE(chosen(fields).needs_other_signatures);
}

TEST_CASE("the alignment rule decides which domains may sign") {
  const VerifyRules strict = {.alignment = Alignment::strict};
  const VerifyRules relaxed = {.alignment = Alignment::relaxed};
  const std::string below = with("d", "news.example.org");
  CHECK(chosen(below).candidates.empty());
  CHECK(chosen(below, strict).candidates.empty());
  CHECK(chosen(below, relaxed).candidates.size() == 1);
  for (const VerifyRules& rules : {VerifyRules{}, strict, relaxed}) CHECK(chosen(kGood, rules).candidates.size() == 1);
}

TEST_CASE("for a signer that an entry names, only that signer's own signature is verified") {
  const std::vector<std::string> fields = {"From: joe@example.org", "DKIM-Signature: " + with("d", "esp.example"),
                                           "DKIM-Signature: " + with("d", "x.esp.example")};
  const std::vector<std::string_view> header(fields.begin(), fields.end());
  VerifyRequest request = {.header = header, .need = {}, .now = kNow};
  request.need.domains[2].append("esp.example");
  for (const Alignment alignment : {Alignment::parent, Alignment::strict, Alignment::relaxed}) {
    const SignatureChoice choice = choose_signatures(request, {.alignment = alignment});
    REQUIRE(choice.candidates.size() == 1);
    CHECK(choice.candidates[0].signature.domain == "esp.example");
    CHECK_FALSE(choice.allows({.owner_rules = {{"esp.example", "esp.example", Outcome::pass}}}));
  }
}

TEST_CASE("a verifier's result may contain only signatures of the message, and owners' rules for wanted domains") {
  std::string weak_text = with("a", "rsa-sha1");
  weak_text.replace(weak_text.find("example.org"), std::string("example.org").size(), "old.example.org");
  const SignatureChoice choice =
      chosen({"From: joe@example.org", "DKIM-Signature: " + kGood, "DKIM-Signature: " + with("a", "rsa-sha1"),
              "DKIM-Signature: " + with("d", "news.example.org"), "DKIM-Signature: " + weak_text},
             {.alignment = Alignment::relaxed});
  const Signature good = {.outcome = Outcome::pass, .domain = "example.org", .selector = "s1"};
  const Signature weak = {.outcome = Outcome::weak_algorithm, .domain = "example.org", .selector = "s1"};
  const Signature child = {.outcome = Outcome::pass, .domain = "news.example.org", .selector = "s1"};
  const Signature old = {.outcome = Outcome::weak_algorithm, .domain = "old.example.org", .selector = "s1"};
  CHECK(choice.allows({}));
  CHECK(choice.allows(
      {.all = {good, weak, child, old}, .owner_rules = {{"example.org", "news.example.org", Outcome::pass}}}));
  CHECK_FALSE(choice.allows({.all = {good, good, child, old}}));  // the second one was not worth verifying
  CHECK_FALSE(choice.allows({.all = {good, weak, child}}));
  CHECK_FALSE(choice.allows({.all = {good, weak, good, old}}));
  Signature other_key = child;
  other_key.selector = "s2";
  CHECK_FALSE(choice.allows({.all = {good, weak, other_key, old}}));
  // A wanted domain, and a signer whose signature is worth verifying.
  const OwnerRule others[] = {{"news.example.org", "example.org", Outcome::pass},
                              {"bank.example", "news.example.org", Outcome::pass},
                              {"example.org", "shop.example.org", Outcome::pass},
                              {"example.org", "old.example.org", Outcome::pass},
                              {"example.org", "", Outcome::pass}};
  for (const OwnerRule& rule : others) {
    INFO(rule.domain << " " << rule.signer);
    CHECK_FALSE(choice.allows({.all = {good, weak, child, old}, .owner_rules = {rule}}));
    CHECK_FALSE(choice.allows({.owner_rules = {{"example.org", "news.example.org", Outcome::pass}, rule}}));
  }
}

}  // namespace
}  // namespace bloomgate
