#include "milter/policy/decider.hpp"

#include <array>
#include <charconv>

#include "milter/policy/look_up_recipients.hpp"
#include "milter/policy/neighbours.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

Decision check_because(Reason reason, IdentityKind identity) noexcept {
  return {.verdict = Verdict::check, .reason = reason, .identity = identity};
}

Decision Decider::decide() noexcept {
  trace_senders();
  trace_results();
  trace_signatures();
  if (listed_ == WhoIsListed::as_lists_say) {
    if (const auto decision = find_revoked()) {
      is_revoked_ = true;
      return *decision;
    }
  }
  if (facts_.is_header_ambiguous) return check_because(Reason::ambiguous_header);
  if (!senders_.has_from() && from_matters()) return check_because(senders_.from_fault(), IdentityKind::header_from);
  if (const auto decision = find_own_domain()) {
    if (decision->identity != IdentityKind::header_from) return *decision;
    // An entry may allow a service to send in the name of an own domain.
    const std::optional<Decision> by_service = by_signer_of_from();
    return by_service && by_service->verdict == Verdict::deliver ? *by_service : *decision;
  }
  const Decision by_sender = by_senders();
  if (by_sender.verdict == Verdict::deliver) return by_sender;
  const std::optional<Decision> by_signer = by_signers();
  if (!by_signer) return by_sender;
  lacks_proof_ = lacks_proof_ || by_signer->verdict != Verdict::deliver;
  return by_signer->verdict == Verdict::deliver || !came_further(by_sender) ? *by_signer : by_sender;
}

void Decider::note(std::string_view name, std::string_view subject, std::string_view key, std::string_view outcome,
                   std::string_view entry) const noexcept {
  if (trace_ != nullptr) trace_->add(name, subject, key, outcome, {.entry = entry});
}

