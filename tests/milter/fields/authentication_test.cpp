#include "milter/fields/authentication.hpp"

#include <string>
#include <vector>

#include "tests/support/allocated_bytes.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::string_view_literals;
using Fields = std::vector<std::string_view>;

const std::vector<std::string> kIds = {"mx.example.net", "", "auth.example.net"};

Authentication summary(const Fields& fields) {
  return Authentication::summarize(fields, kIds);
}

// What is said of `bank.example`: `dmarc=pass dkim spf`, where dkim and spf stand for an aligned pass, in capitals for
// a strictly aligned one.
std::string said(const Authentication& authentication) {
  constexpr std::string_view kDomain = "bank.example";
  std::string text;
  const auto add = [&text](std::string_view word) { text.append(text.empty() ? "" : " ").append(word); };
  const Finding dmarc = authentication.dmarc(kDomain);
  if (dmarc != Finding::none) add("dmarc=" + std::string(finding_name(dmarc)));
  if (authentication.dkim_aligned(kDomain, Alignment::relaxed)) {
    add(authentication.dkim_aligned(kDomain, Alignment::strict) ? "DKIM" : "dkim");
  }
  if (authentication.spf_aligned(kDomain, Alignment::relaxed)) {
    add(authentication.spf_aligned(kDomain, Alignment::strict) ? "SPF" : "spf");
  }
  return text;
}

struct Case {
  Fields fields;
  std::string_view want;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [fields, want] : cases) {
    CAPTURE(fields);
    CHECK(said(summary(fields)) == want);
    // The order of the fields says nothing.
    CHECK(said(summary({fields.rbegin(), fields.rend()})) == want);
  }
}

TEST_CASE("trusted fields authenticate a domain") {
  check({
      {{}, ""},
      {{"mx.example.net; none"}, ""},
      {{"mx.example.net; dkim=pass header.d=bank.example"}, "DKIM"},
      {{"mx.example.net; dkim=pass header.d=news.bank.example"}, "dkim"},
      {{"mx.example.net; dkim=pass header.i=@bank.example"}, "DKIM"},
      {{"mx.example.net; spf=pass smtp.mailfrom=joe@bank.example"}, "SPF"},
      {{"mx.example.net; spf=pass smtp.mailfrom=bounce.bank.example"}, "spf"},
      {{"mx.example.net; spf=pass smtp.helo=bank.example"}, ""},
      {{"mx.example.net; dmarc=pass header.from=bank.example"}, "dmarc=pass"},
      {{"mx.example.net; dmarc=fail header.from=bank.example"}, "dmarc=fail"},
      {{"mx.example.net; dmarc=none header.from=bank.example"}, ""},
      {{"mx.example.net; dmarc=pass header.from=news.bank.example"}, ""},
      {{"mx.example.net; dmarc=fail header.from=other.example"}, ""},
      {{"mx.example.net; dkim=pass header.d=evil.example"}, ""},
      {{"mx.example.net; dkim=pass header.d=evilbank.example"}, ""},
      {{"mx.example.net; dkim=pass header.d=example"}, ""},
      {{"mx.example.net; dkim=pass header.d=bank.example.evil.example"}, ""},
      {{"mx.example.net; arc=pass header.from=bank.example"}, ""},
      {{"mx.example.net; auth=pass smtp.mailfrom=bank.example"}, ""},
      {{"auth.example.net; dkim=pass header.d=bank.example"}, "DKIM"},
      {{"MX.Example.NET; dkim=pass header.d=bank.example"}, "DKIM"},
      {{"\"mx.example.net\"; dkim=pass header.d=bank.example"}, "DKIM"},
      {{"(by) mx.example.net (us) 1 (v); dkim=pass header.d=bank.example"}, "DKIM"},
      {{"mx.example.net; dkim=fail header.d=bank.example"}, ""},
      {{"mx.example.net; dkim=pass header.d=bank.example; dkim=fail header.d=bank.example"}, "DKIM"},
      {{"mx.example.net; dkim=fail header.d=bank.example; dkim=pass header.d=bank.example"}, "DKIM"},
      {{"mx.example.net; dkim=pass header.d=bank.example; dkim=fail header.d=other.example"}, "DKIM"},
      {{"mx.example.net; dkim=pass header.d=bank.example", "mx.example.net; spf=pass smtp.mailfrom=bank.example",
        "mx.example.net; dmarc=pass header.from=bank.example"},
       "dmarc=pass DKIM SPF"},
      {{"mx.example.net; dkim=pass header.d=bank.example; spf=fail smtp.mailfrom=bank.example; dmarc=pass "
        "header.from=bank.example"},
       "dmarc=pass DKIM"},
      {{"mx.example.net; dkim=pass header.d=bank.example", "auth.example.net; dkim=pass header.d=bank.example"},
       "DKIM"},
  });
}

