// The steps of decide(), in their order. Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/policy/policy.hpp"
#include "milter/policy/proof.hpp"
#include "milter/policy/senders.hpp"
#include "milter/policy/signed_route.hpp"

namespace bloomgate {

class Trace;

// A decision to check the message.
Decision check_because(Reason reason, IdentityKind identity = IdentityKind::none) noexcept;

// A way to `deliver`.
enum class Way : std::uint8_t {
  any,
  envelope,     // the envelope sender
  header_from,  // the From mailbox
  both,         // the two together
  signer,       // an entry with a mailing list, or with a signer (signed_route.hpp)
};

enum class WhoIsListed : std::uint8_t {
  as_lists_say,
  // Each sender and mailing list with a neighbour among the entries of the lists (neighbours.hpp) counts as listed
  // itself, for all recipients, and as not revoked. So the result does not depend on who is listed there.
  neighbours,
  nobody,  // no sender is listed, and none is revoked
};

// What is assumed about a message, to find the signatures that it needs, and what an outsider may learn.
struct Supposition {
  Proof::Supposed signers = {};  // the domains whose signatures are assumed to have passed
  WhoIsListed listed = WhoIsListed::as_lists_say;
  Way way = Way::any;  // the only way that is open
};

// One message on its way through the steps. A step returns the decision if it settles the matter.
class Decider {
 public:
  // The facts must have an envelope sender.
  Decider(const Facts& facts, const Lists& lists, const Policy& policy, Trace* trace,
          const Supposition& supposed = {}) noexcept
      : facts_(facts),
        lists_(lists),
        policy_(policy),
        trace_(trace),
        authentication_(facts.authentication),
        senders_(facts, policy),
        proof_(facts, policy, senders_, supposed.signers),
        route_(facts, lists, policy, senders_, proof_, supposed.listed == WhoIsListed::neighbours, trace),
        listed_(supposed.listed),
        way_(supposed.way) {}
  Decider(const Decider&) = delete;
  Decider& operator=(const Decider&) = delete;

  Decision decide() noexcept;

  // Whether more proof might have led to another decision.
  bool lacks_proof() const noexcept { return lacks_proof_; }

  // The first hit that would deliver the message, and that a store has not confirmed yet. Meaningless if the message is
  // not delivered.
  const std::optional<StoreQuestion>& question() const noexcept { return question_; }

  const Senders& senders() const noexcept { return senders_; }

  const Proof& proof() const noexcept { return proof_; }

  // Whether the message is checked because a sender or list is revoked.
  bool is_revoked() const noexcept { return is_revoked_; }

  // The domains whose signatures, if valid, would prove what entries list together with them.
  std::span<const std::string_view> wanted_signers() const noexcept { return route_.wanted_signers(); }

  const Draws& draws() const noexcept { return draws_; }

 private:
  // An identity to be looked up.
  struct Subject {
    IdentityKind kind;
    std::string_view path;
    const Entry& entry;
  };

  void note(std::string_view name, std::string_view subject, std::string_view key, std::string_view outcome,
            std::string_view entry = {}) const noexcept;

  void note(std::string_view name, std::string_view subject, std::size_t count) const noexcept;

  void trace_senders() const noexcept;

  void trace_results() const noexcept;

  void trace_signatures() const noexcept;

  std::optional<Decision> find_revoked() const noexcept;

  // If a pair revokes the sender for one of the recipients, the message is checked for all of them. So it is if the
  // sender is in a pair, and not every recipient is known: see names_one_recipient().
  std::optional<Decision> find_revoked_pair(const Entry& sender, IdentityKind identity,
                                            TagSeparators separators) const noexcept;

  // The same for entries with a signer, whether or not its signature is valid.
  std::optional<Decision> find_revoked_signer(const Entry& sender, IdentityKind identity,
                                              TagSeparators separators) const noexcept;

  // Names the entry if it is not the sender itself.
  void note_revoked(const Entry& sender, const FoundEntry& found, TagSeparators separators) const noexcept;
  void note_revoked(std::string_view recipient, const Entry& sender, const FoundPair& found) const noexcept;

  bool from_matters() const noexcept;

  std::optional<Decision> find_own_domain() noexcept;

  Decision own_domain(IdentityKind kind, const Entry& sender) const noexcept;

  // Stores the outcome of a sender's signatures, if the sender is not authenticated.
  void note_signature(Decision& decision, const Entry& sender) const noexcept;

  std::optional<Decision> find_dmarc_fail() const noexcept;

  // The policy's rule, or the rule of the only way that is open.
  IdentityRule identity_rule() const noexcept;

  Decision by_identity_rule() noexcept;

  Decision by_senders() noexcept;

  // What lists the From mailbox, or also the mailing list, together with the domain that has to sign the message.
  // Nothing: no entry does.
  std::optional<Decision> by_signer_of_from() noexcept;

  bool may_be_by_signer() const noexcept {
    return listed_ != WhoIsListed::nobody && (way_ == Way::any || way_ == Way::signer);
  }

  std::optional<Decision> by_signers() noexcept;

  Decision by_either() noexcept;

  Decision by_both() noexcept;

  // Whether an operator should see this check rather than that of the other sender: a list had a fault, or had the
  // sender.
  static bool came_further(const Decision& decision) noexcept { return !decision.list.view().empty(); }

  Decision by_envelope() noexcept;

  Decision by_from() noexcept;

  Listing find(const Subject& subject) noexcept;

  // The required proof of a sender depends on the entry that lists it.
  Proven prove(const Subject& subject, const Listing& listing) const noexcept;

  // Whether the envelope sender and the From mailbox are the same mailbox, by the profile of the list that has the
  // sender.
  bool is_from_mailbox(const Subject& subject, AddressProfile profile) const noexcept;

  // A mailbox needs a stronger proof than a domain. If that proof is missing, an entry for the domain may still count.
  void try_domain_entry(const Subject& subject, Listing& listing, Proven& proven) const noexcept;

  Decision by_lists(const Subject& subject) noexcept;

  bool is_authenticated_enough(const std::optional<AuthenticationMethod>& method, bool is_denied) const noexcept;

  const Facts& facts_;
  const Lists& lists_;
  const Policy& policy_;
  Trace* trace_;
  const Authentication& authentication_;
  Senders senders_;
  Proof proof_;
  SignedRoute route_;
  const WhoIsListed listed_;
  const Way way_;
  bool is_revoked_ = false;
  bool lacks_proof_ = false;
  Draws draws_ = {};
  std::optional<StoreQuestion> question_ = {};
};

}  // namespace bloomgate
