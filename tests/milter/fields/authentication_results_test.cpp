#include "milter/fields/authentication_results.hpp"

#include <array>
#include <string>
#include <vector>

#include "filter/address/limits.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::string_view_literals;

constexpr std::array kMethodNames = {"dkim", "spf", "dmarc", "arc", "other"};
constexpr std::array kResultNames = {"pass",    "fail", "softfail",  "hardfail",  "policy",
                                     "neutral", "none", "temperror", "permerror", "other"};

// `dkim=pass example.org, spf=none -`; "unreadable" where nothing was read.
std::string read(std::string_view value) {
  const auto field = parse_authentication_results(value);
  if (!field) return "unreadable";
  std::string text;
  for (const MethodResult& result : field->results) {
    if (!text.empty()) text += ", ";
    text.append(kMethodNames.at(static_cast<std::size_t>(result.method))).append("=");
    text.append(kResultNames.at(static_cast<std::size_t>(result.result))).append(" ");
    text.append(result.domain.empty() ? "-" : result.domain);
  }
  return text;
}

// `selector/start` of the signature that the one result names.
std::string signature_in(std::string_view properties) {
  const auto field = parse_authentication_results("mx; dkim=pass header.d=example.org " + std::string(properties));
  if (!field || field->results.size() != 1) return "unreadable";
  return field->results[0].signature.selector + "/" + field->results[0].signature.start;
}

struct Case {
  std::string_view value, want;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [value, want] : cases) {
    CAPTURE(value);
    CHECK(read(value) == want);
  }
}