TEST_CASE("fields that a sender can write prove nothing") {
  std::vector<Case> cases;
  for (const std::string_view field : {
           "mx.example.com; dkim=pass header.d=bank.example"sv,
           "bank.example; dkim=pass header.d=bank.example"sv,
           "mx.example.net.evil.example; dkim=pass header.d=bank.example"sv,
           "evil.mx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net.; dkim=pass header.d=bank.example"sv,
           ".mx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net/1; dkim=pass header.d=bank.example"sv,
           "mx.example.net:1; dkim=pass header.d=bank.example"sv,
           "mx.example.net, mx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net mx.example.net; dkim=pass header.d=bank.example"sv,
           "evil.example mx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net evil.example; dkim=pass header.d=bank.example"sv,
           "evil.example (mx.example.net); dkim=pass header.d=bank.example"sv,
           "(mx.example.net); dkim=pass header.d=bank.example"sv,
           "(mx.example.net) evil.example; dkim=pass header.d=bank.example"sv,
           "\" mx.example.net\"; dkim=pass header.d=bank.example"sv,
           "\"mx.example.net \"; dkim=pass header.d=bank.example"sv,
           "\"mx.example.net;\"; dkim=pass header.d=bank.example"sv,
           "\"\"; dkim=pass header.d=bank.example"sv,
           "; dkim=pass header.d=bank.example"sv,
           "dkim=pass header.d=bank.example"sv,
           "<mx.example.net>; dkim=pass header.d=bank.example"sv,
           "mx_example.net; dkim=pass header.d=bank.example"sv,
           "m\u0445.example.net; dkim=pass header.d=bank.example"sv,
           "mx.ex\u0430mple.net; dkim=pass header.d=bank.example"sv,
           "mx\u3002example\u3002net; dkim=pass header.d=bank.example"sv,
           "\uff4dx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net\u200b; dkim=pass header.d=bank.example"sv,
           "\ufeffmx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.\n net; dkim=pass header.d=bank.example"sv,
           "evil.example\nAuthentication-Results: mx.example.net; dkim=pass header.d=bank.example"sv,
           "evil.example;\r\nmx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net\0; dkim=pass header.d=bank.example"sv,
           "mx.example.net\0.evil.example; dkim=pass header.d=bank.example"sv,
           "\0mx.example.net; dkim=pass header.d=bank.example"sv,
           "=?utf-8?q?mx.example.net?=; dkim=pass header.d=bank.example"sv,
           "i=1; mx.example.net; dkim=pass header.d=bank.example"sv,
           "mx.example.net; none (dkim=pass header.d=bank.example)"sv,
           "mx.example.net; none; dkim=pass header.d=bank.example"sv,
           "mx.example.net; x=y (; dkim=pass header.d=bank.example)"sv,
           "mx.example.net; x=y reason=\"; dkim=pass header.d=bank.example\""sv,
           "mx.example.net; x=y reason=\"\\\"; dkim=pass header.d=bank.example\""sv,
           "mx.example.net; x=y a.b=\"; dkim=pass header.d=bank.example\""sv,
           "mx.example.net; dkim=pass (header.d=bank.example)"sv,
           "mx.example.net; dkim=pass reason=header.d=bank.example"sv,
           "mx.example.net; dkim=fail (pass) header.d=bank.example"sv,
           "mx.example.net; dkim=fail reason=pass header.d=bank.example"sv,
           "mx.example.net; x=y dkim=pass header.d=bank.example"sv,
           "mx.example.net; dkim=neutral header.d=bank.example"sv,
           "mx.example.net; dkim=passed header.d=bank.example"sv,
           "mx.example.net; dkim=pas\u017f header.d=bank.example"sv,
           "mx.example.net; dkim=pass header.d=evil.example header.i=@bank.example"sv,
           "mx.example.net; dkim=pass header.d=evil.example header.d=bank.example"sv,
           "mx.example.net; dkim=pass header.d=evil.example/bank.example"sv,
           "mx.example.net; dkim=pass header.i=\"@bank.example\"@evil.example"sv,
           "mx.example.net; dkim/2=pass header.d=bank.example"sv,
           "mx.example.net; spf=pass smtp.mailfrom=\"joe@bank.example\"@evil.example"sv,
           "mx.example.net; spf=pass smtp.mailfrom=joe@bank.example@evil.example"sv,
           "mx.example.net; spf=pass (smtp.mailfrom=bank.example) smtp.mailfrom=evil.example"sv,
           "mx.example.net; dmarc=pass header.from=evil.example (header.from=bank.example)"sv,
           "mx.example.net 2; dkim=pass header.d=bank.example"sv,
           "mx.example.net; dkim=pass header.d=b\u0430nk.example"sv,
       }) {
    cases.push_back({{field}, ""});
    // Nor does it take anything away.
    if (!field.starts_with("mx.example.net; ")) {
      cases.push_back({{field, "mx.example.net; spf=pass smtp.mailfrom=bank.example"}, "SPF"});
    }
  }
  check(cases);
}

