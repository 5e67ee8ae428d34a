// What is known about a decision when a person asks for its reason: about one that was just made, or from a line of the
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

// The entries that list a sender only with a signer or for a recipient, so that no message without either is delivered
// by them.
struct ConditionalEntries {
  // A whitelist that has such entries. It stores hashes only, so it answers for a signer or a recipient that is named.
  struct Whitelist {
    std::string path = {};
    bool has_signers = false;
    bool has_pairs = false;
  };

  std::string sender = {};                 // the address that they are for
  std::vector<std::string> of_extra = {};  // as the list extra writes them
  std::vector<Whitelist> whitelists = {};
  bool are_of_now = false;  // the message was decided before, maybe by other lists
};

// Each text is printable ASCII (printable.hpp). Empty: it is unknown, or there is none.
struct KnownDecision {
  Verdict verdict = Verdict::check;
  Reason reason = Reason::internal_error;
  IdentityKind identity = IdentityKind::none;
  std::optional<IdentityRule> rule = {};  // the option identity; nothing: unknown
  std::string sender = {};                // the envelope sender without its angle brackets; `<>` for the null sender
  std::string behind = {};  // the original of a rewritten envelope sender (BATV, SRS), if the decision is about it
  std::string header_from = {};
  std::optional<AuthenticationMethod> method = {};
  std::string list = {};        // "extra", or the name of a whitelist
  std::string entry = {};       // as in Decision
  std::string revoked_by = {};  // the entry as written in the list revoked; empty: unknown
  std::string signer = {};
  std::string child_signer = {};
  std::string child_of = {};
  std::vector<std::string> signed_by = {};  // domains with a signature that may not sign for the sender
  std::optional<SignatureOutcome> signature = {};
  std::string signature_domain = {};  // of the signature that `signature` is about
  std::string signature_selector = {};
  ForRecipients for_recipients = {};
  std::optional<Confirmation> confirmation = {};
  RejectReason sender_fault = RejectReason::none;
  bool is_envelope_alone = false;           // as in Decision; from a log line, only if it is certain
  ConditionalEntries conditional = {};      // for not_listed
  std::string how_to_name_recipients = {};  // a sentence, if the command got no recipients; empty: it cannot take any
};

// Whether a domain entry, `@example.org` or `@.example.org`, covers the mailboxes of that domain. Both are in lower
// case.
bool is_below_entry(std::string_view entry, std::string_view domain);

// In the form of the daemon's log: one printable word.
std::string as_logged(std::string_view text);

// The mailbox of a logged sender or From; not a key if the daemon has truncated it, or it is not a mailbox.
Entry mailbox_of(std::string_view logged);

// The original sender that a logged, rewritten envelope sender names (BATV, SRS), if its forwarders can be trusted;
// empty: it was not rewritten.
std::string named_behind(std::string_view logged);

// Nothing for a line whose decision or reason this version does not know.
std::optional<KnownDecision> known_of_line(const DecisionLine& line);

// `facts` and `trace` are those with which the decision was made.
KnownDecision known_of_decision(const Decision& decision, const Facts& facts, const Trace& trace = {});

}  // namespace bloomgate
