// The decision: is this message delivered without further checks (deliver), or does it go to the deeper checks (check)?
//
// The daemon calls it once per message, at its end, with all facts collected; `explain` calls it too. A pure function:
// no I/O, no clock, no log, no libmilter. noexcept, safe from any thread; without a trace it allocates nothing for
// ASCII. Takes some microseconds with the whitelists in memory.
//
// Every doubt leads to `check`: later stages trust only `deliver`.
#pragma once

#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

class Trace;

// The steps, in order; the first one that settles the matter gives the reason. Steps that forbid delivery come before
// the lists: they apply to the whole message, and need no look-up in a whitelist.
//
//  1. A recipient has opted out (opted-out), or may have (no-opt-out-list, recipients-unknown, too-many-recipients):
//     opt_out.hpp. This affects all recipients, since a message has one mark. Mail that stays unmarked skips this step.
//     If the mail is not incoming (exempt-network, exempt-authenticated, exempt-daemon), no later step applies.
//  2. A fact or a list is missing: no-sender; no-revoked-list; no-whitelist or whitelist-damaged, if no list is left
//     that could list a sender.
//  3. revoked: the envelope sender as it arrived, the original sender behind BATV and SRS, the From mailbox or the
//     mailing list is revoked, whatever the identity rule, for all users or for one of the recipients. A tag
//     (`joe+x@`) does not avoid this. If a pair revokes the sender for one user and not all recipients are known:
//     recipients-unknown, too-many-recipients. Then ambiguous-header.
//  4. A From field that is not exactly one mailbox (no-header-from and so on) hides who the message claims to be from.
//     That settles the matter if the identity rule needs the field, if there are revoked senders or own domains, or if
//     a DMARC fail vetoes and authentication is not off.
//  5. own-domain: the envelope sender or the From mailbox is in an own domain and is not authenticated.
//  6. dmarc-fail: for the domain of the From mailbox. distrusted-results: they may hide such a fail.
//  7. null-sender, malformed-sender, bounce.
//  8. The identities that the rule requires: each must be listed (not-listed, not-listed-for-all, confirm-timeout and
//     so on) and, as the authentication rule says, be authenticated (not-authenticated, authentication-failed). Under
//     `either` the envelope sender comes first. If neither passes, the reason is that of the one that is at least
//     listed, or else that of the envelope sender.
//  9. If steps 6 to 8 do not deliver the message: an entry that names its signer, or a mailing list
//     (signed_route.hpp). None of these delivers what step 7 forbids.
// 10. suspended, burst, replay: a list would deliver the message, but the brake holds its sender (Facts::hold).
//
// Neither the null sender is ever delivered, nor a malformed one, which a mail server may treat as the null sender.
//
// What authenticates an identity, and who else could produce the same bytes, is in PROOFS.md, which has a row for every
// way to `deliver`. In short:
// - A From mailbox is authenticated by a signature of its domain or of a domain above it. If DMARC failed for its
//   domain, only ARC authenticates it.
// - An envelope sender that is listed as a mailbox is authenticated if it is the From mailbox and that is
//   authenticated, or by SPF where SPF may prove an address.
// - An envelope sender that is listed by its domain is authenticated by SPF, or by the domain's signature if the entry
//   covers the From mailbox, too.
// - A sender behind SRS may use the SPF pass of exactly the trusted forwarder's domain. A signature of that domain is
//   not enough, since anyone can replay it.
//
// With `preferred` an identity also counts if it is not authenticated. But then no trusted field may say fail
// (softfail, hardfail, policy) of DMARC, DKIM or SPF for a domain that is aligned with the identity's, and none may be
// unreadable.
//
// If the policy verifies signatures, a signature that our own verifier passes counts like dkim=pass. If the facts have
// no signatures yet, a decision may have a need: see Decision. Only such a message causes DNS queries. What a message
// needs depends on whether the lists have neighbours of its senders (neighbours.hpp). It does not depend on whether
// these senders themselves are listed, revoked, or listed for these recipients: outsiders can observe name servers and
// the time to the answer.
//
// A hit in a whitelist that has a store counts only if the store has the sender's hash. If the facts do not have its
// reply yet, a decision may have a question: see Decision. So a store is asked only about a message that it would
// deliver, at most once for each sender and whitelist. If a list keeps neighbours, it is asked only after the
// signatures are known. A store that cannot answer (confirm-timeout and so on) lists no sender.
//
// A sender that is not listed for all users may be listed for each of the message's recipients, by pairs, by what was
// learned, or by both together: see look_up_recipients.hpp. Each identity counts separately: a recipient who knows one
// of them need not know the other.
//
// `trace`, if not null, gets the steps.
Decision decide(const Facts& facts, const Lists& lists, const Policy& policy, Trace* trace = nullptr) noexcept;

}  // namespace bloomgate