TEST_CASE("trusted fields that contradict each other on a method and a domain prove nothing for these") {
  constexpr auto kPass = "mx.example.net; dkim=pass header.d=bank.example";
  check({
      {{kPass, "mx.example.net; dkim=fail header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=fail header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=softfail header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=policy header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=fail header.d=bank.example", kPass}, ""},
      {{kPass, "auth.example.net; dkim=fail header.d=bank.example; dkim=pass header.d=bank.example"}, "DKIM"},
      {{kPass, "auth.example.net; dkim=none"}, "DKIM"},
      {{kPass, "auth.example.net; dkim=fail"}, "DKIM"},
      {{kPass, "auth.example.net; dkim=neutral header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=temperror header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=permerror header.d=bank.example"}, ""},
      {{kPass, "auth.example.net; dkim=fail header.d=other.example"}, "DKIM"},
      {{kPass, "auth.example.net; dkim=fail header.d=news.bank.example"}, "DKIM"},
      {{kPass, "auth.example.net; dkim=pass header.d=news.bank.example",
        "mx.example.net; dkim=fail header.d=bank.example"},
       "dkim"},
      {{kPass, "auth.example.net; spf=fail smtp.mailfrom=bank.example"}, "DKIM"},
      {{kPass, "evil.example; dkim=fail header.d=bank.example"}, "DKIM"},
      {{"mx.example.net; spf=pass smtp.mailfrom=bank.example",
        "mx.example.net; spf=softfail smtp.mailfrom=bank.example"},
       ""},
      {{"mx.example.net; spf=pass smtp.mailfrom=bank.example; spf=fail smtp.mailfrom=bank.example"}, ""},
      // Another field does not settle what one says both ways.
      {{"mx.example.net; spf=pass smtp.mailfrom=bank.example",
        "auth.example.net; spf=pass smtp.mailfrom=bank.example; spf=fail smtp.mailfrom=bank.example"},
       ""},
      // What one field has copied does not undo the fail that another one has found.
      {{"mx.example.net; dmarc=pass header.from=bank.example", "auth.example.net; dmarc=fail header.from=bank.example"},
       "dmarc=fail"},
      {{"mx.example.net; dmarc=pass header.from=bank.example; dmarc=fail header.from=bank.example"}, "dmarc=fail"},
      {{"mx.example.net; dmarc=pass header.from=bank.example", "auth.example.net; dmarc=none header.from=bank.example",
        "mx.example.net; dmarc=fail header.from=bank.example"},
       "dmarc=fail"},
      {{"mx.example.net; dmarc=pass header.from=bank.example", "auth.example.net; dmarc=none header.from=bank.example"},
       ""},
      {{"mx.example.net; dmarc=fail header.from=bank.example", "auth.example.net; dmarc=fail header.from=bank.example"},
       "dmarc=fail"},
  });
}

