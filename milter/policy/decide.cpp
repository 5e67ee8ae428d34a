#include "milter/policy/decide.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "milter/policy/look_up.hpp"
#include "milter/policy/look_up_learned.hpp"
#include "milter/policy/look_up_pairs.hpp"
#include "milter/policy/proof.hpp"
#include "milter/policy/senders.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

Decision check(Reason reason, IdentityKind identity = IdentityKind::none) noexcept {
  return {.verdict = Verdict::check, .reason = reason, .identity = identity};
}

// An identity to be looked up.
struct Subject {
  IdentityKind kind;
  std::string_view path;
  const Entry& entry;
};

// One message on its way through the steps. A step returns the decision if it settles the matter.
class Decider {
 public:
  // The facts have an envelope sender.
  Decider(const Facts& facts, const Lists& lists, const Policy& policy, Trace* trace,
          const Proof::Supposed& supposed = {}) noexcept
      : facts_(facts),
        lists_(lists),
        policy_(policy),
        trace_(trace),
        authentication_(facts.authentication),
        senders_(facts, policy),
        proof_(facts, policy, senders_, supposed) {}

  Decision decide() noexcept {
    trace_senders();
    trace_results();
    trace_signatures();
    if (const auto decision = find_revoked()) return *decision;
    if (!senders_.has_from() && from_matters()) return check(senders_.from_fault(), IdentityKind::header_from);
    if (const auto decision = find_own_domain()) return *decision;
    if (const auto decision = find_dmarc_fail()) return *decision;
    return by_identity_rule();
  }

  // Whether more proof might have led to another decision.
  bool lacks_proof() const noexcept { return lacks_proof_; }

  // The first of the hits by which the message would be delivered, and which a store has not confirmed yet. Means
  // nothing if the message is not delivered.
  const std::optional<StoreQuestion>& question() const noexcept { return question_; }

  const Senders& senders() const noexcept { return senders_; }

  const Proof& proof() const noexcept { return proof_; }

  const Draws& draws() const noexcept { return draws_; }

 private:
  void note(std::string_view name, std::string_view subject, std::string_view key, std::string_view outcome,
            std::string_view entry = {}) const noexcept {
    if (trace_ != nullptr) trace_->add(name, subject, key, outcome, entry);
  }