TEST_CASE("results of the authentication programs in use are read") {
  check({
      // OpenDKIM
      {"mx.example.net;\n\tdkim=pass (2048-bit key; unprotected) header.d=example.org header.i=@example.org "
       "header.a=rsa-sha256 header.s=sel header.b=\"abC/+d8=\";\n\tdkim-atps=neutral",
       "dkim=pass example.org, other=neutral -"},
      {"mx.example.net;\n\tdkim=pass (2048-bit key) header.d=example.org header.i=joe@news.example.org "
       "header.b=abC/+d8=",
       "dkim=pass example.org"},
      {"mx.example.net;\n\tdkim=fail reason=\"signature verification failed\" (1024-bit key) header.d=example.org "
       "header.i=@example.org header.a=rsa-sha256 header.s=sel header.b=dzdVyOfA;\n\tdkim-atps=neutral",
       "dkim=fail example.org, other=neutral -"},
      {"mx.example.net;\r\n\tdkim=pass (2048-bit key; secure) header.d=a.example header.i=@a.example header.b=X;"
       "\r\n\tdkim=permerror (0-bit key) header.d=b.example header.i=@b.example",
       "dkim=pass a.example, dkim=permerror b.example"},
      {"mx.example.net; dkim=none", "dkim=none -"},
      // OpenDMARC
      {"mx.example.net; dmarc=pass (p=none dis=none) header.from=example.org", "dmarc=pass example.org"},
      {"mx.example.net; dmarc=fail (p=reject dis=none) header.from=Example.ORG", "dmarc=fail example.org"},
      {"mx.example.net; spf=pass smtp.mailfrom=joe@example.org", "spf=pass example.org"},
      {"mx.example.net; spf=fail smtp.helo=mail.example.org", "spf=fail -"},
      {"mx.example.net; dmarc=permerror header.from=example.org", "dmarc=permerror example.org"},
      // pyspf-milter
      {"mx.example.net; spf=pass (mailfrom) smtp.mailfrom=example.org (client-ip=192.0.2.1; helo=mail.example.org; "
       "envelope-from=joe@example.org; receiver=<UNKNOWN>)",
       "spf=pass example.org"},
      {"mx.example.net; spf=None (mailfrom) smtp.mailfrom=example.org\n (client-ip=2001:db8::1; helo=x;\n "
       "envelope-from=\"joe doe\"@example.org; receiver=<UNKNOWN>)",
       "spf=none example.org"},
      {"mx.example.net; spf=softfail (no SPF (sorry)) smtp.helo=mail.example.org (client-ip=192.0.2.1)",
       "spf=softfail -"},
      // rspamd
      {"mx.example.net; dkim=pass header.d=example.org header.s=2024 header.b=abC/+d8; arc=pass "
       "(\"relay.example:s=arc-1:i=1\"); dmarc=pass (policy=quarantine) header.from=example.org; spf=pass "
       "(mx.example.net: domain of joe@example.org designates 192.0.2.1 as permitted sender) "
       "smtp.mailfrom=joe@example.org",
       "dkim=pass example.org, arc=pass -, dmarc=pass example.org, spf=pass example.org"},
      {"mx.example.net; dmarc=fail reason=\"SPF not aligned (relaxed), No valid DKIM\" header.from=example.org "
       "(policy=reject); spf=none (mx.example.net: domain of \"prvs=12=joe@example.org\" has no SPF policy when "
       "checking "
       "2001:db8::1) smtp.mailfrom=\"prvs=12=joe@example.org\"; dkim=none",
       "dmarc=fail example.org, spf=none example.org, dkim=none -"},
      {"mx.example.net; dkim=fail (\"body hash did not verify\") header.d=example.org header.s=s header.b=\"a/b+c=\"; "
       "auth=pass smtp.auth=joe smtp.mailfrom=joe@example.org",
       "dkim=fail example.org, other=pass -"},
      {"mx.example.net; none", ""},
      // amavis
      {"mx.example.net (amavisd-new); dkim=pass (2048-bit key)\n\theader.d=example.org", "dkim=pass example.org"},
      {"mx.example.net (amavisd-new); dkim=pass\n\treason=\"pass (just generated, assumed "
       "good)\"\n\theader.d=example.org",
       "dkim=pass example.org"},
      {"mx.example.net (amavisd-new); dkim=softfail\n\t(fail, message has been altered) header.i=@example.org",
       "dkim=softfail example.org"},
      // Gmail
      {"mx.example.net;\n       dkim=pass header.i=@example.org header.s=20230601 header.b=abC/+d8;\n       spf=pass "
       "(example.net: domain of joe@example.org designates 2001:db8::1 as permitted sender) "
       "smtp.mailfrom=joe@example.org;\n       dmarc=pass (p=NONE sp=QUARANTINE dis=NONE) header.from=example.org;\n"
       "       dara=pass header.i=@example.net",
       "dkim=pass example.org, spf=pass example.org, dmarc=pass example.org, other=pass -"},
      {"mx.example.net;\n       dkim=pass header.i=@example.org;\n       arc=pass (i=1 spf=pass spfdomain=example.org "
       "dkim=pass dkdomain=example.org dmarc=pass fromdomain=example.org);\n       spf=softfail (example.net: domain "
       "of "
       "transitioning joe@example.org does not designate 192.0.2.1 as permitted sender) "
       "smtp.mailfrom=\"bounce+a=b@example.org\"",
       "dkim=pass example.org, arc=pass -, spf=softfail example.org"},
      // Outlook, with an authserv-id put before it
      {"mx.example.net 1; spf=pass (sender IP is 192.0.2.1)\n smtp.mailfrom=example.org; dkim=pass (signature was "
       "verified)\n header.d=example.org;dmarc=pass action=none\n header.from=example.org;compauth=pass reason=100",
       "spf=pass example.org, dkim=pass example.org, dmarc=pass example.org, other=pass -"},
      {"mx.example.net; dkim=none (message not signed)\n header.d=none;dmarc=none action=none header.from=example.org;",
       "dkim=none none, dmarc=none example.org"},
      // Exim, Fastmail, and others
      {"mx.example.net;\n\tiprev=pass (mail.example.org) smtp.remote-ip=192.0.2.1;\n\tspf=pass "
       "smtp.mailfrom=example.org;\n\tdkim=pass header.d=example.org header.s=x header.a=rsa-sha256;\n\tdmarc=pass "
       "header.from=example.org;\n\tarc=none",
       "other=pass -, spf=pass example.org, dkim=pass example.org, dmarc=pass example.org, arc=none -"},
      {"mx.example.net;\n    x-csa=none;\n    x-ptr=pass smtp.helo=mail.example.org policy.ptr=mail.example.org;\n"
       "    bimi=skipped (DMARC Policy is not at enforcement);\n    dmarc=pass policy.published-domain-policy=none "
       "policy.applied-disposition=none policy.evaluated-disposition=none (p=none,d=none,d.eval=none) "
       "policy.policy-from=p header.from=example.org;\n    iprev=pass policy.iprev=2001:db8::1 (mail.example.org)",
       "other=none -, other=pass -, other=other -, dmarc=pass example.org, other=pass -"},
      {"mx.example.net; auth=pass (login) smtp.auth=joe", "other=pass -"},
      {"mx.example.net; domainkeys=pass header.from=joe@example.org; sender-id=pass header.from=joe@example.org",
       "other=pass -, other=pass -"},
  });
}