TEST_CASE("a fail of the domain's organisation stays one, whatever contradicts it in another field") {
  const auto fails = [](const Fields& fields) {
    const bool in_order = summary(fields).fails_aligned("bank.example");
    CHECK(summary({fields.rbegin(), fields.rend()}).fails_aligned("bank.example") == in_order);
    return in_order;
  };
  CHECK(fails(
      {"mx.example.net; spf=fail smtp.mailfrom=bank.example", "mx.example.net; spf=pass smtp.mailfrom=bank.example"}));
  CHECK(fails({"mx.example.net; dkim=fail header.d=news.bank.example",
               "mx.example.net; dkim=pass header.d=news.bank.example"}));
  // One field with two signatures of a domain, of which one is good.
  CHECK_FALSE(fails({"mx.example.net; dkim=fail header.d=bank.example; dkim=pass header.d=bank.example"}));
  CHECK_FALSE(fails(
      {"mx.example.net; spf=none smtp.mailfrom=bank.example", "mx.example.net; spf=pass smtp.mailfrom=bank.example"}));
  CHECK_FALSE(fails(
      {"mx.example.net; spf=fail smtp.mailfrom=other.example", "mx.example.net; spf=pass smtp.mailfrom=bank.example"}));
}

TEST_CASE("each word of a result is a pass, a fail or neither") {
  struct Row {
    std::string_view word;
    Finding want;
  };
  const Row rows[] = {
      {"pass", Finding::pass},      {"fail", Finding::fail},      {"softfail", Finding::fail},
      {"hardfail", Finding::fail},  {"policy", Finding::fail},    {"neutral", Finding::none},
      {"none", Finding::none},      {"temperror", Finding::none}, {"permerror", Finding::none},
      {"bestguess", Finding::none},
  };
  for (const Row& row : rows) {
    INFO(row.word);
    const std::string dmarc = "mx.example.net; dmarc=" + std::string(row.word) + " header.from=bank.example";
    CHECK(summary({dmarc}).dmarc("bank.example") == row.want);
    CHECK(summary({"mx.example.net; arc=" + std::string(row.word)}).arc() == row.want);
    for (const std::string_view property : {"dkim= header.d", "spf= smtp.mailfrom"}) {
      const std::size_t space = property.find(' ');
      std::string field = "mx.example.net; ";
      field.append(property.substr(0, space)).append(row.word).append(property.substr(space)).append("=bank.example");
      const Authentication said_so = summary({field});
      CHECK(said_so.fails_aligned("bank.example") == (row.want == Finding::fail));
      const bool passes = said_so.dkim_aligned("bank.example", Alignment::strict) ||
                          said_so.spf_aligned("bank.example", Alignment::strict);
      CHECK(passes == (row.want == Finding::pass));
    }
  }
}

TEST_CASE("a fail of any method but ARC counts against its own organisation") {
  const auto fails = [](std::string_view field, std::string_view domain) {
    const std::string value = "mx.example.net; " + std::string(field);
    return summary({value}).fails_aligned(domain);
  };
  for (const std::string_view field : {"dkim=fail header.d=bank.example", "spf=fail smtp.mailfrom=bank.example",
                                       "dmarc=fail header.from=bank.example"}) {
    INFO(field);
    CHECK(fails(field, "bank.example"));
    CHECK(fails(field, "news.bank.example"));
    CHECK_FALSE(fails(field, "other.example"));
    CHECK_FALSE(fails(field, ""));
  }
  CHECK(fails("dkim=fail header.d=news.bank.example", "bank.example"));
  CHECK(fails("dmarc=fail", "bank.example"));
  CHECK(fails("dmarc=fail", ""));
  // A result that names no domain is about none.
  CHECK_FALSE(fails("dkim=fail", ""));
  CHECK_FALSE(fails("dkim=fail", "bank.example"));
  CHECK_FALSE(fails("spf=fail smtp.helo=bank.example", "bank.example"));
  CHECK_FALSE(fails("arc=fail", "bank.example"));
  CHECK_FALSE(fails("arc=fail", ""));
  const Fields too_many(Authentication::kMaxTrustedFields + 1, "mx.example.net; none");
  CHECK(summary(too_many).fails_aligned("bank.example"));
  CHECK_FALSE(
      summary({"mx.example.net; dkim=pass header.d=bank.example; dkim=pass"}).dkim_aligned("", Alignment::strict));
}

