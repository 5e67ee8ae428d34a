#include "milter/policy/proof.hpp"

#include <algorithm>

namespace bloomgate {

Proof::Method Proof::of_domain(std::string_view domain) const noexcept {
  if (domain.empty()) return std::nullopt;
  if (dmarc() == Finding::pass && aligned(senders_.from().domain(), domain, policy_.alignment)) {
    return AuthenticationMethod::dmarc;
  }
  if (authentication_.dkim_aligned(domain, policy_.alignment)) return AuthenticationMethod::dkim;
  if (signature_passed(domain)) return AuthenticationMethod::dkim;
  if (spf_passed() && aligned(senders_.envelope().domain(), domain, policy_.alignment)) {
    return AuthenticationMethod::spf;
  }
  return std::nullopt;
}

bool Proof::signature_passed(std::string_view domain) const noexcept {
  if (signatures_ != nullptr && signatures_->pass_for(domain, policy_.alignment)) return true;
  return std::ranges::any_of(supposed_,
                             [&](std::string_view signer) { return aligned(signer, domain, policy_.alignment); });
}

bool Proof::spf_passed() const noexcept {
  const std::string_view domain = senders_.envelope().domain();
  return !domain.empty() && authentication_.spf_aligned(domain, Alignment::strict);
}

Proof::Method Proof::of_behind() const noexcept {
  const RewrittenSender& rewritten = senders_.rewritten();
  if (const Method method = of_domain(senders_.behind().domain())) return method;
  if (rewritten.is_forwarded() && authentication_.spf_aligned(rewritten.sending_domain(), Alignment::strict)) {
    return AuthenticationMethod::spf;
  }
  return std::nullopt;
}

Proof::Method Proof::of_from() const noexcept {
  if (!senders_.has_from()) return std::nullopt;
  if (dmarc() != Finding::fail) {
    if (const Method method = of_domain(senders_.from().domain())) return method;
  }
  if (policy_.trust_arc && authentication_.arc() == Finding::pass) return AuthenticationMethod::arc;
  return std::nullopt;
}

bool Proof::denies(std::string_view domain) const noexcept {
  // The sender may have made a field unreadable on purpose.
  return authentication_.unreadable_fields() != 0 || authentication_.fails_aligned(domain);
}

bool Proof::denies_behind() const noexcept {
  return denies(senders_.behind().domain()) ||
         (senders_.rewritten().is_forwarded() && denies(senders_.rewritten().sending_domain()));
}

}  // namespace bloomgate