TEST_CASE("a DKIM result names the signature that it is about") {
  const std::vector<Case> cases = {
      {"", "/"},
      {"header.i=@example.org header.a=rsa-sha256 header.s=sel header.b=\"abC/+d8Z\"", "sel/abC/+d8Z"},  // OpenDKIM
      {"header.s=2024 header.b=abC/+d8Z", "2024/abC/+d8Z"},                                              // rspamd
      {"header.b=dzdVyOfA", "/dzdVyOfA"},
      {"header.s=A._b.C.", "a._b.c/"},
      {"Header.S=SEL HEADER.B=dzdVyOfA", "sel/dzdVyOfA"},
      {"header.b=\"abC/ +d8Z\"", "/abC/+d8Z"},
      {"header.b=0123456789abcdefghijklmnopqrstuvwxyz", "/0123456789abcdefghijklmnopqrstuv"},
      // What may be read in two ways is unknown.
      {"header.s= header.b=", "/"},
      {"header.b=abC/+d8", "/"},
      {"header.b=abC/+d8=", "/"},
      {"header.b=abC-_d8Z", "/"},
      {"header.b=\"(abC/+d8Z\"", "/"},
      {"header.s=a@b", "/"},
      {"header.s=m\u00fcller", "/"},
      {"header.s=a header.s=b header.b=dzdVyOfA header.b=dzdVyOfB", "/"},
      {"header.s=a header.s=A header.b=dzdVyOfA header.b=dzdVyOfA", "a/dzdVyOfA"},
      {"header.b=dzdVyOfA header.b=dzdVyOf", "/"},
      // What is not a property of the signature.
      {"smtp.s=a policy.b=dzdVyOfA s=a b=dzdVyOfA", "/"},
  };
  for (const auto& [properties, want] : cases) {
    CAPTURE(properties);
    CHECK(signature_in(properties) == want);
  }
  for (const std::string_view method : {"spf", "dmarc", "arc", "auth"}) {
    const auto field =
        parse_authentication_results("mx; " + std::string(method) + "=pass header.s=a header.b=dzdVyOfA");
    CHECK(field->results[0].signature == SignatureName{});
  }
}

