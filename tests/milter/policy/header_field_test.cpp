#include "milter/policy/header_field.hpp"

#include "milter/fields/field_name.hpp"
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
  CHECK(header_value(by_domain, "mx.example.org", CheckMark::tells_why) ==
        "deliver; reason=listed-domain-tree; host=mx.example.org; identity=envelope; authentication=spf; "
        "whitelist=news; entry=@.partner.example");
  for (const auto& c : cases) CHECK(header_value(c.decision, "mx.example.org", CheckMark::tells_why) == c.want);
  CHECK(kFallbackHeaderValue == "check; reason=internal-error");
}

TEST_CASE("the plain mark of a checked message is the same for each reason that depends on the lists") {
  using enum Verdict;
  const auto mark = [](Verdict verdict, Reason reason) {
    Decision decision = made(verdict, reason, IdentityKind::envelope, AuthenticationMethod::dkim, "news");
    decision.entry.append("@.partner.example");
    decision.signer.append("esp.example");
    decision.confirmation = Confirmation::yes;
    decision.signature = SignatureOutcome::field_added_subject;
    return header_value(decision, "mx", CheckMark::plain);
  };
  for (std::size_t at = 0; at < kReasonCount; ++at) {
    const auto reason = static_cast<Reason>(at);
    INFO(reason_name(reason));
    CHECK((mark(check, reason) == "check; reason=not-proven; host=mx") == depends_on_lists(reason));
    CHECK_THAT(mark(deliver, reason), Catch::Contains(std::string("reason=").append(reason_name(reason))));
  }
  for (const auto reason : {Reason::listed, Reason::not_listed, Reason::not_authenticated, Reason::revoked,
                            Reason::confirm_timeout, Reason::whitelist_damaged, Reason::recipients_unknown}) {
    INFO(reason_name(reason));
    CHECK(depends_on_lists(reason));
  }
  for (const auto reason : {Reason::null_sender, Reason::dmarc_fail, Reason::opted_out, Reason::no_revoked_list,
                            Reason::no_opt_out_list, Reason::internal_error}) {
    INFO(reason_name(reason));
    CHECK_FALSE(depends_on_lists(reason));
  }
}

TEST_CASE("a field is ours in any case and with space before its colon, but in no other spelling") {
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
