#include "milter/policy/signed_route.hpp"

#include <algorithm>

#include "filter/address/list_id.hpp"
#include "milter/fields/alignment.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/policy/look_up_recipients.hpp"
#include "milter/policy/neighbours.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

Entry mailing_list(std::string_view list_id) noexcept {
  FixedText<kMaxKeyBytes> text;
  if (!list_id.empty()) {
    text.append(kMailingListPrefix);
    text.append(list_id);
  }
  return canonicalize_list_line(text.view());
}

Entry mailing_list_of(const Facts& facts) noexcept {
  return mailing_list(facts.grounds == nullptr ? std::string_view() : facts.grounds->list_id());
}

bool SignedRoute::is_open() const noexcept {
  return facts_.grounds != nullptr && senders_.has_from() && senders_.envelope().kind() == EntryKind::address &&
         !facts_.is_bounce;
}

std::optional<Decision> SignedRoute::of_from() noexcept {
  if (!is_open()) return std::nullopt;
  return by_signer_of(IdentityKind::header_from, senders_.from_path(), senders_.from());
}

std::optional<Decision> SignedRoute::of_mailing_list() noexcept {
  if (!is_open() || facts_.grounds->list_id().empty()) return std::nullopt;
  const Entry list = mailing_list_of(facts_);
  if (!list.is_key()) return std::nullopt;
  const std::optional<Decision> by_host = by_host_of(list);
  if (by_host && by_host->verdict == Verdict::deliver) return by_host;
  const std::optional<Decision> by_signer = by_signer_of(IdentityKind::mailing_list, {}, list);
  if (by_signer && by_signer->verdict == Verdict::deliver) return by_signer;
  return by_host ? by_host : by_signer;
}

std::optional<Decision> SignedRoute::by_signer_of(IdentityKind kind, std::string_view path,
                                                  const Entry& entry) noexcept {
  if (!lists_.list_with_signers()) return std::nullopt;
  std::optional<Decision> unproven;
  for (const std::string_view signer : facts_.grounds->signers()) {
    const Listing listing = look_up_signer(path, entry, signer);
    if (!listing.is_listed) continue;
    const Decision decision = decided(kind, listing, ProofOf::signer, signer);
    if (decision.verdict == Verdict::deliver) return decision;
    if (!unproven) unproven = decision;
  }
  return unproven;
}

Listing SignedRoute::look_up_signer(std::string_view path, const Entry& entry, std::string_view signer) noexcept {
  if (neighbours_are_listed_ && have_neighbours_with_signer(lists_, entry, signer)) {
    return {.is_listed = true, .reason = Reason::listed_with_signer};
  }
  return look_up_with_signer(lists_, path, entry, signer, trace_);
}

Listing SignedRoute::look_up_list(const Entry& list) noexcept {
  if (neighbours_are_listed_ && have_neighbours(lists_, list)) {
    return {.is_listed = true, .reason = Reason::listed_mailing_list};
  }
  const Listing alone = look_up_mailing_list(lists_, list, trace_);
  if (alone.is_listed) return alone;
  return look_up_pairs(alone, std::nullopt, lists_, facts_, policy_.recipient_delimiter, {}, list, trace_);
}

std::optional<Decision> SignedRoute::by_host_of(const Entry& list) noexcept {
  const Listing listing = look_up_list(list);
  if (!listing.is_listed) return std::nullopt;
  std::optional<Decision> unproven;
  for (const std::string_view signer : facts_.grounds->signers()) {
    if (!may_sign(signer, list)) continue;
    const Decision decision = decided(IdentityKind::mailing_list, listing, ProofOf::list_id, signer);
    if (decision.verdict == Verdict::deliver) return decision;
    if (!unproven) unproven = decision;
  }
  return unproven ? unproven : decided(IdentityKind::mailing_list, listing, ProofOf::list_id, {});
}

bool SignedRoute::may_sign(std::string_view signer, const Entry& list) const noexcept {
  const std::string_view id = list.domain();
  if (signer == id) return true;
  const std::string_view host = list_host(id);
  const std::string_view organization = organizational_domain(host);
  return signer == host && !organization.empty() && organization != host;
}

void SignedRoute::want(std::string_view signer) noexcept {
  const std::span<const std::string_view> wanted = wanted_signers();
  if (!signer.empty() && std::ranges::find(wanted, signer) == wanted.end()) wanted_[wanted_count_++] = signer;
}

Decision SignedRoute::decided(IdentityKind kind, const Listing& listing, ProofOf of, std::string_view signer) noexcept {
  Decision decision = {.verdict = Verdict::check, .reason = listing.reason, .identity = kind};
  decision.list.append(listing.list);
  decision.entry = listing.entry;
  decision.for_recipients = listing.for_recipients;
  decision.signer.append(signer);
  const bool covers = kind != IdentityKind::mailing_list || facts_.grounds->signs_list_id(signer);
  const bool is_proven = covers && proof_.is_signed_by(signer);
  // There is a signature that may count, but the field may have been added. Without a signer nobody may sign.
  const bool is_field_open = !covers && !signer.empty();
  if (trace_ != nullptr) {
    trace_->add("authentication", identity_kind_name(kind), signer,
                is_proven       ? method_name(AuthenticationMethod::dkim)
                : is_field_open ? signature_outcome_name(SignatureOutcome::field_added_list_id)
                                : method_name(std::nullopt),
                {.proof = is_proven ? proof_name(of) : std::string_view()});
  }
  if (is_proven) {
    decision.verdict = Verdict::deliver;
    decision.method = AuthenticationMethod::dkim;
    decision.proof = of;
    return decision;
  }
  decision.reason = Reason::not_authenticated;
  if (covers) want(signer);
  if (is_field_open) {
    decision.signature = SignatureOutcome::field_added_list_id;
  } else if (facts_.signatures) {
    decision.signature = facts_.signatures->outcome_for(signer, Alignment::strict);
  }
  return decision;
}

}  // namespace bloomgate
