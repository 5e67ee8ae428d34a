#include "milter/policy/decide.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "tests/milter/policy/decision_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"

namespace bloomgate {
namespace {

using test::MemoryWhitelist;

// What the tests below compare.
struct Outcome {
  Verdict verdict;
  Reason reason;
  RejectReason fault = RejectReason::none;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// By the envelope sender alone, on its word.
Outcome decide_envelope(const Facts& facts, const Whitelist* whitelist) {
  const NamedWhitelist named = {"test", whitelist};
  const Policy policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};
  const Decision decision = decide(facts, {.whitelists = {&named, 1}}, policy);
  return {decision.verdict, decision.reason, decision.sender_fault};
}

Outcome deliver(Reason reason) {
  return {Verdict::deliver, reason};
}
Outcome check(Reason reason) {
  return {Verdict::check, reason};
}
Outcome malformed(RejectReason fault) {
  return {Verdict::check, Reason::malformed_sender, fault};
}

const std::vector<std::string> kList = {"joe@example.org",         "\"odd name\"@example.org",
                                        "j\xc3\xb8rn@example.org", "joe@m\xc3\xbcller.example",
                                        "joe@[192.0.2.1]",         "@corp.example",
                                        "@.tree.example"};

TEST_CASE("a sender is delivered only if the whitelist has its address, its domain or a tree above it") {
  struct Case {
    std::string_view name, sender;
    Outcome want;
  };
  const Case cases[] = {
      {"the address", "<joe@example.org>", deliver(Reason::listed)},
      {"without brackets", "joe@example.org", deliver(Reason::listed)},
      {"in other case", "<JOE@Example.ORG>", deliver(Reason::listed)},
      {"with a trailing dot", "<joe@example.org.>", deliver(Reason::listed)},
      {"with a source route", "<@relay.example,@two.example:joe@example.org>", deliver(Reason::listed)},
      {"with ESMTP parameters", "<joe@example.org> SIZE=1000 BODY=8BITMIME", deliver(Reason::listed)},
      {"quoted without need", "<\"joe\"@example.org>", deliver(Reason::listed)},
      {"quoted with need", "<\"odd name\"@example.org>", deliver(Reason::listed)},
      {"UTF-8 local part", "<j\xc3\xb8rn@example.org>", deliver(Reason::listed)},
      {"U-label", "<joe@m\xc3\xbcller.example>", deliver(Reason::listed)},
      {"A-label", "<joe@xn--mller-kva.example>", deliver(Reason::listed)},
      {"address literal", "<joe@[192.0.2.1]>", deliver(Reason::listed)},
      {"@domain", "<anyone@corp.example>", deliver(Reason::listed_domain)},
      {"@.domain, the domain itself", "<anyone@tree.example>", deliver(Reason::listed_domain_tree)},
      {"@.domain, deep below it", "<anyone@a.b.tree.example>", deliver(Reason::listed_domain_tree)},

      {"another local part", "<joan@example.org>", check(Reason::not_listed)},
      {"another domain", "<joe@example.net>", check(Reason::not_listed)},
      {"a prefix of the address", "<joe@example.or>", check(Reason::not_listed)},
      {"a domain below an address's", "<joe@sub.example.org>", check(Reason::not_listed)},
      {"below @domain", "<anyone@sub.corp.example>", check(Reason::not_listed)},
      {"beside @.domain", "<anyone@nottree.example>", check(Reason::not_listed)},
      {"above @.domain", "<anyone@example>", check(Reason::not_listed)},
      {"listed in the route only", "<@tree.example:anyone@other.example>", check(Reason::not_listed)},
      {"listed in the quoted part only", "<\"joe@example.org\"@evil.example>", check(Reason::not_listed)},
      {"listed in the parameters only", "<a@evil.example> AUTH=joe@example.org", check(Reason::not_listed)},

      {"null sender", "<>", check(Reason::null_sender)},
      {"null sender with parameters", "<> SIZE=1", check(Reason::null_sender)},

      {"nothing at all", "", malformed(RejectReason::missing_at_sign)},
      {"no at sign", "<joe>", malformed(RejectReason::missing_at_sign)},
      {"a domain entry", "<@corp.example>", malformed(RejectReason::empty_local_part)},
      {"an open bracket", "<joe@example.org", malformed(RejectReason::unbalanced_brackets)},
      {"control character", "<joe\x01@example.org>", malformed(RejectReason::control_character)},
      {"line end", "<joe@example.org\n>", malformed(RejectReason::control_character)},
      {"bad UTF-8", "<j\xff@example.org>", malformed(RejectReason::invalid_utf8)},
      {"a comma", "<joe,doe@example.org>", malformed(RejectReason::bad_local_part_character)},
      {"two addresses", "<joe@example.org><joe@example.org>", malformed(RejectReason::trailing_text)},
      {"a zero-width space before a listed address", "<\u200bjoe@example.org>",
       malformed(RejectReason::invisible_character)},
      {"a soft hyphen in a listed domain", "<joe@cor\u00adp.example>", malformed(RejectReason::invisible_character)},
      {"a no-break space behind a listed domain", "<anyone@corp.example\u00a0>",
       malformed(RejectReason::foreign_space)},
      {"a full-width letter at a listed domain", "<\uff4aoe@corp.example>",
       malformed(RejectReason::compatibility_character)},
      {"an emoji at a listed domain", "<\U0001f642@corp.example>", malformed(RejectReason::disallowed_character)},
      {"a sender that is a wildcard in a list", "<*@corp.example>", deliver(Reason::listed_domain)},
  };
  const MemoryWhitelist whitelist(kList);
  for (const Case& c : cases) {
    INFO(c.name << ": " << c.sender);
    const Outcome got = decide_envelope({c.sender}, &whitelist);
    CHECK(verdict_name(got.verdict) == verdict_name(c.want.verdict));
    CHECK(reason_name(got.reason) == reason_name(c.want.reason));
    CHECK(reject_reason_name(got.fault) == reject_reason_name(c.want.fault));
  }
}

TEST_CASE("domain entries count only if the whitelist says that it holds some") {
  const MemoryWhitelist addresses({"joe@example.org"});
  CHECK(decide_envelope({"<anyone@corp.example>"}, &addresses) == check(Reason::not_listed));
  CHECK(decide_envelope({"<joe@example.org>"}, &addresses) == deliver(Reason::listed));
}

TEST_CASE("the sender's key is made as the whitelist's profile says") {
  const MemoryWhitelist folded({"joe@example.org"}, {.keep_local_part_case = false});
  const MemoryWhitelist kept({"Joe@example.org"}, {.keep_local_part_case = true});
  CHECK(decide_envelope({"<JOE@example.org>"}, &folded) == deliver(Reason::listed));
  CHECK(decide_envelope({"<Joe@EXAMPLE.org>"}, &kept) == deliver(Reason::listed));
  CHECK(decide_envelope({"<joe@example.org>"}, &kept) == check(Reason::not_listed));
}

TEST_CASE("without a sender no message is delivered") {
  const MemoryWhitelist whitelist(kList);
  CHECK(decide_envelope({}, &whitelist) == check(Reason::no_sender));
}

TEST_CASE("without a whitelist the reason for every sender is no-whitelist") {
  for (const auto& sender : {"<joe@example.org>", "<>", "nonsense"}) {
    CHECK(decide_envelope({sender}, nullptr) == check(Reason::no_whitelist));
  }
  CHECK(decide_envelope({}, nullptr) == check(Reason::no_whitelist));
}

TEST_CASE("with a damaged whitelist the reason for every sender is whitelist-damaged") {
  for (const auto& sender : {"<joe@example.org>", "<anyone@corp.example>", "<else@example.net>", "<>", "nonsense"}) {
    MemoryWhitelist whitelist(kList);
    whitelist.damage_after(0);
    CHECK(decide_envelope({sender}, &whitelist) == check(Reason::whitelist_damaged));
  }
}

TEST_CASE("a look-up that finds damage is not trusted, whatever its answer") {
  for (const auto& sender : {"<joe@example.org>", "<anyone@corp.example>", "<else@example.net>"}) {
    MemoryWhitelist whitelist(kList);
    whitelist.damage_after(1);
    CHECK(decide_envelope({sender}, &whitelist) == check(Reason::whitelist_damaged));
  }
}

TEST_CASE("a default decision is check, with internal-error as its reason") {
  CHECK(Decision{}.verdict == Verdict::check);
  CHECK(Decision{}.reason == Reason::internal_error);
  CHECK(Decision{}.is_marked);
}

TEST_CASE("deciding cannot throw") {
  STATIC_REQUIRE(noexcept(decide(Facts{}, Lists{}, Policy{})));
}

TEST_CASE("names of verdicts and reasons are those on which operators rely") {
  CHECK(verdict_name(Verdict::deliver) == "deliver");
  CHECK(verdict_name(Verdict::check) == "check");
  const std::pair<Reason, std::string_view> names[] = {
      {Reason::listed, "listed"},
      {Reason::listed_domain, "listed-domain"},
      {Reason::listed_domain_tree, "listed-domain-tree"},
      {Reason::listed_extra, "listed-extra"},
      {Reason::listed_for_recipients, "listed-for-recipients"},
      {Reason::listed_mailing_list, "listed-mailing-list"},
      {Reason::listed_with_signer, "listed-with-signer"},
      {Reason::learned, "learned"},
      {Reason::not_listed, "not-listed"},
      {Reason::not_listed_for_all, "not-listed-for-all"},
      {Reason::recipients_unknown, "recipients-unknown"},
      {Reason::too_many_recipients, "too-many-recipients"},
      {Reason::null_sender, "null-sender"},
      {Reason::bounce, "bounce"},
      {Reason::malformed_sender, "malformed-sender"},
      {Reason::no_header_from, "no-header-from"},
      {Reason::several_from_fields, "several-from-fields"},
      {Reason::several_from_mailboxes, "several-from-mailboxes"},
      {Reason::no_from_mailbox, "no-from-mailbox"},
      {Reason::malformed_from, "malformed-from"},
      {Reason::ambiguous_header, "ambiguous-header"},
      {Reason::not_authenticated, "not-authenticated"},
      {Reason::authentication_failed, "authentication-failed"},
      {Reason::dmarc_fail, "dmarc-fail"},
      {Reason::distrusted_results, "distrusted-results"},
      {Reason::own_domain, "own-domain"},
      {Reason::revoked, "revoked"},
      {Reason::burst, "burst"},
      {Reason::replay, "replay"},
      {Reason::suspended, "suspended"},
      {Reason::opted_out, "opted-out"},
      {Reason::exempt_network, "exempt-network"},
      {Reason::exempt_authenticated, "exempt-authenticated"},
      {Reason::exempt_daemon, "exempt-daemon"},
      {Reason::no_sender, "no-sender"},
      {Reason::no_whitelist, "no-whitelist"},
      {Reason::whitelist_damaged, "whitelist-damaged"},
      {Reason::no_revoked_list, "no-revoked-list"},
      {Reason::no_opt_out_list, "no-opt-out-list"},
      {Reason::confirm_timeout, "confirm-timeout"},
      {Reason::confirm_busy, "confirm-busy"},
      {Reason::confirm_damaged, "confirm-damaged"},
      {Reason::confirm_unreadable, "confirm-unreadable"},
      {Reason::internal_error, "internal-error"},
  };
  CHECK(std::size(names) == kReasonCount);
  for (const auto& [reason, name] : names) CHECK(reason_name(reason) == name);
}

TEST_CASE("exempt reasons are those with that name, and no others") {
  for (std::size_t number = 0; number < kReasonCount; ++number) {
    const auto reason = static_cast<Reason>(number);
    INFO(reason_name(reason));
    CHECK(is_exempt(reason) == reason_name(reason).starts_with("exempt-"));
  }
}

TEST_CASE("the manual page of the daemon explains every reason") {
  std::ifstream file(test::source_folder() + "/milter/bloomgate-milter.8");
  std::string items;  // the heads of the list of reasons, each name between spaces
  bool is_there = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(".Ss ") || line.starts_with(".Sh ")) is_there = line == ".Ss Reasons";
    if (is_there && line.starts_with(".It Cm ")) items += line.substr(6) + " ";
  }
  for (std::size_t number = 0; number < kReasonCount; ++number) {
    const std::string name(reason_name(static_cast<Reason>(number)));
    INFO(name);
    CHECK(items.find(" " + name + " ") != std::string::npos);
  }
}

}  // namespace
}  // namespace bloomgate
