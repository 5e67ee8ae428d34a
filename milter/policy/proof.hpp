// Whether a sender is who it claims to be, by the trusted fields and the verified signatures: the second part of
// decide(), whose header has the rules. Pure, noexcept, allocates nothing. Safe from any thread.
//
// The attacker to consider is a neighbour: a person with an account at the same provider, or another customer of the
// same service. The neighbour has a message with a genuine signature of that domain, and can send it again at will,
// with any envelope sender.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "milter/policy/facts.hpp"
#include "milter/policy/policy.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {

// What authenticated a sender, and by which bytes of the message; no method: it is not authenticated.
struct Proven {
  std::optional<AuthenticationMethod> method = {};
  ProofOf of = ProofOf::nothing;

  bool is_proven() const noexcept { return method.has_value(); }
};

class Proof {
 public:
  // Domains of which a signature is assumed to have passed, canonical; empty ones are unused.
  using Supposed = std::array<std::string_view, 2>;

  // All arguments must outlive the object.
  Proof(const Facts& facts, const Policy& policy, const Senders& senders, const Supposed& supposed = {}) noexcept
      : authentication_(facts.authentication),
        signatures_(facts.signatures ? &*facts.signatures : nullptr),
        grounds_(policy.verify_signatures ? facts.grounds : nullptr),
        policy_(policy),
        senders_(senders),
        supposed_(supposed) {}

  // For the From mailbox, listed by a domain entry or as a mailbox.
  Proven of_from(bool by_domain) const noexcept;
  // For the envelope sender that is an identity (Senders::identity()). `domain_entry`, `@example.org` or
  // `@.example.org`, lists it; empty if it is listed as a mailbox: itself, in a pair, or as learned. `is_from`: From is
  // the same mailbox. A domain's signature says nothing about the envelope, so it proves a listed domain only if the
  // entry covers From, too.
  Proven of_envelope(std::string_view domain_entry, bool is_from) const noexcept;

  // Whether a signature of exactly that domain is valid: for a sender or a mailing list that is listed with that
  // signer, or for a mailing list by its host.
  bool is_signed_by(std::string_view signer) const noexcept;

  // Whether anything shows that the domain of a sender was involved in the message: the minimum for a sender in an own
  // domain. For the envelope sender as it arrived, the original sender behind it, and the From mailbox.
  std::optional<AuthenticationMethod> of_envelope_domain() const noexcept;
  std::optional<AuthenticationMethod> of_behind_domain() const noexcept;
  std::optional<AuthenticationMethod> of_from_domain() const noexcept { return of_from(true).method; }

  // Whether trusted fields say that the sender is not authenticated, or might have said so.
  bool denies_envelope() const noexcept;
  bool denies_from() const noexcept { return denies(senders_.from().domain()); }

  // Whether the From mailbox could prove an envelope sender that this domain entry lists. If `domain_entry` is empty,
  // the sender's address itself is listed, and `is_from` says whether that is the From mailbox.
  bool from_may_prove(std::string_view domain_entry, bool is_from) const noexcept;

  // The signer below that domain whose signature does not count for it: one whose signature a trusted milter found
  // valid, or else, if our own verifier is in use, one that the message names. None under `relaxed`, where it may
  // count.
  ChildSigner child_signer(std::string_view domain) const noexcept;

  // What DMARC says about the domain of the From mailbox.
  Finding dmarc() const noexcept { return authentication_.dmarc(senders_.from().domain()); }

 private:
  using Method = std::optional<AuthenticationMethod>;

  bool is_signed(std::string_view domain) const noexcept;
  // SPF, for the domain of the From mailbox or of the sender.
  bool spf_speaks_for(std::string_view domain) const noexcept;
  // For exactly the domain of the envelope sender as it arrived. SPF is about no other domain: a pass for another one
  // is text from the sender that a milter has copied into its field (for example its name server's explanation of a
  // fail).
  bool spf_passed() const noexcept;
  // For exactly the domain of the trusted forwarder that rewrote the envelope sender by SRS.
  bool spf_passed_for_forwarder() const noexcept;
  // For the sender that is an identity: its own domain, or that of the forwarder.
  bool spf_passed_for_identity() const noexcept;
  // Whether the operator allows SPF to prove a sender that is listed by its domain, or as a mailbox.
  bool spf_may_prove(bool by_domain) const noexcept;
  bool spf_is_denied() const noexcept;
  Method of_domain(std::string_view domain) const noexcept;
  bool denies(std::string_view domain) const noexcept;
  // The alignment for methods other than DMARC, at most as lax as `parent`: under `relaxed` a domain's owner may forbid
  // more, and only a DMARC result says whether the owner does.
  Alignment without_dmarc() const noexcept {
    return policy_.alignment == Alignment::strict ? Alignment::strict : Alignment::parent;
  }

  const Authentication& authentication_;
  const Signatures* signatures_;  // null: none were verified
  const Grounds* grounds_;        // null: the claims of the message are not needed
  const Policy& policy_;
  const Senders& senders_;
  Supposed supposed_;
};

}  // namespace bloomgate
