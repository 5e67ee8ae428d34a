// The outcome of a decision: what happens to the message, why, and by which list and method. Plain values of fixed
// size; safe from any thread. All names are stable: operators search logs, headers and rules of the deeper checks for
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/domain.hpp"
#include "filter/base/fixed_text.hpp"
#include "milter/fields/authentication_results.hpp"
#include "milter/fields/signatures.hpp"
#include "milter/policy/confirmation.hpp"

namespace bloomgate {

enum class Verdict : std::uint8_t { check, deliver };

enum class Reason : std::uint8_t {
  // deliver, unless authentication is missing
  listed,                 // the address itself is an entry
  listed_domain,          // its domain has an entry `@domain`
  listed_domain_tree,     // its domain or one above it has an entry `@.domain`
  listed_extra,           // the operator's own list `extra` has it
  listed_for_recipients,  // pairs list it for each recipient, or for those who have not written to it
  listed_mailing_list,    // the mailing list that sent the message is an entry, or below one
  listed_with_signer,     // an entry lists it with a domain that has signed the message
  learned,                // each recipient has written to it

  // The identity
  not_listed,
  not_listed_for_all,  // pairs list it, or it was learned, but not for all of the recipients
  // Pairs may list or revoke it, or a recipient may have opted out, and
  recipients_unknown,   // not all recipients are known
  too_many_recipients,  // the message has more recipients than are looked up
  null_sender,          // null sender `<>`: a bounce; never on a whitelist
  bounce,               // a bounce by its content, which an attacker may have written
  malformed_sender,     // the envelope sender is not an address; Decision::sender_fault says why not
  no_header_from,       // no From field
  several_from_fields,
  several_from_mailboxes,
  no_from_mailbox,   // an empty From field, or an empty group
  malformed_from,    // not a list of mailboxes, or one that mail programs read differently
  ambiguous_header,  // mail programs may end one of its lines at different positions

  // Authentication
  not_authenticated,      // listed, but no trusted field says that the identity is authenticated
  authentication_failed,  // listed, but a trusted field says that authentication failed (authentication = preferred)
  dmarc_fail,             // DMARC failed for the From field's domain
  distrusted_results,     // the trusted fields may be forged, or there are too many of them, or of signatures
  own_domain,             // claims an own domain without authentication

  revoked,  // the operator's list `revoked` has it

  // The brake: listed and proven, and
  burst,      // sends much more than usual
  replay,     // the same message has come too often
  suspended,  // mail that was proven to be from this sender was spam

  // The operator's list `opt-out` has a recipient. This reason does not depend on the sender, so mark and bounce may
  // state it. They then tell the sender that a recipient of the message has opted out.
  opted_out,

  // Not incoming mail
  exempt_network,
  exempt_authenticated,
  exempt_daemon,

  // Faults
  no_sender,           // no MAIL command was seen
  no_whitelist,        // no whitelist is loaded
  whitelist_damaged,   // a part of the file can no longer be read
  no_revoked_list,     // configured, but not loaded
  no_opt_out_list,     // the list opt-out is configured, but not loaded
  confirm_timeout,     // the whitelist's bits have the sender, but its store has not answered in time
  confirm_busy,        // … and too many messages already wait for its store
  confirm_damaged,     // … and the page of its store is damaged
  confirm_unreadable,  // … and its store cannot be read, or was not asked
  internal_error,      // an exception occurred; never decided here
};
inline constexpr std::size_t kReasonCount = 44;

// "deliver", "check". Never fails.
std::string_view verdict_name(Verdict verdict) noexcept;

// "listed", "listed-domain", "several-from-fields": the name above with hyphens. Never fails.
std::string_view reason_name(Reason reason) noexcept;

// Whether a checked message from another sender, with the same fields and results, could have another reason.
bool depends_on_lists(Reason reason) noexcept;

// Whether the message is not incoming mail, so that the lists do not apply.
bool is_exempt(Reason reason) noexcept;

enum class IdentityKind : std::uint8_t { none, envelope, header_from, both, mailing_list };
inline constexpr std::size_t kIdentityKinds = 5;

// "none", "envelope", "header-from", "both", "list". Never fails.
std::string_view identity_kind_name(IdentityKind kind) noexcept;

// The most bytes of a list's name: a whitelist's name, a slash and the name of a layer.
inline constexpr std::size_t kMaxListNameBytes = 128;

// How many look-ups in whitelists the senders of the message caused, alone or with a recipient, and how often the bits
// matched. Each look-up of a non-member may be a false positive.
struct Draws {
  std::uint32_t look_ups = 0;
  std::uint32_t hits = 0;

  Draws& operator+=(const Draws& other) noexcept {
    look_ups += other.look_ups;
    hits += other.hits;
    return *this;
  }
  friend bool operator==(const Draws&, const Draws&) = default;
};

// For how many of the message's recipients pairs list a sender. If `recipients` is 0, no pair was looked up.
struct ForRecipients {
  std::uint16_t recipients = 0;
  std::uint16_t listed = 0;

