#include "milter/fields/signatures.hpp"

#include <string>

#include "filter/base/ascii.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

TEST_CASE("names of outcomes are those on which operators rely") {
  const std::pair<Outcome, std::string_view> names[] = {
      {Outcome::pass, "pass"},
      {Outcome::no_signature, "no-signature"},
      {Outcome::header_too_large, "header-too-large"},
      {Outcome::body_too_large, "body-too-large"},
      {Outcome::line_too_long, "line-too-long"},
      {Outcome::field_added_from, "field-added-from"},
      {Outcome::field_added_sender, "field-added-sender"},
      {Outcome::field_added_reply_to, "field-added-reply-to"},
      {Outcome::field_added_subject, "field-added-subject"},
      {Outcome::field_added_mime_version, "field-added-mime-version"},
      {Outcome::field_added_content_type, "field-added-content-type"},
      {Outcome::field_added_content_transfer_encoding, "field-added-content-transfer-encoding"},
      {Outcome::field_added_content_disposition, "field-added-content-disposition"},
      {Outcome::field_added_to, "field-added-to"},
      {Outcome::field_added_cc, "field-added-cc"},
      {Outcome::field_added_date, "field-added-date"},
      {Outcome::field_added_message_id, "field-added-message-id"},
      {Outcome::field_added_references, "field-added-references"},
      {Outcome::field_added_in_reply_to, "field-added-in-reply-to"},
      {Outcome::field_added_list_unsubscribe, "field-added-list-unsubscribe"},
      {Outcome::field_added_list_id, "field-added-list-id"},
      {Outcome::malformed_signature, "malformed-signature"},
      {Outcome::weak_algorithm, "weak-algorithm"},
      {Outcome::from_not_signed, "from-not-signed"},
      {Outcome::from_not_oversigned, "from-not-oversigned"},
      {Outcome::foreign_identity, "foreign-identity"},
      {Outcome::expired, "expired"},
      {Outcome::not_yet_valid, "not-yet-valid"},
      {Outcome::too_old, "too-old"},
      {Outcome::body_not_covered, "body-not-covered"},
      {Outcome::header_changed, "header-changed"},
      {Outcome::body_changed, "body-changed"},
      {Outcome::key_not_found, "key-not-found"},
      {Outcome::several_keys, "several-keys"},
      {Outcome::key_malformed, "key-malformed"},
      {Outcome::key_too_long, "key-too-long"},
      {Outcome::key_too_short, "key-too-short"},
      {Outcome::key_revoked, "key-revoked"},
      {Outcome::key_in_test_mode, "key-in-test-mode"},
      {Outcome::key_not_for_this, "key-not-for-this"},
      {Outcome::subdomain_not_allowed, "subdomain-not-allowed"},
      {Outcome::other_domain_not_allowed, "other-domain-not-allowed"},
      {Outcome::name_server_failed, "name-server-failed"},
      {Outcome::name_timeout, "name-timeout"},
      {Outcome::dnssec_bogus, "dnssec-bogus"},
      {Outcome::too_busy, "too-busy"},
      {Outcome::verifier_failed, "verifier-failed"},
      {Outcome::verifier_timeout, "verifier-timeout"},
  };
  std::size_t number = 0;
  for (const auto& [outcome, name] : names) {
    CHECK(static_cast<std::size_t>(outcome) == number++);
    CHECK(signature_outcome_name(outcome) == name);
  }
  CHECK(number == kSignatureOutcomes);
}

TEST_CASE("each watched field has an outcome with its name") {
  for (std::size_t index = 0; index < kWatchedFields; ++index) {
    const auto field = static_cast<WatchedField>(index);
    const std::string name = "field-added-" + ascii::lower_case(field_name(field));
    CHECK(signature_outcome_name(outcome_of_added(field)) == name);
  }
}

TEST_CASE("of the signatures aligned with a sender the one that passed is reported, or else the first") {
  const Signatures signatures = {.all = {{.outcome = Outcome::pass, .domain = "other.example"},
                                         {.outcome = Outcome::expired, .domain = "bank.example"},
                                         {.outcome = Outcome::body_changed, .domain = "bank.example"},
                                         {.outcome = Outcome::header_changed, .domain = "news.example.org"},
                                         {.outcome = Outcome::pass, .domain = "example.org"}}};
  CHECK(signatures.outcome_for("bank.example", Alignment::parent) == Outcome::expired);
  CHECK_FALSE(signatures.pass_for("bank.example", Alignment::parent));
  CHECK(signatures.outcome_for("news.example.org", Alignment::parent) == Outcome::pass);
  CHECK(signatures.pass_for("news.example.org", Alignment::parent));
  CHECK(signatures.outcome_for("news.example.org", Alignment::strict) == Outcome::header_changed);
  CHECK_FALSE(signatures.pass_for("news.example.org", Alignment::strict));
  CHECK(signatures.pass_for("other.example", Alignment::strict));
}

