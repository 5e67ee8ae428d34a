#include "milter/policy/grounds.hpp"

#include <algorithm>
#include <bitset>
#include <climits>

#include "filter/address/address.hpp"
#include "filter/address/domain.hpp"
#include "milter/policy/alignment.hpp"
#include "milter/policy/result_forgery.hpp"

namespace bloomgate {
namespace {

// The d= of a DKIM-Signature field; empty if there is none, or if a tag is there twice, which makes the list void (RFC
// 6376 section 3.2).
std::string_view signed_domain(std::string_view value) noexcept {
  std::string_view found;
  std::bitset<1 << CHAR_BIT> names;
  bool is_void = false;
  for_each_signature_tag(value, [&](char name, std::string_view text) {
    const auto index = static_cast<unsigned char>(name);
    is_void = is_void || names.test(index);
    names.set(index);
    if (name == 'd') found = text;
  });
  return is_void ? std::string_view() : found;
}

}  // namespace

void Grounds::begin(std::string_view helo, std::string_view path) {
  clear();
  misleading_ = helo_can_forge_results(helo) || sender_can_forge_results(path);
  sender_domain_ = canonicalize_path(path).domain();
}

void Grounds::add_signature(std::string_view value) {
  misleading_ = misleading_ || ++signatures_ > kMaxSignatures || signature_can_forge_results(value);
  if (misleading_) return;
  Domain domain;
  if (canonicalize_domain(signed_domain(value), domain) == RejectReason::none) {
    signed_domains_.emplace_back(domain.view());
  }
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
