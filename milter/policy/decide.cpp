#include "milter/policy/decide.hpp"

#include <algorithm>

#include "milter/policy/decider.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/policy/needed_signatures.hpp"
#include "milter/policy/opt_out.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

// Notes a signer below a sender's domain, if the message would be delivered if such signers counted for that sender.
void note_child_signer(Decision& decision, const Decider& decider, const Facts& facts, const Lists& lists,
                       const Policy& policy) noexcept {
  const ChildSigner envelope = decider.proof().child_signer(decider.senders().identity().domain());
  const ChildSigner from = decider.proof().child_signer(decider.senders().from().domain());
  if (envelope.is_none() && from.is_none()) return;
  Decider supposing(facts, lists, policy, nullptr, {{envelope.parent(), from.parent()}});
  if (supposing.decide().verdict != Verdict::deliver) return;
  const bool is_of_envelope = from.is_none() || (decision.identity == IdentityKind::envelope && !envelope.is_none());
  decision.child_signer = is_of_envelope ? envelope : from;
}

// Finds the reason for the check if no sender were listed or revoked. Stores it if it does not depend on the lists.
void note_public_reason(Decision& decision, const Facts& facts, const Lists& lists, const Policy& policy) noexcept {
  if (!depends_on_lists(decision.reason) || decision.reason == Reason::not_listed) return;
  Decider supposing(facts, lists, policy, nullptr, {.listed = WhoIsListed::nobody});
  const Decision other = supposing.decide();
  if (depends_on_lists(other.reason)) return;
  decision.public_reason = {other.reason, other.identity, other.signature};
}

Reason reason_of(Hold hold) noexcept {
  switch (hold) {
    case Hold::replay:
      return Reason::replay;
    case Hold::suspended:
      return Reason::suspended;
    default:
      return Reason::burst;
  }
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
  const bool may_be_delivered = !exemption || policy.exempt_action == ExemptAction::deliver;
  if (may_be_delivered) {
    const std::optional<Reason> opt_out = find_opt_out(facts, lists, policy.recipient_delimiter, trace);
    if (opt_out) return check_because(*opt_out);
  }
  if (exemption) return exempt(*exemption, policy.exempt_action);
  if (const std::optional<Listing> fault = find_fault(lists)) {
    note("lists", fault->list, reason_name(fault->reason));
    Decision decision = check_because(fault->reason);
    decision.list.append(fault->list);
    return decision;
  }
  if (!facts.envelope_sender) return check_because(Reason::no_sender);
  Decider decider(facts, lists, policy, trace);
  Decision decision = decider.decide();
  decision.draws = decider.draws();
  if (decision.verdict == Verdict::deliver && decider.question()) {
    decision.verdict = Verdict::check;
    decision.reason = Reason::confirm_unreadable;
    decision.question = decider.question();
    return decision;
  }
  if (decision.verdict == Verdict::deliver) {
    if (facts.hold == Hold::none) return decision;
    decision.verdict = Verdict::check;
    decision.reason = reason_of(facts.hold);
    note("brake", {}, reason_name(decision.reason));
    note_public_reason(decision, facts, lists, policy);
    return decision;
  }
  note_public_reason(decision, facts, lists, policy);
  if (decider.lacks_proof()) note_child_signer(decision, decider, facts, lists, policy);
  if (const ChildSigner& child = decision.child_signer; trace != nullptr && !child.is_none()) {
    trace->add("child-signer", child.parent(), child.domain.view(), "not-counted");
  }
  if (policy.verify_signatures && !facts.signatures) {
    NeededSignatures(facts, lists, policy, decider).note(decision);
    for (const Domain& domain : decision.need.domains) {
      if (!domain.view().empty()) note("needs-signature", domain.view(), "yes");
    }
  }
  return decision;
}

}  // namespace bloomgate
