#include "milter/policy/header_field.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

Decision made(Verdict verdict, Reason reason, IdentityKind identity, std::optional<AuthenticationMethod> method,
              std::string_view list) {
  Decision decision = {.verdict = verdict, .reason = reason, .identity = identity, .method = method};
  decision.list.append(list);
  return decision;
}

TEST_CASE("the header's value has verdict, reason and host, then identity, authentication and list if known") {
  using enum Verdict;
  using enum AuthenticationMethod;
  const struct {
    Decision decision;
    std::string_view want;
  } cases[] = {
      {made(deliver, Reason::listed, IdentityKind::envelope, spf, "news"),
       "deliver; reason=listed; host=mx.example.org; identity=envelope; authentication=spf; whitelist=news"},
      {made(deliver, Reason::listed_domain, IdentityKind::header_from, dmarc, "a.b-c_1"),
       "deliver; reason=listed-domain; host=mx.example.org; identity=header-from; authentication=dmarc; "
       "whitelist=a.b-c_1"},
      {made(deliver, Reason::listed_extra, IdentityKind::both, arc, "extra"),
       "deliver; reason=listed-extra; host=mx.example.org; identity=both; authentication=arc; whitelist=extra"},
      {made(deliver, Reason::listed, IdentityKind::envelope, {}, "news"),
       "deliver; reason=listed; host=mx.example.org; identity=envelope; authentication=none; whitelist=news"},
      {made(deliver, Reason::exempt_network, IdentityKind::none, {}, ""),
       "deliver; reason=exempt-network; host=mx.example.org"},
      {made(check, Reason::not_authenticated, IdentityKind::envelope, {}, "news"),
       "check; reason=not-authenticated; host=mx.example.org; identity=envelope; authentication=none; whitelist=news"},
      {made(check, Reason::not_listed, IdentityKind::envelope, dkim, ""),
       "check; reason=not-listed; host=mx.example.org; identity=envelope; authentication=dkim"},
      {made(check, Reason::not_listed, IdentityKind::envelope, {}, ""),
       "check; reason=not-listed; host=mx.example.org; identity=envelope"},
      {made(check, Reason::dmarc_fail, IdentityKind::header_from, {}, ""),
       "check; reason=dmarc-fail; host=mx.example.org; identity=header-from"},
      {made(check, Reason::no_sender, IdentityKind::none, {}, ""), "check; reason=no-sender; host=mx.example.org"},
  };
  Decision by_domain = made(deliver, Reason::listed_domain_tree, IdentityKind::envelope, spf, "news");
  by_domain.entry.append("@.partner.example");
  CHECK(header_value(by_domain, "mx.example.org") ==
        "deliver; reason=listed-domain-tree; host=mx.example.org; identity=envelope; authentication=spf; "
        "whitelist=news; entry=@.partner.example");
  for (const auto& c : cases) CHECK(header_value(c.decision, "mx.example.org") == c.want);
  CHECK(kFallbackHeaderValue == "check; reason=internal-error");
}

TEST_CASE("a field is ours in any case, and with space before its colon, and in no other spelling") {
  for (const char* const name :
       {"X-Bloomgate", "x-bloomgate", "X-BLOOMGATE", "x-bLoOmGaTe", "X-Bloomgate ", "X-Bloomgate \t "}) {
    INFO(name);
    CHECK(is_our_header(name));
  }
  for (const char* const name : {"", " ", "X-Bloomgat", "X-Bloomgate2", "X-Bloomgate-Old", "Bloomgate", " X-Bloomgate",
                                 "X_Bloomgate", "X-Bloom gate", "X-Bloomgate:"}) {
    INFO(name);
    CHECK_FALSE(is_our_header(name));
  }
}

}  // namespace
}  // namespace bloomgate
