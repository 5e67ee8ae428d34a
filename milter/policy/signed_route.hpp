// The way to `deliver` for messages that a list names together with the domain that has to sign them: mailing lists
// (`list:announce.lists.example`, by their host), and senders and mailing lists with a signer (`billing@bank.example
// signed-by esp.example`). The fourth part of decide(). Pure, noexcept; allocates nothing except for the trace. Used by
// one thread.
//
// Such an entry is exact, and says itself what proves it. So it counts whatever the rules for identities and
// authentication are, and whatever DMARC says: behind a mailing list, a member's From is seldom signed by the member's
// domain, and behind a service never. As always, the signature must be valid, and must cover what a reader sees.
//
// Without an entry that names the signer, these may sign for a mailing list: the list itself, as a domain, or the host
// after its first label, unless that is an organisational domain. An organisational domain has mailboxes, and each of
// their users could write any List-Id below it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "milter/fields/grounds.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/policy/policy.hpp"
#include "milter/policy/proof.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {

class Trace;

class SignedRoute {
 public:
  // All arguments must outlive the object. `neighbours_are_listed`: senders and lists with a neighbour among the
  // entries (neighbours.hpp) count as listed.
  SignedRoute(const Facts& facts, const Lists& lists, const Policy& policy, const Senders& senders, const Proof& proof,
              bool neighbours_are_listed, Trace* trace) noexcept
      : facts_(facts),
        lists_(lists),
        policy_(policy),
        senders_(senders),
        proof_(proof),
        neighbours_are_listed_(neighbours_are_listed),
        trace_(trace) {}

  // For the From mailbox, by an entry with a signer. Nothing: there is no such entry for a domain that has signed the
  // message. A check: there is one, but the signature is not proven.
  std::optional<Decision> of_from() noexcept;

  // For the mailing list that the message names, by its own entry, by pairs for each recipient, or by an entry with a
  // signer. Nothing: no entry has it.
  std::optional<Decision> of_mailing_list() noexcept;

  // The domains whose signatures were missing as proof, each once.
  std::span<const std::string_view> wanted_signers() const noexcept { return {wanted_.data(), wanted_count_}; }

 private:
  // Whether entries may be looked up: the message has a sender and one From mailbox, is not a bounce, and its
  // signatures are known.
  bool is_open() const noexcept;
  Listing look_up_list(const Entry& list) noexcept;
  Listing look_up_signer(std::string_view path, const Entry& entry, std::string_view signer) noexcept;
  void want(std::string_view signer) noexcept;
  std::optional<Decision> by_signer_of(IdentityKind kind, std::string_view path, const Entry& entry) noexcept;
  std::optional<Decision> by_host_of(const Entry& list) noexcept;
  bool may_sign(std::string_view signer, const Entry& list) const noexcept;
  Decision decided(IdentityKind kind, const Listing& listing, ProofOf of, std::string_view signer) noexcept;

  const Facts& facts_;
  const Lists& lists_;
  const Policy& policy_;
  const Senders& senders_;
  const Proof& proof_;
  const bool neighbours_are_listed_;
  Trace* trace_;
  std::array<std::string_view, Grounds::kMostSigners> wanted_ = {};  // among those of the grounds
  std::size_t wanted_count_ = 0;
};

// The entry for the mailing list with that canonical identifier; not a key if that is empty.
Entry mailing_list(std::string_view list_id) noexcept;
// The same for the one that a message names.
Entry mailing_list_of(const Facts& facts) noexcept;

}  // namespace bloomgate
