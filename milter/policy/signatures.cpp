#include "milter/policy/signatures.hpp"

namespace bloomgate {

std::string_view signature_outcome_name(SignatureOutcome outcome) noexcept {
  using Outcome = SignatureOutcome;
  switch (outcome) {
    case Outcome::pass:
      return "pass";
    case Outcome::no_signature:
      return "no-signature";
    case Outcome::header_too_large:
      return "header-too-large";
    case Outcome::body_too_large:
      return "body-too-large";
    case Outcome::line_too_long:
      return "line-too-long";
    case Outcome::field_added:
      return "field-added";
    case Outcome::malformed_signature:
      return "malformed-signature";
    case Outcome::weak_algorithm:
      return "weak-algorithm";
    case Outcome::from_not_signed:
      return "from-not-signed";
    case Outcome::from_not_oversigned:
      return "from-not-oversigned";
    case Outcome::foreign_identity:
      return "foreign-identity";
    case Outcome::expired:
      return "expired";
    case Outcome::not_yet_valid:
      return "not-yet-valid";
    case Outcome::body_not_covered:
      return "body-not-covered";
    case Outcome::header_changed:
      return "header-changed";
    case Outcome::body_changed:
      return "body-changed";
    case Outcome::key_not_found:
      return "key-not-found";
    case Outcome::several_keys:
      return "several-keys";
    case Outcome::key_malformed:
      return "key-malformed";
    case Outcome::key_too_long:
      return "key-too-long";
    case Outcome::key_too_short:
      return "key-too-short";
    case Outcome::key_revoked:
      return "key-revoked";
    case Outcome::key_not_for_this:
      return "key-not-for-this";
    case Outcome::subdomain_not_allowed:
      return "subdomain-not-allowed";
    case Outcome::name_server_failed:
      return "name-server-failed";
    case Outcome::name_timeout:
      return "name-timeout";
    case Outcome::dnssec_bogus:
      return "dnssec-bogus";
    case Outcome::too_busy:
      return "too-busy";
    case Outcome::verifier_failed:
      return "verifier-failed";
    case Outcome::verifier_timeout:
      return "verifier-timeout";
  }
  return "verifier-failed";
}

const Signature* Signatures::for_domain(std::string_view domain, Alignment alignment) const noexcept {
  const Signature* first = nullptr;
  for (const Signature& signature : all) {
    if (!aligned(signature.domain, domain, alignment)) continue;
    if (signature.outcome == SignatureOutcome::pass) return &signature;
    if (first == nullptr) first = &signature;
  }
  return first;
}

bool Signatures::pass_for(std::string_view domain, Alignment alignment) const noexcept {
  const Signature* const signature = for_domain(domain, alignment);
  return signature != nullptr && signature->outcome == SignatureOutcome::pass;
}

SignatureOutcome Signatures::outcome_for(std::string_view domain, Alignment alignment) const noexcept {
  const Signature* const signature = for_domain(domain, alignment);
  return signature != nullptr ? signature->outcome : fault;
}

}  // namespace bloomgate
