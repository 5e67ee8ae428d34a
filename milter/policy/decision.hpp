// The outcome of a decision: what happens to the message, why, and by which list and method. Plain values of fixed
// size; safe from any thread. All names are stable: operators match them in logs, headers and rules of the deeper
// checks.
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
  listed_domain,          // its domain is an entry, as `@domain`
  listed_domain_tree,     // its domain or one above it is an entry, as `@.domain`
  listed_extra,           // the operator's own list `extra` has it
  listed_for_recipients,  // pairs list it for each recipient, or for those who have not written to it
  listed_mailing_list,    // the mailing list that has sent the message is an entry, or below one
  listed_with_signer,     // an entry lists it with a domain that has signed the message
  learned,                // each recipient has written to it

  // The identity
  not_listed,
  not_listed_for_all,  // pairs list it, or it was learned, for some of the recipients only
  // Pairs may list or revoke it, or a recipient may have opted out, and
  recipients_unknown,   // not all recipients are known
  too_many_recipients,  // the message has more recipients than are looked up
  null_sender,          // `<>`: a bounce; never on a whitelist
  bounce,               // a bounce by its content: an attacker may have written what is in it
  malformed_sender,     // the envelope sender is not an address; Decision::sender_fault says why not
  no_header_from,       // no From field
  several_from_fields,
  several_from_mailboxes,
  no_from_mailbox,   // an empty From field, or an empty group
  malformed_from,    // not a list of mailboxes, or one that mail programs read differently
  ambiguous_header,  // mail programs may end a line of it at different places

  // Authentication
  not_authenticated,      // listed, but no trusted field says that the identity is authenticated
  authentication_failed,  // listed, but a trusted field says that it is not (authentication = preferred)
  dmarc_fail,             // DMARC failed for the From field's domain
  distrusted_results,     // a stranger may have written what the trusted fields say, or there are too many of them
  own_domain,             // claims a domain of ours without authentication

  revoked,  // the operator's list `revoked` has it

  // The brake: listed and proven, and
  burst,      // sends much more than it usually does
  replay,     // the same message has come too often
  suspended,  // mail that was proven to be its own was spam

  // The operator's list `opt-out` has a recipient. It does not depend on the sender, so mark and bounce may tell it.
  // They then tell the sender that a recipient of his message has opted out.
  opted_out,

  // Not incoming mail
  exempt_network,
  exempt_authenticated,
  exempt_daemon,

  // Faults
  no_sender,           // no MAIL command was seen
  no_whitelist,        // none is loaded
  whitelist_damaged,   // a part of the file can no longer be read
  no_revoked_list,     // it is configured, but not loaded
  no_opt_out_list,     // the same of that list
  confirm_timeout,     // the whitelist's bits have the sender, and its store has not answered in time
  confirm_busy,        // … and too many messages wait for its store already
  confirm_damaged,     // … and the page of its store is damaged
  confirm_unreadable,  // … and its store cannot be read, or was not asked
  internal_error,      // an exception on the way; never decided here
};
inline constexpr std::size_t kReasonCount = 44;

// "deliver", "check". Never fails.
std::string_view verdict_name(Verdict verdict) noexcept;

// "listed", "listed-domain", "several-from-fields": the name above with hyphens. Never fails.
std::string_view reason_name(Reason reason) noexcept;

// Whether a checked message of another sender, with the same fields and results, could have another reason.
bool depends_on_lists(Reason reason) noexcept;

// Whether the message is not incoming mail, so that the lists do not apply.
bool is_exempt(Reason reason) noexcept;

enum class IdentityKind : std::uint8_t { none, envelope, header_from, both, mailing_list };
inline constexpr std::size_t kIdentityKinds = 5;

// "none", "envelope", "header-from", "both", "list". Never fails.
std::string_view identity_kind_name(IdentityKind kind) noexcept;

// Of a whitelist, a slash and a layer of it.
inline constexpr std::size_t kMaxListNameBytes = 128;

// How often whitelists were asked for a sender of the message, alone or with a recipient, and how often their bits had
// it: each look-up of a stranger is a draw at a false positive.
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

// For how many of the message's recipients pairs list a sender. Nobody was looked up if there are none.
struct ForRecipients {
  std::uint16_t recipients = 0;
  std::uint16_t listed = 0;

  friend bool operator==(const ForRecipients&, const ForRecipients&) = default;
};

