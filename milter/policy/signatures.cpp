#include "milter/policy/signatures.hpp"

namespace bloomgate {

namespace {

// In the order of the enumerators.
constexpr std::string_view kOutcomeNames[] = {
    "pass",
    "no-signature",
    "header-too-large",
    "body-too-large",
    "line-too-long",
    "field-added-from",
    "field-added-sender",
    "field-added-reply-to",
    "field-added-subject",
    "field-added-mime-version",
    "field-added-content-type",
    "field-added-content-transfer-encoding",
    "field-added-content-disposition",
    "field-added-to",
    "field-added-cc",
    "field-added-date",
    "field-added-message-id",
    "field-added-references",
    "field-added-in-reply-to",
    "field-added-list-unsubscribe",
    "malformed-signature",
    "weak-algorithm",
    "from-not-signed",
    "from-not-oversigned",
    "foreign-identity",
    "expired",
    "not-yet-valid",
    "too-old",
    "body-not-covered",
    "header-changed",
    "body-changed",
    "key-not-found",
    "several-keys",
    "key-malformed",
    "key-too-long",
    "key-too-short",
    "key-revoked",
    "key-in-test-mode",
    "key-not-for-this",
    "subdomain-not-allowed",
    "name-server-failed",
    "name-timeout",
    "dnssec-bogus",
    "too-busy",
    "verifier-failed",
    "verifier-timeout",
};
static_assert(std::size(kOutcomeNames) == kSignatureOutcomes);

}  // namespace

std::string_view signature_outcome_name(SignatureOutcome outcome) noexcept {
  const auto index = static_cast<std::size_t>(outcome);
  return index < kSignatureOutcomes ? kOutcomeNames[index] : "verifier-failed";
}

SignatureOutcome outcome_of_added(WatchedField field) noexcept {
  const auto first = static_cast<std::size_t>(SignatureOutcome::field_added_from);
  return static_cast<SignatureOutcome>(first + static_cast<std::size_t>(field));
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