TEST_CASE("the whole grammar of RFC 8601 is read") {
  check({
      {"mx.example.net;none", ""},
      {"  mx.example.net ; NONE  ", ""},
      {"mx.example.net; none;", ""},
      {"mx.example.net; (nothing) none (at all)", ""},
      {"mx.example.net 1; none", ""},
      {"mx.example.net (v) 1 (one); none", ""},
      {"mx.example.net(v)1(one);none", ""},
      {"\"mx.example.net\"; dkim=pass header.d=example.org", "dkim=pass example.org"},
      {"(a (nested \\) ; \\( comment) here)mx.example.net;dkim=pass header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net;dkim=pass(c)header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net;dkim=pass header.d=example.org(c)", "dkim=pass example.org"},
      {"mx.example.net;(c)dkim(c)/(c)1(c)=(c)pass(c)header(c).(c)d(c)=(c)example.org(c)", "dkim=pass example.org"},
      {"mx.example.net;\n dkim\n =\n pass\n header\n .\n d\n =\n example.org\n ", "dkim=pass example.org"},
      {"mx.example.net;\r\n\tdkim=pass\r\n\theader.d=example.org", "dkim=pass example.org"},
      {"MX.EXAMPLE.NET; DKIM=PASS HEADER.D=EXAMPLE.ORG", "dkim=pass example.org"},
      {"mx.example.net; Spf=Pass Smtp.MailFrom=Joe@Example.Org", "spf=pass example.org"},
      {"mx.example.net; dkim/1=pass header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net; dkim/2=pass header.d=example.org", "other=pass -"},
      {"mx.example.net; dkim / 1 = pass header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass reason=good header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass reason = \"so; dkim=fail (x\" header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass header.d=example.org reason=late", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass header.d=\"example.org\"", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass header.d=\"exam\\ple.org\"", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass header.d=example.org.", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass header.d=m\u00fcller.example", "dkim=pass xn--mller-kva.example"},
      {"mx.example.net; dkim=pass header.d=XN--MLLER-KVA.example", "dkim=pass xn--mller-kva.example"},
      {"mx.example.net; a=b; dkim=pass header.d=example.org; zz=yy x.y=z",
       "other=other -, dkim=pass example.org, other=other -"},
      {"mx.example.net; dkim=pass x-tool.header_d=evil.example header.d=example.org", "dkim=pass example.org"},
      {"mx.example.net; dkim=pass", "dkim=pass -"},
      {"mx.example.net; dkim=unknown-word header.d=example.org", "dkim=other example.org"},
      {"mx.example.net; dkim=pass header.d=", "dkim=pass -"},
      {"mx.example.net; spf=pass smtp.mailfrom=; dkim=none", "spf=pass -, dkim=none -"},
      {"mx.example.net; dkim=pass header.b=a\"b\"", "unreadable"},
  });
}

TEST_CASE("each method and each result of RFC 8601 is recognised, and any other word is not") {
  for (const std::string_view method : {"dkim", "spf", "dmarc", "arc"}) {
    for (const std::string_view result :
         {"pass", "fail", "softfail", "hardfail", "policy", "neutral", "none", "temperror", "permerror"}) {
      const std::string said = std::string(method) + "=" + std::string(result);
      CHECK(read("mx.example.net; " + said) == said + " -");
    }
  }
  CHECK(read("mx.example.net; iprev=bestguess") == "other=other -");
  CHECK(read("mx.example.net; dkimx=passx") == "other=other -");
}

