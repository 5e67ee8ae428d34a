#include "milter/policy/decide.hpp"

#include <algorithm>

#include "milter/policy/decider.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

// Notes the signatures without which the message is not delivered, and with which it is, or would be if each sender at
// a domain of which a list has an address were that address: what is looked up must not say who is listed there. Each
// signature alone if that is enough, else those of both senders together. Where they deliver it only if a store
// confirms a hit, that is asked first: a page of a file costs less than a name server and a body.
void note_signatures_needed(Decision& decision, const Facts& facts, const Lists& lists, const Policy& policy,
                            const Decider& decider) noexcept {
  const std::string_view envelope = decider.senders().identity().domain();
  const std::string_view from = decider.senders().from().domain();
  const std::string_view signer = decider.wanted_signer();
  const auto is_delivered_if = [&](const Supposition& supposed, std::optional<StoreQuestion>* question) {
    Decider supposing(facts, lists, policy, nullptr, supposed);
    const bool is_delivered = supposing.decide().verdict == Verdict::deliver;
    if (is_delivered && question != nullptr && !*question) *question = supposing.question();
    return is_delivered;
  };
  // Of a message whose results prove already what a listed neighbour needs, no signature is looked at.
  const bool has_neighbours = (lists.have_sender_domain(envelope) || lists.have_sender_domain(from)) &&
                              !is_delivered_if({.neighbours_are_listed = true}, nullptr);
  const auto would_deliver = [&](const Proof::Supposed& signers) {
    if (has_neighbours && is_delivered_if({signers, true}, nullptr)) return true;
    return decider.lacks_proof() && is_delivered_if({signers}, &decision.question);
  };
  bool with_envelope = !envelope.empty() && would_deliver({envelope});
  bool with_from = !from.empty() && would_deliver({"", from});
  const bool with_signer = !signer.empty() && would_deliver({signer});
  if (!with_envelope && !with_from && !with_signer) with_envelope = with_from = would_deliver({envelope, from});
  if (decision.question) return;
  if (with_envelope) decision.need.domains[0].append(envelope);
  if (with_from && !(with_envelope && from == envelope)) decision.need.domains[1].append(from);
  const bool is_asked_already = (with_envelope && signer == envelope) || (with_from && signer == from);
  if (with_signer && !is_asked_already) decision.need.domains[2].append(signer);
}

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
  if (decision.verdict == Verdict::deliver) return decision;
  if (decider.lacks_proof()) note_child_signer(decision, decider, facts, lists, policy);
  if (const ChildSigner& child = decision.child_signer; trace != nullptr && !child.is_none()) {
    trace->add("child-signer", child.parent(), child.domain.view(), "not-counted");
  }
  if (policy.verify_signatures && !facts.signatures) {
    note_signatures_needed(decision, facts, lists, policy, decider);
    for (const Domain& domain : decision.need.domains) {
      if (!domain.view().empty()) note("needs-signature", domain.view(), "yes");
    }
  }
  return decision;
}

}  // namespace bloomgate
