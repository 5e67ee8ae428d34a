// What a verifier found about the DKIM signatures of a message. decide() asks for it if a signature would change the
// outcome. milter/dkim makes it; a plain value, used by one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/domain.hpp"
#include "milter/fields/alignment.hpp"
#include "milter/fields/grounds.hpp"
#include "milter/fields/watched_fields.hpp"

namespace bloomgate {

// The result for one signature, or for the whole verification. Only `pass` counts. The names are stable: operators
// search logs and header fields for them.
enum class SignatureOutcome : std::uint8_t {
  pass,

  // The message
  no_signature,      // no signature of a domain that is aligned with the sender's
  header_too_large,  // more header than is kept for the verifier
  body_too_large,    // more body than is verified
  line_too_long,     // a line of the body is longer than is verified
  // The message has a field that the signature does not cover, so an attacker may have added it. In the order of
  // WatchedField.
  field_added_from,
  field_added_sender,
  field_added_reply_to,
  field_added_subject,
  field_added_mime_version,
  field_added_content_type,
  field_added_content_transfer_encoding,
  field_added_content_disposition,
  field_added_to,
  field_added_cc,
  field_added_date,
  field_added_message_id,
  field_added_references,
  field_added_in_reply_to,
  field_added_list_unsubscribe,
  field_added_list_id,

  // The signature
  malformed_signature,
  weak_algorithm,       // SHA-1 (RFC 8301), or an unknown algorithm
  from_not_signed,      // the From field is not signed
  from_not_oversigned,  // From is signed only as often as it occurs (require-oversigned)
  foreign_identity,     // i= is outside d=
  expired,
  not_yet_valid,
  too_old,           // it was made longer ago than max-signature-age, or at an unknown time
  body_not_covered,  // l= leaves a part of the body unsigned
  header_changed,    // the signature does not match the header
  body_changed,      // the hash of the body differs

  // The key
  key_not_found,
  several_keys,
  key_malformed,
  key_too_long,   // the record is longer than a key can be
  key_too_short,  // RSA under 1024 bits (RFC 8301)
  key_revoked,
  key_in_test_mode,       // t=y: the domain is trying out DKIM, and the signature counts for nothing (RFC 6376
                          // section 3.6.1)
  key_not_for_this,       // a key for another use, hash or algorithm
  subdomain_not_allowed,  // t=s, and i= in a domain below d=

  // The owner of the sender's domain
  other_domain_not_allowed,  // the signature is good, but its domain may not sign for the sender's: see OwnerRule

  // The name server
  name_server_failed,
  name_timeout,
  dnssec_bogus,

  // The verifier
  too_busy,
  verifier_failed,
  verifier_timeout,
};

inline constexpr std::size_t kSignatureOutcomes = static_cast<std::size_t>(SignatureOutcome::verifier_timeout) + 1;

// "pass", "no-signature", "key-not-found": the names above with hyphens. Never fails.
std::string_view signature_outcome_name(SignatureOutcome outcome) noexcept;

// field_added_reply_to for Reply-To.
SignatureOutcome outcome_of_added(WatchedField field) noexcept;

// Reply-To for field_added_reply_to; nothing for an outcome that is not about a field.
std::optional<WatchedField> added_field(SignatureOutcome outcome) noexcept;

struct Signature {
  SignatureOutcome outcome = SignatureOutcome::malformed_signature;
  std::string domain = {};      // d=, canonical
  std::string selector = {};    // s=: letters, digits, dots, hyphens and underscores; empty if it is anything else
  unsigned key_bits = 0;        // 0: unknown
  double key_milliseconds = 0;  // how long the message waited for the key
  bool has_secure_key = false;  // DNSSEC has validated the key

  friend bool operator==(const Signature&, const Signature&) = default;
};

// Whether another domain may sign for a sender's: the DMARC records make both one organisation, and the record of the
// sender's domain does not forbid it by adkim (RFC 9989 sections 4.7 and 4.10).
struct OwnerRule {
  std::string domain = {};  // the sender's, canonical
  std::string signer = {};  // d= of a signature, canonical
  // pass: it may. This includes the case without records in which the Public Suffix List makes both one organisation.
  // Other values say why it may not, or why that is unknown.
  SignatureOutcome outcome = SignatureOutcome::other_domain_not_allowed;

  friend bool operator==(const OwnerRule&, const OwnerRule&) = default;
};

struct Signatures {
  std::vector<Signature> all = {};  // those that were examined, in the order of the header
  // The outcome of the verification itself, used if `all` has no relevant signature.
  SignatureOutcome fault = SignatureOutcome::no_signature;
  // Under Alignment::relaxed another domain's signature counts only if the rule for both domains is a pass. So a
  // missing rule allows nothing. At most one rule for each pair of sender and signature; no rules if no signature needs
  // one.
  std::vector<OwnerRule> owner_rules = {};

  // Whether a signature that may count for `domain` passed.
  bool pass_for(std::string_view domain, Alignment alignment) const noexcept;

  // What to report for a sender of that domain: a pass, or else the outcome of the first signature that may count for
  // it. If there is none, it is the owner's rule that excludes a passing signature, the outcome of the first aligned
  // one, or `fault`.
  SignatureOutcome outcome_for(std::string_view domain, Alignment alignment) const noexcept;

  friend bool operator==(const Signatures&, const Signatures&) = default;

 private:
  SignatureOutcome owner_rule(std::string_view domain, std::string_view signer) const noexcept;
  bool may_count(const Signature& signature, std::string_view domain, Alignment alignment) const noexcept;
};

// The signatures that would change a decision: those of domains that are aligned with a sender's domain, and those of
// signers that entries of a list name. Canonical. Empty: no signature would.
struct SignatureNeed {
  // The domains of the envelope sender, of the From mailbox, and of those signers: as many as Grounds keeps.
  static constexpr std::size_t kSenders = 2;
  static constexpr std::size_t kMaxDomains = kSenders + Grounds::kMostSigners;

  std::array<Domain, kMaxDomains> domains = {};

  // Another domain may sign for a sender, as Alignment says; a named signer must sign itself. Empty domains are unused.
  std::span<const Domain> senders() const noexcept { return std::span(domains).first(kSenders); }
  std::span<const Domain> signers() const noexcept { return std::span(domains).subspan(kSenders); }

  bool is_empty() const noexcept {
    return std::ranges::all_of(domains, [](const Domain& domain) { return domain.view().empty(); });
  }

  friend bool operator==(const SignatureNeed&, const SignatureNeed&) = default;
};

}  // namespace bloomgate