TEST_CASE("a dmarc=pass needs an aligned pass if the field has aligned results") {
  const auto dmarc = [](const std::string& more) {
    Grounds grounds;
    grounds.begin("client.example", "<joe@bank.example>");
    grounds.add_signature("v=1; d=bank.example; s=1; b=Zm9v");
    grounds.add_signature("v=1; d=other.example; s=1; b=Zm9v");
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "joe@bank.example"};
    const std::string value = "mx.example.net; dmarc=pass header.from=bank.example" + more;
    const Fields fields = {value};
    return Authentication::summarize(fields, kIds, grounds, from).dmarc("bank.example");
  };
  CHECK(dmarc("") == Finding::pass);
  CHECK(dmarc("; dkim=pass header.d=bank.example") == Finding::pass);
  CHECK(dmarc("; spf=pass smtp.mailfrom=bank.example") == Finding::pass);
  CHECK(dmarc("; dkim=fail header.d=bank.example") == Finding::none);
  CHECK(dmarc("; dkim=none header.d=bank.example") == Finding::none);
  CHECK(dmarc("; spf=fail smtp.mailfrom=bank.example") == Finding::none);
  CHECK(dmarc("; spf=fail smtp.mailfrom=mail.bank.example") == Finding::none);
  CHECK(dmarc("; spf=fail smtp.mailfrom=bank.example; dkim=pass header.d=bank.example") == Finding::pass);
  CHECK(dmarc("; dkim=pass header.d=bank.example; spf=fail smtp.mailfrom=bank.example") == Finding::pass);
  CHECK(dmarc("; dkim=fail header.d=other.example") == Finding::pass);
  CHECK(dmarc("; dkim=pass header.d=other.example; spf=fail smtp.mailfrom=bank.example") == Finding::none);
  CHECK(dmarc("; spf=pass smtp.mailfrom=bank.example; spf=fail smtp.mailfrom=bank.example") == Finding::none);
  CHECK(dmarc("; arc=fail") == Finding::pass);
  CHECK(dmarc("; dmarc=fail header.from=bank.example; dkim=pass header.d=bank.example") == Finding::fail);
}

TEST_CASE("a DMARC fail without a domain counts for every domain, and a pass without one counts for none") {
  check({
      {{"mx.example.net; dmarc=fail"}, "dmarc=fail"},
      {{"mx.example.net; dmarc=fail header.from=no/domain"}, "dmarc=fail"},
      {{"mx.example.net; dmarc=fail header.from=no/domain", "mx.example.net; dmarc=pass header.from=bank.example"},
       "dmarc=fail"},
      {{"mx.example.net; dmarc=pass"}, ""},
      {{"mx.example.net; dmarc=pass header.from=no/domain"}, ""},
  });
  CHECK(summary({"mx.example.net; dmarc=pass"}).dmarc("") == Finding::none);
  CHECK(summary({"mx.example.net; dmarc=fail"}).dmarc("") == Finding::fail);
}

TEST_CASE("fields are counted by their outcome") {
  const auto all = summary({"mx.example.net; none", "auth.example.net; none", "mx.example.com; none",
                            "junk=", "mx.example.net; junk", "mx.example.net; dkim=pass \x01"});
  CHECK(all.trusted_fields() == 2);
  CHECK(all.ignored_fields() == 2);
  CHECK(all.unreadable_fields() == 2);
  CHECK_FALSE(all.is_distrusted());
  CHECK(Authentication().trusted_fields() == 0);
}

TEST_CASE("without a trusted name no field is trusted") {
  const Fields fields = {"mx.example.net; none", "\"\"; none", "; none"};
  CHECK(Authentication::summarize(fields, {}).trusted_fields() == 0);
  CHECK(Authentication::summarize(fields, std::vector<std::string>{""}).trusted_fields() == 0);
  CHECK(Authentication::summarize(fields, std::vector<std::string>{"MX.example.NET"}).trusted_fields() == 1);
}