  void note(std::string_view name, std::string_view subject, std::size_t count) const noexcept {
    std::array<char, 20> digits;  // of the largest number
    const auto end = std::to_chars(digits.begin(), digits.end(), count).ptr;
    note(name, subject, {}, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  void trace_senders() const noexcept {
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

  void trace_results() const noexcept {
    note("results", "trusted", authentication_.trusted_fields());
    note("results", "unreadable", authentication_.unreadable_fields());
    note("results", "not-trusted", authentication_.ignored_fields());
    if (authentication_.is_distrusted()) note("results", {}, {}, "distrusted");
  }

  void trace_signatures() const noexcept {
    if (trace_ == nullptr || !facts_.signatures) return;
    const Signatures& signatures = *facts_.signatures;
    for (const Signature& each : signatures.all) {
      note("signature", each.selector, each.domain, signature_outcome_name(each.outcome));
      if (each.key_bits != 0) note("key-bits", each.selector, each.key_bits);
    }
    if (signatures.all.empty()) note("signature", {}, {}, signature_outcome_name(signatures.fault));
    for (const OwnerRule& each : signatures.owner_rules) {
      note("owner-rule", {}, each.domain, signature_outcome_name(each.outcome));
    }
  }

  std::optional<Decision> find_revoked() const noexcept {
    if (lists_.revoked == nullptr || lists_.revoked->size() == 0) return std::nullopt;
    const TagSeparators separators = separators_of_revoked(lists_);
    const auto find = [&](const Entry& sender, IdentityKind identity) -> std::optional<Decision> {
      if (!sender.is_key()) return std::nullopt;
      const FoundEntry found = lists_.revoked->find(sender, separators);
      Decision decision = check(Reason::revoked, identity);
      decision.entry = found.domain_entry();
      note("revoked", {}, sender.key(), found.is_listed() ? match_name(found.match) : "no", decision.entry.view());
      return found.is_listed() ? std::optional(decision) : find_revoked_pair(sender, identity, separators);
    };
    if (const auto decision = find(senders_.envelope(), IdentityKind::envelope)) return decision;
    if (const auto decision = find(senders_.behind(), IdentityKind::envelope)) return decision;
    return find(senders_.from(), IdentityKind::header_from);
  }

  // A pair takes the sender away for its recipient, so the message is checked for all. So it is where the sender is in
  // a pair, and not every recipient is known: a name without a domain may be anybody's.
  std::optional<Decision> find_revoked_pair(const Entry& sender, IdentityKind identity,
                                            TagSeparators separators) const noexcept {
    const ExactList& revoked = *lists_.revoked;
    if (!revoked.has_pairs_of(sender, separators)) return std::nullopt;
    if (const std::optional<Reason> fault = fault_of(facts_.recipients)) {
      note("revoked", "recipients", sender.key(), reason_name(*fault));
      return check(*fault, identity);
    }
    const TagSeparators delimiter = separators | policy_.recipient_delimiter;
    bool are_all_known = true;
    for (const std::string_view path : facts_.recipients.paths) {
      const Entry recipient = canonicalize_path(path);
      const FoundPair found = revoked.find_pair(sender, recipient, separators, delimiter);
      note("revoked", path, sender.key(), found.is_listed() ? "pair" : "no");
      if (found.is_listed()) return check(Reason::revoked, identity);
      are_all_known = are_all_known && recipient.kind() == EntryKind::address;
    }
    return are_all_known ? std::nullopt : std::optional(check(Reason::recipients_unknown, identity));
  }

  bool from_matters() const noexcept {
    return policy_.identity == IdentityRule::header_from || policy_.identity == IdentityRule::both ||
           (policy_.dmarc_fail_vetoes && policy_.authentication != AuthenticationRule::off) ||
           policy_.own_domains.size() != 0 || (lists_.revoked != nullptr && lists_.revoked->size() != 0);
  }

  std::optional<Decision> find_own_domain() noexcept {
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

  Decision own_domain(IdentityKind kind, const Entry& sender) const noexcept {
    Decision decision = check(Reason::own_domain, kind);
    note_signature(decision, sender);
    return decision;
  }

  // Says of a sender that is not authenticated what its signatures were.
  void note_signature(Decision& decision, const Entry& sender) const noexcept {
    if (facts_.signatures) decision.signature = facts_.signatures->outcome_for(sender.domain(), policy_.alignment);
  }

  std::optional<Decision> find_dmarc_fail() const noexcept {
    if (!senders_.has_from()) return std::nullopt;
    const Finding finding = proof_.dmarc();
    note("dmarc", {}, senders_.from().domain(), finding_name(finding));
    if (finding != Finding::fail || !policy_.dmarc_fail_vetoes) return std::nullopt;
    return check(Reason::dmarc_fail, IdentityKind::header_from);
  }

  Decision by_identity_rule() noexcept {
    // A server signs the bounces that it sends, and an attacker writes what is in them.
    if (senders_.envelope().kind() == EntryKind::null_sender) return check(Reason::null_sender, IdentityKind::envelope);
    switch (policy_.identity) {
      case IdentityRule::envelope:
        return by_envelope();
      case IdentityRule::header_from:
        return by_from();
      case IdentityRule::either:
        return by_either();
      case IdentityRule::both:
        return by_both();
    }
    return check(Reason::internal_error);
  }

  Decision by_either() noexcept {
    const Decision envelope = by_envelope();
    if (envelope.verdict == Verdict::deliver) return envelope;
    const Decision from = by_from();
    if (from.verdict == Verdict::deliver) return from;
    return came_further(from) && !came_further(envelope) ? from : envelope;
  }

  Decision by_both() noexcept {
    const Decision envelope = by_envelope();
    if (envelope.verdict != Verdict::deliver) return envelope;
    Decision from = by_from();
    if (from.verdict == Verdict::deliver) from.identity = IdentityKind::both;
    return from;
  }

  // Whether an operator should hear of this check rather than of the other sender's: a list was at fault, or had the
  // sender.
  static bool came_further(const Decision& decision) noexcept { return !decision.list.view().empty(); }

  Decision by_envelope() noexcept {
    if (senders_.is_replaced()) {
      return by_lists({IdentityKind::envelope, senders_.rewritten().path(), senders_.behind()});
    }
    const Entry& sender = senders_.envelope();
    if (sender.kind() != EntryKind::address) {
      Decision decision = check(Reason::malformed_sender, IdentityKind::envelope);
      decision.sender_fault = sender.reason();
      return decision;
    }
    return by_lists({IdentityKind::envelope, senders_.envelope_path(), sender});
  }

  Decision by_from() noexcept {
    if (!senders_.has_from()) return check(senders_.from_fault(), IdentityKind::header_from);
    return by_lists({IdentityKind::header_from, senders_.from_path(), senders_.from()});
  }

  Listing find(const Subject& subject) noexcept {
    const TagSeparators delimiter = policy_.recipient_delimiter;
    const std::optional<Listing> learned = look_up_learned(lists_, facts_, delimiter, subject.entry, trace_);
    if (learned && learned->is_listed) return *learned;
    const Listing alone = look_up(lists_, facts_, subject.path, subject.entry, trace_);
    if (alone.is_listed) return alone;
    return look_up_pairs(alone, learned, lists_, facts_, delimiter, subject.path, subject.entry, trace_);
  }

  // What has to be proven of a sender depends on the entry that lists it.
  Proven prove(const Subject& subject, const Listing& listing) const noexcept {
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

  // Whether the envelope sender and the From mailbox are one mailbox, by the profile of the list that has the sender.
  bool is_from_mailbox(const Subject& subject, AddressProfile profile) const noexcept {
    if (!senders_.has_from() || subject.entry.domain() != senders_.from().domain()) return false;
    return canonicalize_path(subject.path, profile).key() == canonicalize_path(senders_.from_path(), profile).key();
  }

  // A mailbox needs a stronger proof than a domain. If that proof is missing, an entry of the domain may still count.
  void try_domain_entry(const Subject& subject, Listing& listing, Proven& proven) const noexcept {
    if (!listing.is_listed || !listing.entry.view().empty() || proven.is_proven()) return;
    Listing by_domain = look_up_domain(lists_, subject.entry, trace_);
    if (!by_domain.is_listed) return;
    const Proven proven_domain = prove(subject, by_domain);
    if (!proven_domain.is_proven()) return;
    by_domain.draws = listing.draws;
    listing = by_domain;
    proven = proven_domain;
  }

  Decision by_lists(const Subject& subject) noexcept {
    Listing listing = find(subject);
    Proven proven = prove(subject, listing);
    try_domain_entry(subject, listing, proven);
    const std::optional<AuthenticationMethod>& method = proven.method;
    const bool is_denied = subject.kind == IdentityKind::header_from ? proof_.denies_from() : proof_.denies_envelope();
    draws_ += listing.draws;
    Decision decision = check(listing.reason, subject.kind);
    decision.method = method;
    decision.proof = proven.of;
    decision.list.append(listing.list);
    decision.entry = listing.entry;
    decision.confirmation = listing.confirmation;
    decision.for_recipients = listing.for_recipients;
    note("authentication", identity_kind_name(subject.kind), subject.entry.domain(),
         !method && is_denied ? "fail" : method_name(method),
         proven.of == ProofOf::nothing ? std::string_view() : proof_name(proven.of));
    if (!listing.is_listed) return decision;
    if (is_authenticated_enough(method, is_denied)) {
      if (!question_) question_ = listing.question;
      decision.verdict = Verdict::deliver;
      return decision;
    }
    lacks_proof_ = true;
    note_signature(decision, subject.entry);
    if (policy_.authentication == AuthenticationRule::required) {
      decision.reason = Reason::not_authenticated;
    } else {
      decision.reason = Reason::authentication_failed;
    }
    return decision;
  }

  bool is_authenticated_enough(const std::optional<AuthenticationMethod>& method, bool is_denied) const noexcept {
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

  const Facts& facts_;
  const Lists& lists_;
  const Policy& policy_;
  Trace* trace_;
  const Authentication& authentication_;
  Senders senders_;
  Proof proof_;
  bool lacks_proof_ = false;
  Draws draws_ = {};
  std::optional<StoreQuestion> question_ = {};
};

// Notes the signatures without which the message is not delivered, and with which it is: each alone if that is enough,
// else both together. Where they deliver it only if a store confirms a hit, that is asked first: a page of a file costs
// less than a name server and a body.
void note_signatures_needed(Decision& decision, const Facts& facts, const Lists& lists, const Policy& policy,
                            const Senders& senders) noexcept {
  const std::string_view envelope = senders.identity().domain();
  const std::string_view from = senders.from().domain();
  const auto would_deliver = [&](std::string_view one, std::string_view other) {
    Decider supposing(facts, lists, policy, nullptr, {one, other});
    const bool is_delivered = supposing.decide().verdict == Verdict::deliver;
    if (is_delivered && !decision.question) decision.question = supposing.question();
    return is_delivered;
  };
  bool with_envelope = !envelope.empty() && would_deliver(envelope, {});
  bool with_from = !from.empty() && would_deliver({}, from);
  if (!with_envelope && !with_from) with_envelope = with_from = would_deliver(envelope, from);
  if (decision.question) return;
  if (with_envelope) decision.need.domains[0].append(envelope);
  if (with_from && !(with_envelope && from == envelope)) decision.need.domains[1].append(from);
}

// Notes a signer below a sender's domain, if the message would be delivered if such signers counted for that sender.
void note_child_signer(Decision& decision, const Decider& decider, const Facts& facts, const Lists& lists,
                       const Policy& policy) noexcept {
  const ChildSigner envelope = decider.proof().child_signer(decider.senders().identity().domain());
  const ChildSigner from = decider.proof().child_signer(decider.senders().from().domain());
  if (envelope.is_none() && from.is_none()) return;
  Decider supposing(facts, lists, policy, nullptr, {envelope.parent(), from.parent()});
  if (supposing.decide().verdict != Verdict::deliver) return;
  const bool is_of_envelope = from.is_none() || (decision.identity == IdentityKind::envelope && !envelope.is_none());
  decision.child_signer = is_of_envelope ? envelope : from;
}

// The exemption of mail that is not incoming.
std::optional<Reason> find_exemption(const Origin& origin, const Policy& policy) noexcept {
  if (policy.exempt_logged_in && origin.logged_in) return Reason::exempt_authenticated;
  if (policy.is_exempt_client(origin.client)) return Reason::exempt_network;
  if (!origin.daemon_name.empty() &&
      std::ranges::find(policy.exempt_daemons, origin.daemon_name) != policy.exempt_daemons.end()) {
    return Reason::exempt_daemon;
  }
  return std::nullopt;
}

Decision exempt(Reason reason, ExemptAction action) noexcept {
  const bool is_delivered = action == ExemptAction::deliver;
  return {.verdict = is_delivered ? Verdict::deliver : Verdict::check, .reason = reason, .is_marked = is_delivered};
}

}  // namespace

Decision decide(const Facts& facts, const Lists& lists, const Policy& policy, Trace* trace) noexcept {
  const auto note = [trace](std::string_view name, std::string_view subject, std::string_view outcome) {
    if (trace != nullptr) trace->add(name, subject, {}, outcome);
  };
  const std::optional<Reason> exemption = find_exemption(facts.origin, policy);
  note("exemption", facts.origin.daemon_name, exemption ? reason_name(*exemption) : "no");
  if (exemption) return exempt(*exemption, policy.exempt_action);
  if (const std::optional<Listing> fault = find_fault(lists)) {
    note("lists", fault->list, reason_name(fault->reason));
    Decision decision = check(fault->reason);
    decision.list.append(fault->list);
    return decision;
  }
  if (!facts.envelope_sender) return check(Reason::no_sender);
  Decider decider(facts, lists, policy, trace);
  Decision decision = decider.decide();
  decision.draws = decider.draws();
  if (decision.verdict == Verdict::deliver && decider.question()) {
    decision.verdict = Verdict::check;
    decision.reason = Reason::confirm_unreadable;
    decision.question = decider.question();
    return decision;
  }
  if (decision.verdict == Verdict::deliver || !decider.lacks_proof()) return decision;
  note_child_signer(decision, decider, facts, lists, policy);
  if (const ChildSigner& child = decision.child_signer; trace != nullptr && !child.is_none()) {
    trace->add("child-signer", child.parent(), child.domain.view(), "not-counted");
  }
  if (policy.verify_signatures && !facts.signatures) {
    note_signatures_needed(decision, facts, lists, policy, decider.senders());
    for (const Domain& domain : decision.need.domains) {
      if (!domain.view().empty()) note("needs-signature", domain.view(), "yes");
    }
  }
  return decision;
}

}  // namespace bloomgate
