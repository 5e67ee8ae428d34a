// Whether a sender is who it claims to be, by the trusted fields and the verified signatures: the second part of
// decide(), whose header has the rules. Pure, noexcept, allocates nothing. Safe from any thread.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "milter/policy/facts.hpp"
#include "milter/policy/policy.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {

class Proof {
 public:
  using Method = std::optional<AuthenticationMethod>;

  // Domains for which a signature is supposed to have passed, canonical; empty ones stand for none.
  using Supposed = std::array<std::string_view, SignatureNeed::kMaxDomains>;

  // All must outlive the object.
  Proof(const Facts& facts, const Policy& policy, const Senders& senders, const Supposed& supposed = {}) noexcept
      : authentication_(facts.authentication),
        signatures_(facts.signatures ? &*facts.signatures : nullptr),
        policy_(policy),
        senders_(senders),
        supposed_(supposed) {}

  // What authenticates each sender; nothing if nothing does. The envelope sender as it came, the sender behind it, and
  // the From mailbox.
  Method of_envelope() const noexcept { return of_domain(senders_.envelope().domain()); }
  Method of_behind() const noexcept;
  Method of_from() const noexcept;

  // Whether trusted fields say that they are not, or might have said so.
  bool denies_envelope() const noexcept { return denies(senders_.envelope().domain()); }
  bool denies_behind() const noexcept;
  bool denies_from() const noexcept { return denies(senders_.from().domain()); }

  // What DMARC says of the From mailbox's domain.
  Finding dmarc() const noexcept { return authentication_.dmarc(senders_.from().domain()); }

 private:
  Method of_domain(std::string_view domain) const noexcept;
  bool signature_passed(std::string_view domain) const noexcept;
  // For exactly the domain of the envelope sender. SPF is about no other domain: a pass for another one is text from
  // the sender that a milter has copied into its field (its name server's explanation of a fail, say).
  bool spf_passed() const noexcept;
  bool denies(std::string_view domain) const noexcept;

  const Authentication& authentication_;
  const Signatures* signatures_;  // null: none were verified
  const Policy& policy_;
  const Senders& senders_;
  Supposed supposed_;
};

}  // namespace bloomgate