TEST_CASE("the ARC chain is reported by itself") {
  CHECK(summary({"mx.example.net; arc=pass (\"relay.example:s=a:i=1\")"}).arc() == Finding::pass);
  CHECK(summary({"mx.example.net; arc=fail"}).arc() == Finding::fail);
  CHECK(summary({"mx.example.net; arc=none"}).arc() == Finding::none);
  CHECK(summary({"mx.example.net; arc=pass", "auth.example.net; arc=fail"}).arc() == Finding::none);
  CHECK(summary({"mx.example.com; arc=pass"}).arc() == Finding::none);
  // The pass may be a text that another milter copied: an honest "none" beside it says so.
  CHECK(summary({"mx.example.net; arc=pass", "auth.example.net; arc=none"}).arc() == Finding::none);
  CHECK(summary({"mx.example.net; arc=none", "auth.example.net; arc=pass"}).arc() == Finding::none);
  CHECK(summary({"mx.example.net; arc=temperror; arc=pass"}).arc() == Finding::none);
  CHECK(summary({}).arc() == Finding::none);
}

TEST_CASE("beyond the limits, and if a sender may have written results, nothing passes") {
  constexpr auto kPass =
      "mx.example.net; dkim=pass header.d=bank.example; spf=pass smtp.mailfrom=bank.example; arc=pass; dmarc=pass "
      "header.from=bank.example";
  Fields fields(Authentication::kMaxTrustedFields, kPass);
  CHECK(said(summary(fields)) == "dmarc=pass DKIM SPF");
  fields.push_back("mx.example.net; none");
  CHECK(summary(fields).is_distrusted());
  fields.insert(fields.begin(), "mx.example.net; none");
  CHECK(summary(fields).is_distrusted());
  CHECK(said(summary(fields)) == "dmarc=fail");
  CHECK(summary(fields).arc() == Finding::none);

  std::vector<std::string> many;
  for (std::size_t count = 0; count < 4; ++count) {
    many.emplace_back("mx.example.net");
    for (std::size_t at = 0; at < Authentication::kMaxStatements / 4; ++at) {
      many.back() += "; dkim=fail header.d=d" + std::to_string(count) + "-" + std::to_string(at) + ".example";
    }
  }
  fields.assign(many.begin(), many.end());
  CHECK_FALSE(summary(fields).is_distrusted());
  fields.push_back("mx.example.net; dkim=fail header.d=one.more.example");
  CHECK(summary(fields).is_distrusted());
  // A field that fits again does not take back that one did not.
  fields.push_back("mx.example.net; none");
  CHECK(summary(fields).is_distrusted());
  fields.pop_back();
  fields.pop_back();
  fields.push_back(kPass);
  CHECK(said(summary(fields)) == "dmarc=fail");

  const HeaderFrom from = {HeaderFromKind::one_mailbox, "joe@bank.example"};
  Grounds grounds;
  grounds.begin("x); dkim=pass header.d=bank.example (", "<joe@bank.example>");
  const Authentication forgeable = Authentication::summarize(Fields{kPass}, kIds, grounds, from);
  CHECK(forgeable.is_distrusted());
  CHECK(said(forgeable) == "dmarc=fail");
}