void Decider::note(std::string_view name, std::string_view subject, std::size_t count) const noexcept {
  std::array<char, 20> digits;  // of the largest number
  const auto end = std::to_chars(digits.begin(), digits.end(), count).ptr;
  note(name, subject, {}, {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void Decider::trace_senders() const noexcept {
  if (trace_ == nullptr) return;
  const Entry& envelope = senders_.envelope();
  const bool is_null = envelope.kind() == EntryKind::null_sender;
  note("envelope-sender", senders_.envelope_path(), envelope.key(),
       is_null             ? "null-sender"
       : envelope.is_key() ? "address"
                           : reject_reason_name(envelope.reason()));
  if (senders_.rewritten().is_undone()) {
    note("rewritten-sender", senders_.rewritten().path(), senders_.behind().key(),
         !senders_.behind().is_key() ? reject_reason_name(senders_.behind().reason())
         : senders_.is_replaced()    ? "undone"
                                     : "not-undone");
  }
  note("header-from", senders_.from_path(), senders_.from().key(),
       senders_.has_from() ? "address" : reason_name(senders_.from_fault()));
}

void Decider::trace_results() const noexcept {
  note("results", "trusted", authentication_.trusted_fields());
  note("results", "unreadable", authentication_.unreadable_fields());
  note("results", "not-trusted", authentication_.ignored_fields());
  if (authentication_.is_distrusted()) note("results", {}, {}, "distrusted");
}

void Decider::trace_signatures() const noexcept {
  if (trace_ == nullptr || !facts_.signatures) return;
  const Signatures& signatures = *facts_.signatures;
  for (const Signature& each : signatures.all) {
    note("signature", each.selector, each.domain, signature_outcome_name(each.outcome));
    if (each.key_bits != 0) note("key-bits", each.selector, each.key_bits);
  }
  if (signatures.all.empty()) note("signature", {}, {}, signature_outcome_name(signatures.fault));
  if (signatures.all.empty() && signatures.fault == SignatureOutcome::no_signature && facts_.grounds != nullptr) {
    for (const std::string_view signer : facts_.grounds->signers()) note("signed-by", {}, signer, "not-aligned");
  }
  for (const OwnerRule& each : signatures.owner_rules) {
    note("owner-rule", each.signer, each.domain, signature_outcome_name(each.outcome));
  }
}

std::optional<Decision> Decider::find_revoked() const noexcept {
  if (lists_.revoked == nullptr || lists_.revoked->size() == 0) return std::nullopt;
  const TagSeparators separators = separators_of_revoked(lists_);
  const auto find = [&](const Entry& sender, IdentityKind identity) -> std::optional<Decision> {
    if (!sender.is_key()) return std::nullopt;
    const FoundEntry found = lists_.revoked->find(sender, separators);
    Decision decision = check_because(Reason::revoked, identity);
    decision.entry = found.domain_entry();
    note_revoked(sender, found, separators);
    if (found.is_listed()) return decision;
    const std::optional<Decision> with_signer = find_revoked_signer(sender, identity, separators);
    return with_signer ? with_signer : find_revoked_pair(sender, identity, separators);
  };
  if (const auto decision = find(senders_.envelope(), IdentityKind::envelope)) return decision;
  if (const auto decision = find(senders_.behind(), IdentityKind::envelope)) return decision;
  if (const auto decision = find(senders_.from(), IdentityKind::header_from)) return decision;
  if (facts_.grounds == nullptr) return std::nullopt;
  for (const std::string& list : facts_.grounds->named_lists()) {
    if (const auto decision = find(mailing_list(list), IdentityKind::mailing_list)) return decision;
  }
  // One of those that were not read may be revoked.
  return facts_.grounds->has_more_claims() ? std::optional(check_because(Reason::distrusted_results)) : std::nullopt;
}

std::optional<Decision> Decider::find_revoked_signer(const Entry& sender, IdentityKind identity,
                                                     TagSeparators separators) const noexcept {
  if (facts_.grounds == nullptr) return std::nullopt;
  for (const std::string_view signer : facts_.grounds->claimed_signers()) {
    const SignerKey found = lists_.revoked->find_with_signer(sender, signer, separators);
    if (found.view().empty()) continue;
    note("revoked", signer, sender.key(), match_name(Match::with_signer), found.view());
    Decision decision = check_because(Reason::revoked, identity);
    const std::string_view entry = sides_of_signer_key(found.view()).entry;
    if (entry.starts_with('@') || is_mailing_list_key(entry)) decision.entry.append(entry);
    decision.signer.append(signer);
    return decision;
  }
  return std::nullopt;
}

std::optional<Decision> Decider::find_revoked_pair(const Entry& sender, IdentityKind identity,
                                                   TagSeparators separators) const noexcept {
  const ExactList& revoked = *lists_.revoked;
  if (!revoked.has_pairs_of(sender, separators)) return std::nullopt;
  if (const std::optional<Reason> fault = fault_of(facts_.recipients)) {
    note("revoked", "recipients", sender.key(), reason_name(*fault));
    return check_because(*fault, identity);
  }
  const TagSeparators delimiter = separators | policy_.recipient_delimiter;
  bool are_all_known = true;
  for (const std::string_view path : facts_.recipients.paths) {
    const Entry recipient = canonicalize_path(path);
    const FoundPair found = revoked.find_pair(sender, recipient, separators, delimiter);
    note_revoked(path, sender, found);
    if (found.is_listed()) return check_because(Reason::revoked, identity);
    are_all_known = are_all_known && names_one_recipient(recipient);
  }
  return are_all_known ? std::nullopt : std::optional(check_because(Reason::recipients_unknown, identity));
}

void Decider::note_revoked(const Entry& sender, const FoundEntry& found, TagSeparators separators) const noexcept {
  if (trace_ == nullptr) return;
  const std::string_view outcome = found.is_listed() ? match_name(found.match) : "no";
  const bool is_by_untagged = found.match == Match::address && !lists_.revoked->has(sender);
  const Entry untagged = is_by_untagged ? canonicalize_path(sender.key(), {.tag_separators = separators}) : Entry();
  note("revoked", {}, sender.key(), outcome, is_by_untagged ? untagged.key() : found.domain_entry().view());
}

void Decider::note_revoked(std::string_view recipient, const Entry& sender, const FoundPair& found) const noexcept {
  if (!found.is_listed()) return note("revoked", recipient, sender.key(), "no");
  const PairSides sides = sides_of_pair(found.key.view());
  FixedText<kMaxPairKeyBytes + 2> entry;  // in the list's notation
  entry.append(sides.sender);
  entry.append(" > ");
  entry.append(sides.recipient);
  note("revoked", recipient, sender.key(), "pair", entry.view());
}

bool Decider::from_matters() const noexcept {
  return policy_.identity == IdentityRule::header_from || policy_.identity == IdentityRule::both ||
         (policy_.dmarc_fail_vetoes && policy_.authentication != AuthenticationRule::off) ||
         policy_.own_domains.size() != 0 || (lists_.revoked != nullptr && lists_.revoked->size() != 0);
}

std::optional<Decision> Decider::find_own_domain() noexcept {
  if (policy_.own_domains.size() == 0) return std::nullopt;
  const auto claims = [&](const Entry& sender, const std::optional<AuthenticationMethod>& method) {
    if (!sender.is_key()) return false;
    const bool is_own = policy_.own_domains.find(sender).is_listed();
    note("own-domain", {}, sender.domain(), !is_own ? "no" : method ? method_name(method) : "not-authenticated");
    lacks_proof_ = lacks_proof_ || (is_own && !method);
    return is_own && !method;
  };
  if (claims(senders_.envelope(), proof_.of_envelope_domain()) ||
      claims(senders_.behind(), proof_.of_behind_domain())) {
    return own_domain(IdentityKind::envelope, senders_.identity());
  }
  if (claims(senders_.from(), proof_.of_from_domain())) return own_domain(IdentityKind::header_from, senders_.from());
  return std::nullopt;
}

Decision Decider::own_domain(IdentityKind kind, const Entry& sender) const noexcept {
  Decision decision = check_because(Reason::own_domain, kind);
  note_signature(decision, sender);
  decision.is_envelope_alone = kind == IdentityKind::envelope;
  return decision;
}

void Decider::note_signature(Decision& decision, const Entry& sender) const noexcept {
  if (facts_.signatures) decision.signature = facts_.signatures->outcome_for(sender.domain(), policy_.alignment);
}

std::optional<Decision> Decider::find_dmarc_fail() const noexcept {
  if (!senders_.has_from()) return std::nullopt;
  const Finding finding = proof_.dmarc();
  const bool is_distrusted = authentication_.is_distrusted();
  note("dmarc", {}, senders_.from().domain(), is_distrusted ? "distrusted" : finding_name(finding));
  if (finding != Finding::fail || !policy_.dmarc_fail_vetoes) return std::nullopt;
  return check_because(is_distrusted ? Reason::distrusted_results : Reason::dmarc_fail, IdentityKind::header_from);
}

Decision Decider::by_senders() noexcept {
  if (way_ == Way::signer) return check_because(Reason::not_listed);
  if (const auto decision = find_dmarc_fail()) return *decision;
  return by_identity_rule();
}

std::optional<Decision> Decider::by_signer_of_from() noexcept {
  if (!may_be_by_signer()) return std::nullopt;
  return route_.of_from();
}

std::optional<Decision> Decider::by_signers() noexcept {
  if (!may_be_by_signer()) return std::nullopt;
  const std::optional<Decision> from = by_signer_of_from();
  if (from && from->verdict == Verdict::deliver) return from;
  const std::optional<Decision> list = route_.of_mailing_list();
  return list && (!from || list->verdict == Verdict::deliver) ? list : from;
}

IdentityRule Decider::identity_rule() const noexcept {
  switch (way_) {
    case Way::envelope:
      return IdentityRule::envelope;
    case Way::header_from:
      return IdentityRule::header_from;
    case Way::both:
      return IdentityRule::both;
    case Way::any:
    case Way::signer:
      break;
  }
  return policy_.identity;
}

Decision Decider::by_identity_rule() noexcept {
  // A server signs the bounces that it sends, although an attacker may have written their content.
  const Entry& sender = senders_.envelope();
  if (sender.kind() == EntryKind::null_sender) return check_because(Reason::null_sender, IdentityKind::envelope);
  // A mail server may treat it as the null sender: Postfix does so with `<@relay.example:>`.
  if (sender.kind() != EntryKind::address) {
    Decision decision = check_because(Reason::malformed_sender, IdentityKind::envelope);
    decision.sender_fault = sender.reason();
    return decision;
  }
  if (facts_.is_bounce) return check_because(Reason::bounce);
  switch (identity_rule()) {
    case IdentityRule::envelope:
      return by_envelope();
    case IdentityRule::header_from:
      return by_from();
    case IdentityRule::either:
      return by_either();
    case IdentityRule::both:
      return by_both();
  }
  return check_because(Reason::internal_error);
}

Decision Decider::by_either() noexcept {
  const Decision envelope = by_envelope();
  if (envelope.verdict == Verdict::deliver) return envelope;
  const Decision from = by_from();
  if (from.verdict == Verdict::deliver) return from;
  return came_further(from) && !came_further(envelope) ? from : envelope;
}

Decision Decider::by_both() noexcept {
  const Decision envelope = by_envelope();
  if (envelope.verdict != Verdict::deliver) return envelope;
  Decision from = by_from();
  if (from.verdict == Verdict::deliver) from.identity = IdentityKind::both;
  return from;
}

Decision Decider::by_envelope() noexcept {
  if (senders_.is_replaced()) {
    return by_lists({IdentityKind::envelope, senders_.rewritten().path(), senders_.behind()});
  }
  return by_lists({IdentityKind::envelope, senders_.envelope_path(), senders_.envelope()});
}

Decision Decider::by_from() noexcept {
  if (!senders_.has_from()) return check_because(senders_.from_fault(), IdentityKind::header_from);
  return by_lists({IdentityKind::header_from, senders_.from_path(), senders_.from()});
}

Listing Decider::find(const Subject& subject) noexcept {
  if (listed_ == WhoIsListed::nobody) return {};
  if (listed_ == WhoIsListed::neighbours && have_neighbours(lists_, subject.entry)) {
    return {.is_listed = true, .reason = Reason::listed, .profile = widest_profile(lists_)};
  }
  const TagSeparators delimiter = policy_.recipient_delimiter;
  const std::optional<Listing> learned = look_up_learned(lists_, facts_, delimiter, subject.entry, trace_);
  if (learned && learned->is_listed) return *learned;
  const Listing alone = look_up(lists_, facts_, subject.path, subject.entry, trace_);
  if (alone.is_listed) return alone;
  return look_up_pairs(alone, learned, lists_, facts_, delimiter, subject.path, subject.entry, trace_);
}

Proven Decider::prove(const Subject& subject, const Listing& listing) const noexcept {
  const bool is_from = subject.kind == IdentityKind::header_from;
  if (!listing.is_listed) {
    return {is_from                  ? proof_.of_from_domain()
            : senders_.is_replaced() ? proof_.of_behind_domain()
                                     : proof_.of_envelope_domain()};
  }
  const std::string_view domain_entry = listing.entry.view();
  if (is_from) return proof_.of_from(!domain_entry.empty());
  return proof_.of_envelope(domain_entry, is_from_mailbox(subject, listing.profile));
}

bool Decider::is_from_mailbox(const Subject& subject, AddressProfile profile) const noexcept {
  if (!senders_.has_from() || subject.entry.domain() != senders_.from().domain()) return false;
  return canonicalize_path(subject.path, profile).key() == canonicalize_path(senders_.from_path(), profile).key();
}

void Decider::try_domain_entry(const Subject& subject, Listing& listing, Proven& proven) const noexcept {
  if (!listing.is_listed || !listing.entry.view().empty() || proven.is_proven()) return;
  Listing by_domain = look_up_domain(lists_, subject.entry, trace_);
  if (!by_domain.is_listed) return;
  const Proven proven_domain = prove(subject, by_domain);
  if (!proven_domain.is_proven()) return;
  by_domain.draws = listing.draws;
  listing = by_domain;
  proven = proven_domain;
}

Decision Decider::by_lists(const Subject& subject) noexcept {
  Listing listing = find(subject);
  Proven proven = prove(subject, listing);
  try_domain_entry(subject, listing, proven);
  const std::optional<AuthenticationMethod>& method = proven.method;
  const bool is_denied = subject.kind == IdentityKind::header_from ? proof_.denies_from() : proof_.denies_envelope();
  draws_ += listing.draws;
  Decision decision = check_because(listing.reason, subject.kind);
  decision.method = method;
  decision.proof = proven.of;
  decision.list.append(listing.list);
  decision.entry = listing.entry;
  decision.confirmation = listing.confirmation;
  decision.for_recipients = listing.for_recipients;
  if (trace_ != nullptr) {
    trace_->add("authentication", identity_kind_name(subject.kind), subject.entry.domain(),
                !method && is_denied ? "fail" : method_name(method),
                {.proof = proven.is_proven() ? proof_name(proven.of) : std::string_view()});
  }
  if (!listing.is_listed) return decision;
  if (is_authenticated_enough(method, is_denied)) {
    if (!question_) question_ = listing.question;
    decision.verdict = Verdict::deliver;
    return decision;
  }
  lacks_proof_ = true;
  note_signature(decision, subject.entry);
  decision.is_envelope_alone = subject.kind == IdentityKind::envelope &&
                               !proof_.from_may_prove(listing.entry.view(), is_from_mailbox(subject, listing.profile));
  if (policy_.authentication == AuthenticationRule::required) {
    decision.reason = Reason::not_authenticated;
  } else {
    decision.reason = Reason::authentication_failed;
  }
  return decision;
}

bool Decider::is_authenticated_enough(const std::optional<AuthenticationMethod>& method,
                                      bool is_denied) const noexcept {
  switch (policy_.authentication) {
    case AuthenticationRule::required:
      return method.has_value();
    case AuthenticationRule::preferred:
      return method.has_value() || !is_denied;
    case AuthenticationRule::off:
      return true;
  }
  return false;
}

}  // namespace bloomgate
