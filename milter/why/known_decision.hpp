// What is known of a decision when a person asks for its reason: of one that was just made, or of a line of the
// daemon's log. Plain values; pure functions that throw std::bad_alloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/log/daemon_line.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/policy.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

// Each text is printable ASCII (printable.hpp). Empty: it is not known, or there is none.
struct KnownDecision {
  Verdict verdict = Verdict::check;
  Reason reason = Reason::internal_error;
  IdentityKind identity = IdentityKind::none;
  std::optional<IdentityRule> rule = {};  // the option identity; nothing: not known
  std::string sender = {};                // the envelope sender without its angle brackets; `<>` for the null sender
  std::string behind = {};  // who is behind a rewritten envelope sender (BATV, SRS), if the decision is about that one
  std::string header_from = {};
  std::optional<AuthenticationMethod> method = {};
  std::string list = {};        // "extra", or the name of a whitelist
  std::string entry = {};       // as Decision has it
  std::string revoked_by = {};  // the entry of the list revoked as it stands there; empty: not known
  std::string signer = {};
  std::string child_signer = {};
  std::string child_of = {};
  std::vector<std::string> signed_by = {};  // domains with a signature that may not speak for the sender
  std::optional<SignatureOutcome> signature = {};
  std::string signature_domain = {};  // of the signature that `signature` is about
  std::string signature_selector = {};
  ForRecipients for_recipients = {};
  std::optional<Confirmation> confirmation = {};
  RejectReason sender_fault = RejectReason::none;
  bool is_envelope_alone = false;           // as Decision has it; of a line, only if it is certain
  std::string how_to_name_recipients = {};  // a sentence, where the command that asks was given none; empty: it cannot
};

// Whether a domain entry, `@example.org` or `@.example.org`, has the mailboxes of that domain. Both are in lower case.
bool is_below_entry(std::string_view entry, std::string_view domain);

// As the daemon writes it into its log: one printable word.
std::string as_logged(std::string_view text);

// The mailbox of a logged sender or From; not a key if the daemon has cut it off, or it is not a mailbox.
Entry mailbox_of(std::string_view logged);

// Whom a logged envelope sender names that was rewritten (BATV, SRS), if its forwarders can be trusted; empty: it was
// not rewritten.
std::string named_behind(std::string_view logged);

// Nothing for a line whose decision or reason is not of this version.
std::optional<KnownDecision> known_of_line(const DecisionLine& line);

// `facts` and `trace` are those that the decision was made from and with.
KnownDecision known_of_decision(const Decision& decision, const Facts& facts, const Trace& trace = {});

}  // namespace bloomgate