TEST_CASE("fields beyond the limit are not kept") {
  std::vector<std::string> many;
  for (int count = 0; count < 40; ++count) {
    many.emplace_back("mx.example.net");
    for (int at = 0; at < 256; ++at) {
      many.back() += "; dkim=fail header.d=d" + std::to_string(count) + "-" + std::to_string(at) + ".example";
    }
  }
  const Fields fields(many.begin(), many.end());
  const std::size_t before = test::allocated_bytes();
  const Authentication kept = summary(fields);
  CHECK(test::allocated_bytes() - before < 131'072);
  CHECK(kept.trusted_fields() == 40);
  CHECK(kept.is_distrusted());
}

TEST_CASE("results that say nothing do not count towards the bound") {
  std::vector<std::string> many;
  for (std::size_t count = 0; count < 4; ++count) {
    many.emplace_back("mx.example.net; dmarc=none; dkim=fail; spf=fail smtp.helo=bank.example; iprev=pass");
    for (std::size_t at = 0; at < Authentication::kMaxStatements / 4; ++at) {
      many.back() += "; dkim=fail header.d=d" + std::to_string(count) + "-" + std::to_string(at) + ".example";
    }
  }
  const Fields fields(many.begin(), many.end());
  CHECK(summary(fields).trusted_fields() == 4);
  CHECK_FALSE(summary(fields).is_distrusted());
}

TEST_CASE("any number of untrusted fields changes nothing") {
  Fields fields(10000, "mx.example.com; dmarc=fail header.from=bank.example");
  fields.push_back("mx.example.net; dkim=pass header.d=bank.example");
  CHECK(said(summary(fields)) == "DKIM");
  CHECK(summary(fields).ignored_fields() == 10000);
}

TEST_CASE("a dmarc pass that another result for the domain does not confirm counts for nothing") {
  struct Row {
    const char* name;
    std::vector<std::string_view> values;
    Finding want;
  };
  const Row rows[] = {
      {"a pass alone", {"mx.example.net; dmarc=pass header.from=a.example"}, Finding::pass},
      {"a pass beside the none of another domain",
       {"mx.example.net; dmarc=pass header.from=a.example", "mx.example.net; dmarc=none header.from=b.example"},
       Finding::pass},
      {"a none, and a pass copied into a comment of SPF",
       {"mx.example.net; dmarc=none (p=none dis=none) header.from=a.example",
        "mx.example.net; spf=fail (no) ; dmarc=pass header.from=a.example (x) smtp.mailfrom=evil.example"},
       Finding::none},
      {"the same the other way round",
       {"mx.example.net; spf=fail (no) ; dmarc=pass header.from=a.example (x) smtp.mailfrom=evil.example",
        "mx.example.net; dmarc=none (p=none dis=none) header.from=a.example"},
       Finding::none},
      {"temperror",
       {"mx.example.net; dmarc=pass header.from=a.example; dmarc=temperror header.from=a.example"},
       Finding::none},
      {"a fail beside a none stays a fail",
       {"mx.example.net; dmarc=none header.from=a.example", "mx.example.net; dmarc=fail header.from=a.example"},
       Finding::fail},
      {"a pass, a none and a fail",
       {"mx.example.net; dmarc=pass header.from=a.example", "mx.example.net; dmarc=none header.from=a.example",
        "mx.example.net; dmarc=fail header.from=a.example"},
       Finding::fail},
      {"a none, a fail and a pass",
       {"mx.example.net; dmarc=none header.from=a.example", "mx.example.net; dmarc=fail header.from=a.example",
        "mx.example.net; dmarc=pass header.from=a.example"},
       Finding::fail},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(summary(row.values).dmarc("a.example") == row.want);
  }
}

TEST_CASE("the signer below a domain is one whose signature a trusted milter found good") {
  struct Row {
    std::string_view name;
    std::vector<std::string_view> values;
    std::string_view want;
  };
  const Row rows[] = {
      {"a child", {"mx.example.net; dkim=pass header.d=mg.a.example"}, "mg.a.example"},
      {"the first of two",
       {"mx.example.net; dkim=pass header.d=x.a.example; dkim=pass header.d=y.a.example"},
       "x.a.example"},
      {"a failed one", {"mx.example.net; dkim=fail header.d=mg.a.example"}, ""},
      {"a contradicted one",
       {"mx.example.net; dkim=pass header.d=mg.a.example", "mx.example.net; dkim=none header.d=mg.a.example"},
       ""},
      {"the domain itself", {"mx.example.net; dkim=pass header.d=a.example"}, ""},
      {"another domain", {"mx.example.net; dkim=pass header.d=mg.b.example"}, ""},
      {"an envelope sender", {"mx.example.net; spf=pass smtp.mailfrom=mg.a.example"}, ""},
      {"a field of another server", {"elsewhere.example; dkim=pass header.d=mg.a.example"}, ""},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(summary(row.values).child_signer("a.example") == row.want);
  }
}

}  // namespace
}  // namespace bloomgate
