#include "milter/fields/grounds.hpp"

#include <algorithm>

#include "filter/address/address.hpp"
#include "filter/address/domain.hpp"
#include "filter/address/list_id.hpp"
#include "milter/fields/alignment.hpp"
#include "milter/fields/result_forgery.hpp"
#include "milter/fields/tag_list.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxTimeBytes = 20;  // of the largest number in 64 bits

}  // namespace

void Grounds::begin(std::string_view helo, std::string_view path) {
  clear();
  misleading_ = helo_can_forge_results(helo) || sender_can_forge_results(path);
  sender_domain_ = canonicalize_path(path).domain();
}

void Grounds::add_signature(std::string_view value) {
  if (++signatures_ > kMaxSignatures) misleading_ = true;
  if (signatures_ > kMaxSignatures) return;
  const TagList tags(value);
  Domain domain;
  const bool has_domain = canonicalize_domain(tags.find("d").value_or(""), domain) == RejectReason::none;
  if (has_domain && std::ranges::find(claimed_signers_, domain.view()) == claimed_signers_.end()) {
    claimed_signers_.emplace_back(domain.view());
  }
  misleading_ = misleading_ || signature_can_forge_results(value);
  if (misleading_ || !has_domain) return;
  Claim& claim = claims_.emplace_back();
  claim.domain = domain.view();
  claim.signature = {canonical_selector(tags.find("s").value_or("")), signature_start(tags.find("b").value_or(""))};
  claim.names = SignedNames(tags.find("h").value_or(""));
  claim.is_readable = claim.covers = tags.is_valid() && !tags.find("l");
  if (const auto time = tags.find("t")) claim.time.emplace(time->substr(0, kMaxTimeBytes));
}

void Grounds::add_field(std::string_view name, std::string_view value) {
  const std::size_t before = seen_.count(WatchedField::list_id);
  seen_.add(name, value);
  const std::size_t lists = seen_.count(WatchedField::list_id);
  if (lists == before || lists > kMostLists) return;
  if (auto list = read_list_id(value)) named_lists_.push_back(*std::move(list));
}

void Grounds::end_header(const CoverRules& rules, std::chrono::sys_seconds now) {
  for (Claim& claim : claims_) claim.covers = covers(claim, rules, now);
  is_header_complete_ = true;
}

std::string_view Grounds::list_id() const noexcept {
  const bool is_one = seen_.count(WatchedField::list_id) == 1 && !seen_.has_odd_name(WatchedField::list_id);
  if (!is_header_complete_ || misleading_ || !is_one || named_lists_.empty()) return {};
  return named_lists_.front();
}

std::span<const std::string> Grounds::signers() const noexcept {
  if (!is_header_complete_ || misleading_) return {};
  return std::span(claimed_signers_).first(std::min(claimed_signers_.size(), kMostSigners));
}

bool Grounds::covers(const Claim& claim, const CoverRules& rules, std::chrono::sys_seconds now) const {
  const std::size_t times = claim.names.count(WatchedField::from);
  if (!claim.is_readable || times == 0) return false;
  if (rules.require_oversigned && times <= seen_.count(WatchedField::from)) return false;
  const auto made = time_signed(claim.time, seen_, claim.names);
  const bool is_recent = made && *made >= now - rules.max_age && *made <= now + kMostAhead;
  return is_recent && !open_fields(seen_, claim.names, rules.required).added;
}

void Grounds::clear() noexcept {
  sender_domain_.clear();
  claims_.clear();
  claimed_signers_.clear();
  named_lists_.clear();
  seen_.clear();
  signatures_ = 0;
  is_header_complete_ = false;
  misleading_ = false;
}

bool Grounds::signs_list_id(std::string_view signer) const noexcept {
  const auto is_of_signer = [signer](const Claim& claim) { return claim.domain == signer; };
  const auto leaves_it_open = [&](const Claim& claim) {
    return is_of_signer(claim) && claim.names.count(WatchedField::list_id) == 0;
  };
  return std::ranges::any_of(claims_, is_of_signer) && std::ranges::none_of(claims_, leaves_it_open);
}

std::string_view Grounds::signer_below(std::string_view domain) const noexcept {
  const auto found =
      std::ranges::find_if(claims_, [domain](const Claim& claim) { return is_child(claim.domain, domain); });
  return found == claims_.end() ? std::string_view() : found->domain;
}

bool Grounds::is_misleading(const HeaderFrom& from) const noexcept {
  return misleading_ || from_can_forge_results(from);
}

// Whether there is a signature that a result may be about, and none of these leaves anything open: a result does not
// say which of them was valid.
template <typename Predicate>
bool Grounds::has_signer(Predicate is_about) const noexcept {
  const auto is_open = [&](const Claim& claim) { return is_about(claim) && !claim.covers; };
  return std::ranges::any_of(claims_, is_about) && std::ranges::none_of(claims_, is_open);
}

bool Grounds::support(AuthenticationMethod method, std::string_view domain, const SignatureName& named) const noexcept {
  const auto is_aligned = [domain](std::string_view other) { return aligned(other, domain, Alignment::relaxed); };
  switch (method) {
    case AuthenticationMethod::spf:
      return !domain.empty() && domain == sender_domain_;
    case AuthenticationMethod::dkim:
      return has_signer([&](const Claim& claim) {
        return is_same_or_below(domain, claim.domain) && can_mean(named, claim.signature);
      });
    case AuthenticationMethod::dmarc:
      return is_aligned(sender_domain_) || has_signer([&](const Claim& claim) { return is_aligned(claim.domain); });
    case AuthenticationMethod::arc:
    case AuthenticationMethod::other:
      break;
  }
  return true;
}

}  // namespace bloomgate