  friend bool operator==(const ForRecipients&, const ForRecipients&) = default;
};

// Which bytes of the message authenticated a sender.
enum class ProofOf : std::uint8_t {
  nothing,
  from,          // the From mailbox, by its domain
  same_from,     // the envelope sender, since the From mailbox is the same and its domain is proven
  envelope,      // the envelope sender, by SPF
  covered_from,  // the envelope sender's listed domain, by its signature; the entry covers the From mailbox, too
  signer,        // a sender or mailing list that is listed with a signer, by that signer's signature
  list_id,       // a mailing list, by the signature of its host, which covers List-Id
};

// "from", "same-from", "envelope", "covered-from", "signer", "list-id"; "none" for nothing. Never fails.
std::string_view proof_name(ProofOf of) noexcept;

// A name below the domain of a listed sender that has signed the message. The message would be delivered if the
// alignment allowed such a name to sign for that domain.
struct ChildSigner {
  Domain domain = {};            // canonical: printable ASCII. Empty: there is none
  std::size_t parent_bytes = 0;  // the length of the sender's domain, which is at the end of `domain`
  bool is_verified = false;      // a trusted milter found the signature valid; our own verifier does not verify it

  bool is_none() const noexcept { return domain.view().empty(); }
  std::string_view parent() const noexcept { return domain.view().substr(domain.view().size() - parent_bytes); }
  friend bool operator==(const ChildSigner&, const ChildSigner&) = default;
};

// What an outsider may learn about a checked message: it is the same for a listed or revoked sender as for an unlisted
// one.
struct PublicReason {
  Reason reason = Reason::not_listed;
  IdentityKind identity = IdentityKind::none;
  std::optional<SignatureOutcome> signature = {};

  friend bool operator==(const PublicReason&, const PublicReason&) = default;
};

struct Decision {
  Verdict verdict = Verdict::check;
  Reason reason = Reason::internal_error;
  RejectReason sender_fault = RejectReason::none;  // for malformed_sender only

  // Whether the message gets an X-Bloomgate field. Incoming fields of that name are always removed.
  bool is_marked = true;
  // The identity that the reason is about. none: no identity.
  IdentityKind identity = IdentityKind::none;
  // What authenticated the identity; nothing if it is not authenticated. For `both`: of the From field.
  std::optional<AuthenticationMethod> method = {};
  ProofOf proof = ProofOf::nothing;
  // The whitelist that lists the identity, with its layer if there are layers, or "extra"; or the damaged whitelist.
  // For `both`: of the From field. Empty: none.
  FixedText<kMaxListNameBytes> list = {};
  // The entry of a domain or a mailing list that lists or revokes the identity: "@.partner.example", without its
  // signer. Printable ASCII; empty if the entry is an address, and if there is none. For `both`: of the From field.
  FixedText<kMaxKeyBytes> entry = {};
  // The domain whose signature proves a mailing list, or an entry with a signer; for a checked message, the domain
  // whose signature would. Empty: none.
  Domain signer = {};
  // The result of our own verifier for the identity's signatures. Nothing if they were not verified, or if the message
  // is delivered without them.
  std::optional<SignatureOutcome> signature = {};
  // For an envelope sender that is not authenticated: the From mailbox differs, or the entry does not cover it, so no
  // signature proves the envelope sender.
  bool is_envelope_alone = false;
  // For a message that is checked because its listed sender is not authenticated. None under Alignment::relaxed.
  ChildSigner child_signer = {};
  // The signatures that would change the decision, for this sender or for a listed one at the same domain (decide.hpp).
  // If it is not empty, the decision is provisional: verify the signatures, add them to the facts, and call decide()
  // again. If that fails, the decision is final. Empty once the facts have signatures.
  SignatureNeed need = {};
  // For the identity, if the lists hold pairs and it is not listed for all users. For `both`: of the From field.
  ForRecipients for_recipients = {};
  // What the store has said about the identity, if it was asked. For `both`: about that of the From field. Of several
  // answers, the decisive one.
  std::optional<Confirmation> confirmation = {};
  // The question to a store whose confirmation of a hit would deliver the message. If there is one, the decision is
  // provisional: add the reply to the facts, and call decide() again. There is no need for signatures as long as there
  // is a question.
  std::optional<StoreQuestion> question = {};
  // For a checked message whose reason depends on the lists, while another reason that does not would be enough.
  std::optional<PublicReason> public_reason = {};
  // For the daemon's figures only: nothing depends on it.
  Draws draws = {};

  friend bool operator==(const Decision&, const Decision&) = default;
};

// What proved a sender, for marks and logs. Empty for a From mailbox whose own domain is proven: there the method is
// enough.
std::string_view told_proof(const Decision& decision) noexcept;

// "dkim", "spf", "dmarc", "arc"; "none" if there is no method. Never fails.
std::string_view method_name(const std::optional<AuthenticationMethod>& method) noexcept;

}  // namespace bloomgate