TEST_CASE("a result is about the domain that its own property names") {
  check({
      {"mx; spf=pass smtp.mailfrom=joe@example.org", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=example.org", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=@example.org", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=<joe@example.org>", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=\"joe@example.org\"", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=\"<joe@example.org>\"", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=\"joe doe\"@example.org", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=\"\\\"joe doe\\\"@example.org\"", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=\"joe@bank.example\"@example.org", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=\"\\\"joe@bank.example\\\"@example.org\"", "spf=pass example.org"},
      {"mx; spf=pass smtp.mailfrom=joe@[192.0.2.1]", "spf=pass [192.0.2.1]"},
      {"mx; spf=pass smtp.mailfrom=<>", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=\"\"", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=joe@", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=joe@bank.example@example.org", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=\"joe@bank.example @example.org\"", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=\"joe@bank.example x=y\"", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=\"joe@bank.example\\\"@example.org\"", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=a.example,b.example", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=bad..example", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=<example.org", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=joe@example.org>", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=\"\\\"joe doe\\\"\"", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=\"\\\"joe\\\"xbank.example\"", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=docomo.@example.org", "spf=pass example.org"},
      {"mx; spf=pass smtp.helo=example.org", "spf=pass -"},
      {"mx; spf=none smtp.mailfrom=example.org smtp.helo=other.example", "spf=none example.org"},
      {"mx; spf=pass smtp.mail-from=example.org", "spf=pass -"},
      {"mx; spf=pass smtp.mfrom=example.org", "spf=pass -"},
      {"mx; spf=pass header.mailfrom=example.org", "spf=pass -"},
      {"mx; spf=pass header.from=example.org", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=a.example smtp.mailfrom=b.example", "spf=pass -"},
      {"mx; spf=pass smtp.mailfrom=a.example smtp.mailfrom=joe@A.example", "spf=pass a.example"},
      {"mx; dmarc=pass header.from=example.org", "dmarc=pass example.org"},
      {"mx; dmarc=pass header.from=joe@example.org", "dmarc=pass example.org"},
      {"mx; dmarc=pass smtp.mailfrom=example.org", "dmarc=pass -"},
      {"mx; dmarc=pass header.d=example.org", "dmarc=pass -"},
      {"mx; dmarc=pass header.from=a.example header.from=b.example", "dmarc=pass -"},
      {"mx; dmarc=pass header.from=a.example;header.from=b.example", "unreadable"},
      {"mx; dkim=pass header.d=example.org header.i=@example.org", "dkim=pass example.org"},
      {"mx; dkim=pass header.d=example.org header.i=joe@a.b.example.org", "dkim=pass example.org"},
      {"mx; dkim=pass header.i=joe@news.example.org", "dkim=pass news.example.org"},
      {"mx; dkim=pass header.i=@example.org header.d=news.example.org", "dkim=pass -"},
      {"mx; dkim=pass header.i=@badexample.org header.d=example.org", "dkim=pass -"},
      {"mx; dkim=pass header.i=@bank.example header.d=example.org", "dkim=pass -"},
      {"mx; dkim=pass header.i=junk@ header.d=example.org", "dkim=pass -"},
      {"mx; dkim=pass header.i=@bank.example header.d=no/domain", "dkim=pass -"},
      {"mx; dkim=pass header.d=a.example header.d=b.example", "dkim=pass -"},
      {"mx; dkim=pass header.d=b.example header.d=a.example header.d=a.example", "dkim=pass -"},
      {"mx; dkim=pass header.d=b.example header.i=@a.example header.i=@b.example", "dkim=pass -"},
      {"mx; dkim=pass header.from=example.org", "dkim=pass -"},
      {"mx; dkim=pass smtp.d=example.org", "dkim=pass -"},
      {"mx; dkim=pass header.d=(bank.example)example.org", "dkim=pass example.org"},
      {"mx; dkim=pass header.d=(bank.example) example.org", "dkim=pass example.org"},
      {"mx; dkim=pass header.d=[192.0.2.1]", "dkim=pass [192.0.2.1]"},
      {"mx; arc=pass header.d=example.org", "arc=pass -"},
  });
}

TEST_CASE("a field with an invalid part has no result") {
  const std::vector<std::string_view> cases = {
      "",
      " ",
      ";",
      "mx.example.net",
      "mx.example.net;",
      "mx.example.net; ;",
      "mx.example.net; (only a comment)",
      "; dkim=pass header.d=example.org",
      "dkim=pass header.d=example.org",
      "spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=example.org; dkim=pass header.d=example.org",
      "\"\"; dkim=pass header.d=example.org",
      "mx.example.net dkim=pass header.d=example.org",
      "mx.example.net 2; dkim=pass header.d=example.org",
      "mx.example.net 11; dkim=pass header.d=example.org",
      "mx.example.net 1x; dkim=pass header.d=example.org",
      "mx.example.net 1 1; dkim=pass header.d=example.org",
      "mx.example.net x; dkim=pass header.d=example.org",
      "mx.example.net/1; dkim=pass header.d=example.org",
      "mx.example.net, mx; dkim=pass header.d=example.org",
      "mx.example.net: dkim=pass header.d=example.org",
      "mx.example.net; none; dkim=pass header.d=example.org",
      "mx.example.net; dkim=pass header.d=example.org; none",
      "mx.example.net; none dkim=pass header.d=example.org",
      "mx.example.net; nonesuch",
      "mx.example.net; dkim=pass header.d=example.org;;",
      "mx.example.net; ; dkim=pass header.d=example.org",
      "mx.example.net; dkim",
      "mx.example.net; dkim pass header.d=example.org",
      "mx.example.net; dkim=",
      "mx.example.net; =pass header.d=example.org",
      "mx.example.net; dkim==pass header.d=example.org",
      "mx.example.net; dkim=pass. header.d=example.org",
      "mx.example.net; dkim=\"pass\" header.d=example.org",
      "mx.example.net; dkim/=pass header.d=example.org",
      "mx.example.net; dkim/x=pass header.d=example.org",
      "mx.example.net; dkim=pass header.d",
      "mx.example.net; dkim=pass header.=example.org",
      "mx.example.net; dkim=pass .d=example.org",
      "mx.example.net; dkim=pass header..d=example.org",
      "mx.example.net; dkim=pass header.d:example.org",
      "mx.example.net; dkim=pass header.d=example.org trailing",
      "mx.example.net; dkim=pass header.d=example.org, spf=pass smtp.mailfrom=example.org",
      // A result whose `;` is missing is no property.
      "mx.example.net; spf=fail dkim=pass header.d=example.org",
      "mx.example.net; dkim=fail\n dkim=pass header.d=example.org",
      "mx.example.net; dkim=pass (open header.d=example.org",
      "mx.example.net; dkim=pass (open (nested) header.d=example.org",
      "mx.example.net; dkim=pass closed) header.d=example.org",
      "mx.example.net; dkim=pass header.d=example.org)",
      "mx.example.net; dkim=pass (a \\) header.d=example.org",
      "mx.example.net; dkim=pass (a \\",
      "mx.example.net; dkim=pass reason=\"open header.d=example.org",
      "mx.example.net; dkim=pass reason=\"a\\",
      "mx.example.net; dkim=pass reason=\"a\"b header.d=example.org",
      "mx.example.net; dkim=pass reason=\"a\"header.d=example.org",
      "mx.example.net; dkim=pass header.d=exam\"ple.org\"",
      "mx.example.net; dkim=pass header.d=example\\.org",
      // A quoted address in a comment that ends the comment early.
      "mx.example.net; spf=fail (domain of \"a); dkim=pass header.d=bank.example (b\"@evil.example is bad)",
      "mx.example.net; spf=fail (domain of \"a\\\") ; dkim=pass header.d=bank.example (\\\"b\"@evil.example is bad)",
      "mx.example.net; dkim=pass (an odd \" quote) header.d=example.org",
      // Line ends that end the field for some.
      "mx.example.net; dkim=pass header.d=example.org\n",
      "mx.example.net;\ndkim=pass header.d=example.org",
      "mx.example.net; dkim=pass\r header.d=example.org",
      "mx.example.net; dkim=pass (a\nb) header.d=example.org",
      "mx.example.net; dkim=pass\r\n\r\nheader.d=example.org",
      // Binary.
      "mx.example.net; dkim=pass header.d=example.org\0"sv,
      "mx.example.net\0; dkim=pass header.d=example.org"sv,
      "mx.example.net; dkim=pass (\0) header.d=example.org"sv,
      "mx.example.net; dkim=pass header.d=example.org \x01",
      "mx.example.net; dkim=pass (\xff\xfe) header.d=example.org",
      "mx.example.net; dkim=pass (\xc2\x85) header.d=example.org",
      "mx.example.net; dkim=pass (\u2028) header.d=example.org",
      "\xef\xbb\xbfmx.example.net; dkim=pass header.d=example.org",
      "\x7f\x45\x4c\x46\x02\x01\x01",
  };
  for (const std::string_view value : cases) {
    CAPTURE(value);
    CHECK(read(value) == "unreadable");
  }
}

TEST_CASE("long fields are read up to a bound") {
  const std::string start = "mx.example.net; dkim=pass header.d=example.org (";
  const std::string longest = start + std::string(kMaxAuthenticationResultsBytes - start.size() - 1, 'x') + ")";
  CHECK(read(longest) == "dkim=pass example.org");
  CHECK(read(longest + " ") == "unreadable");

  std::string many = "mx.example.net";
  for (std::size_t count = 0; count < kMaxResultsInField; ++count) many += "; a=b";
  CHECK(parse_authentication_results(many)->results.size() == kMaxResultsInField);
  CHECK(read(many + "; a=b") == "unreadable");

  const std::string deep = "mx.example.net; " + std::string(30000, '(') + std::string(30000, ')');
  CHECK(read(deep + "dkim=pass header.d=example.org") == "dkim=pass example.org");
  CHECK(read("mx.example.net; " + std::string(60000, '(')) == "unreadable");
  CHECK(read("mx.example.net; dkim=pass header.d=" + std::string(60000, 'x')) == "dkim=pass -");
  std::string letters;
  while (letters.size() < 60000) letters += "\u00fc";
  CHECK(read("mx.example.net; dkim=pass header.d=" + letters) == "dkim=pass -");
  const std::string label(62, 'x');
  const std::string domain = label + '.' + label + '.' + label + '.' + label + ".xxx";
  REQUIRE(domain.size() == kMaxDomainBytes);
  CHECK(read("mx.example.net; dkim=pass header.d=" + domain) == "dkim=pass " + domain);
  CHECK(read("mx.example.net; dkim=pass header.d=" + domain + "y") == "dkim=pass -");
}

TEST_CASE("the authserv-id is the first word, without quotes and comments") {
  const auto id = [](std::string_view value) { return parse_authserv_id(value).value_or("(none)"); };
  const std::vector<Case> cases = {
      {"mx.example.net; none", "mx.example.net"},
      {" MX.example.net ; none", "MX.example.net"},
      {"mx.example.net", "mx.example.net"},
      {"mx.example.net 1; none", "mx.example.net"},
      {"mx.example.net(c); none", "mx.example.net"},
      {"(mx.example.net) other; none", "other"},
      {"(a; b) mx.example.net; none", "mx.example.net"},
      {"\"mx.example.net\"; none", "mx.example.net"},
      {"\"mx\\.example.net\"; none", "mx.example.net"},
      {"\"a; b\"; none", "a; b"},
      {"\" mx.example.net\"; none", " mx.example.net"},
      {"\n\tmx.example.net;\n\tnone", "mx.example.net"},
      {"mx.example.net.; none", "mx.example.net."},
      {"mx.example.net.evil.example; none", "mx.example.net.evil.example"},
      {"m\u0445.example.net; none", "m\u0445.example.net"},
      // It is known although the rest is not.
      {"mx.example.net; dkim=pass \x01", "mx.example.net"},
      {"mx.example.net; nonsense", "mx.example.net"},
      {"mx.example.net/1; none", "(none)"},
      {"mx.example.net=1; none", "(none)"},
      {"mx.example.net@x; none", "(none)"},
      {"i=1; mx.example.net; none", "(none)"},
      {"\"mx.example.net; none", "(none)"},
      {"\"mx\".example.net; none", "(none)"},
      {"\"\"; none", "(none)"},
      {"(mx.example.net; none", "(none)"},
      {"; none", "(none)"},
      {"", "(none)"},
      {"mx.example.net\r; none", "(none)"},
      {"mx.example.net\0; none"sv, "(none)"},
  };
  for (const auto& [value, want] : cases) {
    CAPTURE(value);
    CHECK(id(value) == want);
  }
  // A name behind a comment with a semicolon is looked for in the whole field, up to its bound.
  const std::string start = "(a; b) mx.example.net (";
  const std::string longest = start + std::string(kMaxAuthenticationResultsBytes - start.size() - 1, 'x') + ")";
  CHECK(id(longest) == "mx.example.net");
  CHECK(id(longest + " ") == "(none)");
}

}  // namespace
}  // namespace bloomgate
