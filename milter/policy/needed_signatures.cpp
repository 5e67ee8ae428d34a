#include "milter/policy/needed_signatures.hpp"

#include <algorithm>

#include "milter/policy/neighbours.hpp"

namespace bloomgate {
namespace {

// The ways by which a message may be delivered.
std::span<const Way> ways_of(IdentityRule rule) noexcept {
  static constexpr std::array kEnvelope = {Way::signer, Way::envelope};
  static constexpr std::array kFrom = {Way::signer, Way::header_from};
  static constexpr std::array kEither = {Way::signer, Way::envelope, Way::header_from};
  static constexpr std::array kBoth = {Way::signer, Way::both};
  switch (rule) {
    case IdentityRule::envelope:
      return kEnvelope;
    case IdentityRule::header_from:
      return kFrom;
    case IdentityRule::either:
      return kEither;
    case IdentityRule::both:
      break;
  }
  return kBoth;
}

}  // namespace

NeededSignatures::NeededSignatures(const Facts& facts, const Lists& lists, const Policy& policy,
                                   const Decider& decider) noexcept
    : facts_(facts), lists_(lists), policy_(policy), decider_(decider) {
  // A revoked sender counts as having neighbours, by any entry that lists it.
  if (!decider.is_revoked() && !has_neighbours()) return;
  for (const Way way : ways_of(policy.identity)) {
    // If a way is already proven, a listed neighbour needs no signature.
    Decider supposing(facts, lists, policy, nullptr, {.listed = WhoIsListed::neighbours, .way = way});
    if (supposing.decide().verdict == Verdict::deliver) continue;
    if (way == Way::signer) want(supposing.wanted_signers());
    ways_[way_count_++] = way;
  }
}

void NeededSignatures::note(Decision& decision) noexcept {
  const std::string_view envelope = decider_.senders().identity().domain();
  const std::string_view from = decider_.senders().from().domain();
  bool with_envelope = !envelope.empty() && would_deliver({envelope});
  bool with_from = !from.empty() && would_deliver({"", from});
  want(decider_.wanted_signers());
  keep_useful_signers();
  if (!with_envelope && !with_from && wanted().empty()) with_envelope = with_from = would_deliver({envelope, from});
  decision.question = question_;
  if (question_) return;
  SignatureNeed& need = decision.need;
  if (with_envelope) need.domains[0].append(envelope);
  if (with_from && !(with_envelope && from == envelope)) need.domains[1].append(from);
  std::size_t next = SignatureNeed::kSenders;
  for (const std::string_view signer : wanted()) {
    const bool is_asked_already = (with_envelope && signer == envelope) || (with_from && signer == from);
    if (!is_asked_already) need.domains[next++].append(signer);
  }
}

bool NeededSignatures::has_neighbours() const noexcept {
  const Senders& senders = decider_.senders();
  const Entry list = mailing_list_of(facts_);
  if (have_neighbours(lists_, senders.identity()) || have_neighbours(lists_, senders.from()) ||
      have_neighbours(lists_, list)) {
    return true;
  }
  if (facts_.grounds == nullptr) return false;
  return std::ranges::any_of(facts_.grounds->signers(), [&](std::string_view signer) {
    return have_neighbours_with_signer(lists_, senders.from(), signer) ||
           have_neighbours_with_signer(lists_, list, signer);
  });
}

bool NeededSignatures::would_deliver(const Proof::Supposed& signers) noexcept {
  const std::span<const Way> ways(ways_.data(), way_count_);
  const bool would_neighbour = std::ranges::any_of(ways, [&](Way way) {
    Decider supposing(facts_, lists_, policy_, nullptr, {signers, WhoIsListed::neighbours, way});
    return supposing.decide().verdict == Verdict::deliver;
  });
  if (would_neighbour) return true;
  if (!decider_.lacks_proof()) return false;
  Decider supposing(facts_, lists_, policy_, nullptr, {signers});
  if (supposing.decide().verdict != Verdict::deliver) return false;
  if (!question_) question_ = supposing.question();
  return true;
}

void NeededSignatures::want(std::span<const std::string_view> signers) noexcept {
  for (const std::string_view signer : signers) {
    if (std::ranges::find(wanted(), signer) == wanted().end()) wanted_[wanted_count_++] = signer;
  }
}

void NeededSignatures::keep_useful_signers() noexcept {
  std::size_t kept = 0;
  for (const std::string_view signer : wanted()) {
    if (would_deliver({signer})) wanted_[kept++] = signer;
  }
  wanted_count_ = kept;
}

}  // namespace bloomgate
