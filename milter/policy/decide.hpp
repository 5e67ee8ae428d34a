// The decision: is this message delivered without further checks (deliver), or does it go to the deeper checks (check)?
//
// The daemon calls it once per message, at its end, with all facts collected; --explain calls it too. A pure function:
// no I/O, no clock, no log, no libmilter. noexcept, safe from any thread; without a trace it allocates nothing for
// ASCII. Takes some microseconds with the whitelists in memory.
//
// Every doubt leads to `check`: whatever comes after us trusts only `deliver`.
#pragma once

#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

class Trace;

// The steps, in order; the first one that settles the matter gives the reason. Steps that forbid delivery come before
// the lists: they hold for the whole message, and cost no look-up in a whitelist.
//
//  1. A recipient has opted out (opted-out), or may have (no-opt-out-list, recipients-unknown, too-many-recipients):
//     opt_out.hpp. This is for all recipients, since a message has one mark; mail that stays unmarked is not asked.
//     The mail is not incoming (exempt-network, exempt-authenticated, exempt-daemon): nothing else is asked.
//  2. A fact or a list is missing: no-sender; no-revoked-list; no-whitelist or whitelist-damaged, if no list is left
//     that could list anybody.
//  3. revoked: the envelope sender as it came, the sender behind BATV and SRS, the From mailbox or the mailing list is
//     revoked, whatever the identity rule, for everybody or for one of the recipients. A tag (`joe+x@`) hides nobody.
//     Where a pair revokes it for somebody and not all recipients are known: recipients-unknown, too-many-recipients.
//     Then ambiguous-header.
//  4. A From field that is not exactly one mailbox (no-header-from and so on) hides whom the message claims to be from.
//     That ends the matter if the identity rule needs the field, if there are revoked senders or own domains, or if a
//     failed DMARC vetoes and authentication is not off.
//  5. own-domain: the envelope sender or the From mailbox is in a domain of ours and is not authenticated.
//  6. dmarc-fail: of the From mailbox's domain. distrusted-results: they may hide one.
//  7. null-sender, malformed-sender, bounce.
//  8. The identities that the rule asks for: each must be listed (not-listed, not-listed-for-all, confirm-timeout and
//     so on) and, as the authentication rule says, be authenticated (not-authenticated, authentication-failed). Under
//     `either` the envelope sender comes first. If neither passes, the reason is that of the one that is at least
//     listed, or else that of the envelope sender.
//  9. Where steps 6 to 8 do not deliver the message: an entry that names its signer, or a mailing list
//     (signed_route.hpp). None of these delivers what step 7 forbids.
// 10. suspended, burst, replay: the message would be delivered by a list, and the brake holds its sender (Facts::hold).
//
// Neither the null sender is ever delivered nor a malformed one, which a mail server may take for it.
//
// What authenticates an identity, and who else could make the same bytes, is in PROOFS.md: every way to `deliver` has
// its row there. In short: a From mailbox by a signature of its domain or of one above it; an envelope sender that is
// listed as a mailbox by the same From mailbox, or by SPF where that may prove an address; one that is listed by its
// domain by SPF, or by the domain's signature if the entry has From, too. If DMARC failed for its domain, a From
// mailbox is authenticated only by ARC. A sender behind SRS may have the SPF pass of exactly the trusted forwarder's
// domain; a signature of that domain is not enough, since anyone can replay it.
//
// With `preferred` an identity also counts if it is not authenticated. But then no trusted field may say fail
// (softfail, hardfail, policy) of DMARC, DKIM or SPF for a domain that is aligned with the identity's, and none may be
// unreadable.
//
// If the policy verifies signatures, a signature that our own verifier passes counts like dkim=pass. Without signatures
// among the facts, a decision may have a need: see Decision. Only such a message costs a name server anything. What a
// message needs depends on whether the lists have neighbours of its senders (neighbours.hpp), and not on whether these
// very senders are listed, revoked, or listed for these recipients: name servers, and the time to the answer, are seen
// from outside.
//
// A hit of a whitelist that has a store counts only where the store has the sender's hash. Without its reply among the
// facts, a decision may have a question: see Decision. So a store is asked only about a message that it would deliver,
// once for each sender and whitelist at most; and only once its signatures are known, where a list keeps neighbours. A
// store that cannot tell (confirm-timeout and so on) lists nobody.
//
// A sender who is not listed for everybody may be listed for each of the message's recipients, by pairs or by what was
// learned, or by both together: see look_up_recipients.hpp. Each identity counts for itself: a recipient who knows the
// one is none who knows the other.
//
// `trace`, if given, gets the steps.
Decision decide(const Facts& facts, const Lists& lists, const Policy& policy, Trace* trace = nullptr) noexcept;

}  // namespace bloomgate