// By which bytes of the message a sender was authenticated.
enum class ProofOf : std::uint8_t {
  nothing,
  from,          // the From mailbox, by its domain
  same_from,     // the envelope sender, since the From mailbox is the same one, and its domain is proven
  envelope,      // the envelope sender, by SPF
  covered_from,  // the listed domain of the envelope sender, by its signature; the entry has the From mailbox, too
  signer,        // a sender or mailing list that is listed with the signer, by that signer's signature
  list_id,       // a mailing list, by the signature of its host, which covers List-Id
};

// "from", "same-from", "envelope", "covered-from", "signer", "list-id"; "none" for nothing. Never fails.
std::string_view proof_name(ProofOf of) noexcept;

// A name below the domain of a listed sender that has signed the message. The message would be delivered if the
// alignment let such a name sign for that domain.
struct ChildSigner {
  Domain domain = {};            // canonical: printable ASCII. Empty: there is none
  std::size_t parent_bytes = 0;  // the length of the sender's domain, its end
  bool is_verified = false;      // a trusted milter found the signature good; our own verifier does not look at it

  bool is_none() const noexcept { return domain.view().empty(); }
  std::string_view parent() const noexcept { return domain.view().substr(domain.view().size() - parent_bytes); }
  friend bool operator==(const ChildSigner&, const ChildSigner&) = default;
};

// What a stranger may know of a message that is checked: the same for a sender who is listed or revoked as for one who
// is not.
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

  // Whether the message gets an X-Bloomgate field. Fields that came with it are always removed.
  bool is_marked = true;
  // Whom the reason is about. none: nobody in particular.
  IdentityKind identity = IdentityKind::none;
  // What authenticated the identity; nothing if nothing did. For `both`: that of the From field.
  std::optional<AuthenticationMethod> method = {};
  ProofOf proof = ProofOf::nothing;
  // The whitelist that lists the identity, with its layer if it has some, or "extra"; or the damaged whitelist. For
  // `both`: that of the From field. Empty: none.
  FixedText<kMaxListNameBytes> list = {};
  // The domain entry or the mailing list's that lists or revokes the identity: "@.partner.example", without its signer.
  // Printable ASCII; empty where it is an address that does, and where nothing does. Of both: the From field's.
  FixedText<kMaxKeyBytes> entry = {};
  // The domain whose signature proves a mailing list, or an entry that names it; of a message that is checked, the one
  // that would. Empty: none.
  Domain signer = {};
  // What our own verifier says of the identity's signatures. Nothing if they were not verified, or if the message is
  // delivered without them.
  std::optional<SignatureOutcome> signature = {};
  // Of an envelope sender that is not authenticated: the From mailbox is another one, or the entry does not have it, so
  // no signature proves the envelope sender.
  bool is_envelope_alone = false;
  // Of a message that is checked since its listed sender is not authenticated. None under Alignment::relaxed.
  ChildSigner child_signer = {};
  // The signatures that would make the decision another one, for this sender or for a listed one at the same domain
  // (decide.hpp). The decision is then only for now: get them verified, put them into the facts, and ask again. If that
  // fails, the decision holds. Empty once the facts have signatures.
  SignatureNeed need = {};
  // Of the identity, where the lists hold pairs and it is not listed for everybody. For `both`: that of the From field.
  ForRecipients for_recipients = {};
  // What the store has said of the identity, if it was asked. For `both`: of that of the From field. Of several answers
  // the one that settled the matter.
  std::optional<Confirmation> confirmation = {};
  // What a store has to be asked, since the message is delivered if it confirms a hit. The decision is only for now:
  // put the reply into the facts, and ask again. There is no need for signatures as long as there is a question.
  std::optional<StoreQuestion> question = {};
  // Of a message that is checked for a reason that depends on the lists, where one that does not would be enough.
  std::optional<PublicReason> public_reason = {};
  // For the figures that the daemon shows: nothing follows from them.
  Draws draws = {};

  friend bool operator==(const Decision&, const Decision&) = default;
};

// What proved a sender, for marks and logs; empty of a From mailbox whose own domain is proven: the method says all.
std::string_view told_proof(const Decision& decision) noexcept;

// "dkim", "spf", "dmarc", "arc"; "none" if there is nothing. Never fails.
std::string_view method_name(const std::optional<AuthenticationMethod>& method) noexcept;

}  // namespace bloomgate
