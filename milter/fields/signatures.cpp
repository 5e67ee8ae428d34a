#include "milter/fields/signatures.hpp"

#include <algorithm>

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
    "field-added-list-id",
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
    "other-domain-not-allowed",
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

std::optional<WatchedField> added_field(SignatureOutcome outcome) noexcept {
  const auto first = static_cast<std::size_t>(SignatureOutcome::field_added_from);
  const auto place = static_cast<std::size_t>(outcome);
  if (place < first || place >= first + kWatchedFields) return std::nullopt;
  return static_cast<WatchedField>(place - first);
}

SignatureOutcome Signatures::owner_rule(std::string_view domain, std::string_view signer) const noexcept {
  const auto rule = std::ranges::find_if(
      owner_rules, [&](const OwnerRule& each) { return each.domain == domain && each.signer == signer; });
  return rule != owner_rules.end() ? rule->outcome : SignatureOutcome::other_domain_not_allowed;
}

bool Signatures::may_count(const Signature& signature, std::string_view domain, Alignment alignment) const noexcept {
  if (!aligned(signature.domain, domain, alignment)) return false;
  return alignment != Alignment::relaxed || signature.domain == domain ||
         owner_rule(domain, signature.domain) == SignatureOutcome::pass;
}

bool Signatures::pass_for(std::string_view domain, Alignment alignment) const noexcept {
  return std::ranges::any_of(all, [&](const Signature& each) {
    return each.outcome == SignatureOutcome::pass && may_count(each, domain, alignment);
  });
}

SignatureOutcome Signatures::outcome_for(std::string_view domain, Alignment alignment) const noexcept {
  if (pass_for(domain, alignment)) return SignatureOutcome::pass;
  const auto first = [this](const auto& is_meant) -> const Signature* {
    const auto found = std::ranges::find_if(all, is_meant);
    return found != all.end() ? &*found : nullptr;
  };
  const auto is_aligned = [&](const Signature& each) { return aligned(each.domain, domain, alignment); };
  const auto counts = [&](const Signature& each) { return may_count(each, domain, alignment); };
  const auto is_kept_out = [&](const Signature& each) {
    return each.outcome == SignatureOutcome::pass && is_aligned(each);
  };
  if (const Signature* const found = first(counts)) return found->outcome;
  if (const Signature* const found = first(is_kept_out)) return owner_rule(domain, found->domain);
  const Signature* const found = first(is_aligned);
  return found != nullptr ? found->outcome : fault;
}

}  // namespace bloomgate
