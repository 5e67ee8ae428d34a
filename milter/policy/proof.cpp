#include "milter/policy/proof.hpp"

#include <algorithm>

namespace bloomgate {
namespace {

// Whether a domain entry of a list, `@example.org` or `@.example.org`, covers the domain.
bool covers(std::string_view entry, std::string_view domain) noexcept {
  if (domain.empty() || !entry.starts_with('@')) return false;
  entry.remove_prefix(1);
  if (!entry.starts_with('.')) return entry == domain;
  return is_same_or_below(domain, entry.substr(1));
}

}  // namespace

bool Proof::is_signed(std::string_view domain) const noexcept {
  if (domain.empty()) return false;
  if (authentication_.dkim_aligned(domain, without_dmarc())) return true;
  if (signatures_ != nullptr && signatures_->pass_for(domain, policy_.alignment)) return true;
  return std::ranges::any_of(supposed_,
                             [&](std::string_view signer) { return aligned(signer, domain, policy_.alignment); });
}

bool Proof::is_signed_by(std::string_view signer) const noexcept {
  if (signer.empty()) return false;
  return authentication_.dkim_aligned(signer, Alignment::strict) ||
         (signatures_ != nullptr && signatures_->pass_for(signer, Alignment::strict)) ||
         std::ranges::find(supposed_, signer) != supposed_.end();
}

bool Proof::spf_passed() const noexcept {
  const std::string_view domain = senders_.envelope().domain();
  return !domain.empty() && authentication_.spf_aligned(domain, Alignment::strict);
}

bool Proof::spf_speaks_for(std::string_view domain) const noexcept {
  return spf_passed() && aligned(senders_.envelope().domain(), domain, without_dmarc());
}

bool Proof::spf_passed_for_forwarder() const noexcept {
  const RewrittenSender& rewritten = senders_.rewritten();
  return rewritten.is_forwarded() && authentication_.spf_aligned(rewritten.sending_domain(), Alignment::strict);
}

bool Proof::spf_passed_for_identity() const noexcept {
  if (!senders_.is_replaced()) return spf_passed();
  return spf_speaks_for(senders_.behind().domain()) || spf_passed_for_forwarder();
}

bool Proof::spf_may_prove(bool by_domain) const noexcept {
  return policy_.spf_proves == SpfProves::address || (by_domain && policy_.spf_proves == SpfProves::domain);
}

bool Proof::spf_is_denied() const noexcept {
  return authentication_.spf_is_denied(senders_.envelope().domain()) ||
         (senders_.is_replaced() && authentication_.spf_is_denied(senders_.behind().domain()));
}

Proven Proof::of_from(bool by_domain) const noexcept {
  if (!senders_.has_from()) return {};
  const std::string_view domain = senders_.from().domain();
  const auto proven = [](AuthenticationMethod method) { return Proven{method, ProofOf::from}; };
  if (dmarc() != Finding::fail) {
    const bool has_passed = dmarc() == Finding::pass;
    const bool is_signed_by_owner = is_signed(domain);
    // Under `relaxed`, the operator has chosen DMARC's own rule. Otherwise a DMARC result proves only what the results
    // under it prove.
    if (has_passed && (policy_.alignment == Alignment::relaxed || is_signed_by_owner)) {
      return proven(AuthenticationMethod::dmarc);
    }
    if (is_signed_by_owner) return proven(AuthenticationMethod::dkim);
    if (spf_may_prove(by_domain) && spf_speaks_for(domain)) {
      return proven(has_passed ? AuthenticationMethod::dmarc : AuthenticationMethod::spf);
    }
  }
  if (policy_.trust_arc && authentication_.arc() == Finding::pass) return proven(AuthenticationMethod::arc);
  return {};
}

Proven Proof::of_envelope(std::string_view domain_entry, bool is_from) const noexcept {
  const bool by_domain = !domain_entry.empty();
  const Proven from = of_from(by_domain);
  if (is_from && from.is_proven()) return {from.method, ProofOf::same_from};
  if (spf_may_prove(by_domain) && spf_passed_for_identity()) return {AuthenticationMethod::spf, ProofOf::envelope};
  if (!by_domain || !senders_.has_from() || !covers(domain_entry, senders_.from().domain())) return {};
  if (spf_is_denied() || dmarc() == Finding::fail) return {};
  const std::string_view domain = senders_.identity().domain();
  if (is_signed(domain)) return {AuthenticationMethod::dkim, ProofOf::covered_from};
  // The domain of the From mailbox is proven, and speaks for that of the envelope sender.
  const bool speaks = from.is_proven() && from.method != AuthenticationMethod::arc;
  if (speaks && aligned(senders_.from().domain(), domain, without_dmarc())) return {from.method, ProofOf::covered_from};
  return {};
}

Proof::Method Proof::of_domain(std::string_view domain) const noexcept {
  if (domain.empty()) return std::nullopt;
  if (is_signed(domain)) return AuthenticationMethod::dkim;
  if (spf_may_prove(true) && spf_speaks_for(domain)) return AuthenticationMethod::spf;
  if (dmarc() == Finding::pass && aligned(senders_.from().domain(), domain, without_dmarc()) &&
      of_from(true).is_proven()) {
    return AuthenticationMethod::dmarc;
  }
  return std::nullopt;
}

Proof::Method Proof::of_envelope_domain() const noexcept {
  return of_domain(senders_.envelope().domain());
}

Proof::Method Proof::of_behind_domain() const noexcept {
  if (const Method method = of_domain(senders_.behind().domain())) return method;
  return spf_may_prove(true) && spf_passed_for_forwarder() ? Method(AuthenticationMethod::spf) : std::nullopt;
}

bool Proof::from_may_prove(std::string_view domain_entry, bool is_from) const noexcept {
  return is_from || (senders_.has_from() && covers(domain_entry, senders_.from().domain()));
}

ChildSigner Proof::child_signer(std::string_view domain) const noexcept {
  if (policy_.alignment == Alignment::relaxed) return {};
  const std::string_view verified = authentication_.child_signer(domain);
  ChildSigner child = {.is_verified = !verified.empty()};
  child.domain.append(verified);
  if (child.is_none() && grounds_ != nullptr) child.domain.append(grounds_->signer_below(domain));
  if (!child.is_none()) child.parent_bytes = domain.size();
  return child;
}

bool Proof::denies(std::string_view domain) const noexcept {
  // The sender may have made a field unreadable on purpose.
  return authentication_.unreadable_fields() != 0 || authentication_.fails_aligned(domain);
}

bool Proof::denies_envelope() const noexcept {
  if (denies(senders_.identity().domain())) return true;
  return senders_.is_replaced() && senders_.rewritten().is_forwarded() && denies(senders_.rewritten().sending_domain());
}

}  // namespace bloomgate
