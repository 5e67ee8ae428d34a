#include "milter/policy/grounds.hpp"

#include <algorithm>

#include "filter/address/address.hpp"
#include "filter/address/domain.hpp"
#include "milter/policy/alignment.hpp"
#include "milter/policy/result_forgery.hpp"

namespace bloomgate {

void Grounds::begin(std::string_view helo, std::string_view path) {
  clear();
  misleading_ = helo_can_forge_results(helo) || sender_can_forge_results(path);
  sender_domain_ = canonicalize_path(path).domain();
}

void Grounds::add_signature(std::string_view value) {
  misleading_ = misleading_ || ++signatures_ > kMaxSignatures || signature_can_forge_results(value);
  if (misleading_) return;
  for_each_signature_tag(value, [this](char name, std::string_view text) {
    Domain domain;
    if (name == 'd' && canonicalize_domain(text, domain) == RejectReason::none) {
      signed_domains_.emplace_back(domain.view());
    }
  });
}

void Grounds::clear() noexcept {
  sender_domain_.clear();
  signed_domains_.clear();
  signatures_ = 0;
  misleading_ = false;
}

bool Grounds::is_misleading(const HeaderFrom& from) const noexcept {
  return misleading_ || from_can_forge_results(from);
}

bool Grounds::support(AuthenticationMethod method, std::string_view domain) const noexcept {
  const auto is_signer = [domain](std::string_view signer) { return is_same_or_below(domain, signer); };
  const auto is_aligned = [domain](std::string_view other) { return aligned(other, domain, Alignment::relaxed); };
  switch (method) {
    case AuthenticationMethod::spf:
      return !domain.empty() && domain == sender_domain_;
    case AuthenticationMethod::dkim:
      return std::ranges::any_of(signed_domains_, is_signer);
    case AuthenticationMethod::dmarc:
      return is_aligned(sender_domain_) || std::ranges::any_of(signed_domains_, is_aligned);
    case AuthenticationMethod::arc:
    case AuthenticationMethod::other:
      break;
  }
  return true;
}

}  // namespace bloomgate