TEST_CASE("if no signature is aligned, the fault of the verification is reported, and nothing passes") {
  Signatures signatures = {.all = {{.outcome = Outcome::pass, .domain = "other.example"}}};
  for (const std::string_view domain : {"bank.example", ""}) {
    CHECK_FALSE(signatures.pass_for(domain, Alignment::relaxed));
    CHECK(signatures.outcome_for(domain, Alignment::relaxed) == Outcome::no_signature);
  }
  signatures.fault = Outcome::verifier_timeout;
  CHECK(signatures.outcome_for("bank.example", Alignment::relaxed) == Outcome::verifier_timeout);
  CHECK(signatures.outcome_for("other.example", Alignment::relaxed) == Outcome::pass);
  signatures.fault = Outcome::pass;
  CHECK_FALSE(signatures.pass_for("bank.example", Alignment::relaxed));
}

TEST_CASE("with relaxed alignment another domain's signature counts only if the owner's rule for it allows that") {
  const auto outcome = [](Signatures signatures, std::vector<OwnerRule> rules) {
    signatures.owner_rules = std::move(rules);
    const Outcome told = signatures.outcome_for("example.org", Alignment::relaxed);
    CHECK(signatures.pass_for("example.org", Alignment::relaxed) == (told == Outcome::pass));
    return told;
  };
  const Signature child = {.outcome = Outcome::pass, .domain = "news.example.org"};
  const Signature shop = {.outcome = Outcome::pass, .domain = "shop.example.org"};
  const Signature own = {.outcome = Outcome::pass, .domain = "example.org"};
  const Signature bad_child = {.outcome = Outcome::key_not_found, .domain = "mg.example.org"};
  const Signature bad_own = {.outcome = Outcome::body_changed, .domain = "example.org"};
  const std::string domain = "example.org", signer = "news.example.org";
  const OwnerRule allows = {domain, signer, Outcome::pass},
                  forbids = {domain, signer, Outcome::other_domain_not_allowed},
                  unknown = {domain, signer, Outcome::name_timeout},
                  of_another = {"bank.example", signer, Outcome::pass},
                  for_another = {domain, "shop.example.org", Outcome::pass};

  CHECK(outcome({.all = {child}}, {allows}) == Outcome::pass);
  CHECK(outcome({.all = {child}}, {of_another, allows}) == Outcome::pass);
  CHECK(outcome({.all = {child}}, {forbids}) == Outcome::other_domain_not_allowed);
  CHECK(outcome({.all = {child}}, {unknown}) == Outcome::name_timeout);
  CHECK(outcome({.all = {child}}, {}) == Outcome::other_domain_not_allowed);
  CHECK(outcome({.all = {child}}, {of_another}) == Outcome::other_domain_not_allowed);
  CHECK(outcome({.all = {child}}, {for_another}) == Outcome::other_domain_not_allowed);
  CHECK(outcome({.all = {child}}, {for_another, unknown}) == Outcome::name_timeout);
  CHECK(outcome({.all = {child, shop}}, {for_another, forbids}) == Outcome::pass);
  CHECK(outcome({.all = {bad_child, child}}, {forbids}) == Outcome::other_domain_not_allowed);
  CHECK(outcome({.all = {child, bad_own}}, {forbids}) == Outcome::body_changed);
  CHECK(outcome({.all = {child, bad_own}}, {allows}) == Outcome::pass);
  CHECK(outcome({.all = {child, own}}, {forbids}) == Outcome::pass);
  CHECK(outcome({.all = {bad_child}}, {{domain, bad_child.domain, Outcome::pass}}) == Outcome::key_not_found);
  CHECK(outcome({.all = {bad_child}}, {}) == Outcome::key_not_found);
}

TEST_CASE("no owner's rule lets a domain of another organisation by the Public Suffix List count") {
  const Signatures signatures = {
      .all = {{.outcome = Outcome::pass, .domain = "evil.co.uk"},
              {.outcome = Outcome::pass, .domain = "jane.github.io"}},
      .owner_rules = {{"bank.co.uk", "evil.co.uk", Outcome::pass}, {"joe.github.io", "jane.github.io", Outcome::pass}}};
  CHECK_FALSE(signatures.pass_for("bank.co.uk", Alignment::relaxed));
  CHECK_FALSE(signatures.pass_for("joe.github.io", Alignment::relaxed));
}

TEST_CASE("a need is empty only where it names no domain") {
  SignatureNeed need;
  CHECK(need.is_empty());
  need.domains[1].append("example.org");
  CHECK_FALSE(need.is_empty());
  need = {};
  need.domains[0].append("example.org");
  CHECK_FALSE(need.is_empty());
}

}  // namespace
}  // namespace bloomgate
