#include "milter/why/why_sentence.hpp"

#include <algorithm>
#include <utility>

#include "filter/address/address.hpp"
#include "filter/address/reject_reason.hpp"
#include "filter/address/signer.hpp"
#include "filter/address/tag_separators.hpp"
#include "filter/base/ascii.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/why/signature_words.hpp"

namespace bloomgate {
namespace {

// `because` continues the text "Checked, because "; `change` consists of whole sentences, or is empty.
struct Why {
  std::string because;
  std::string change;
};

constexpr std::string_view kCommand = "bloomgate-milter ";
constexpr std::string_view kListOfLists = "list:";

std::string command(std::string_view name, const std::string& entry) {
  return std::string(kCommand).append(name) + ' ' + shell_word(entry, "ADDRESS");
}

bool is_mailing_list(const KnownDecision& known) noexcept {
  return known.identity == IdentityKind::mailing_list;
}

// The address that the decision is about; empty: it is unknown, or it is a mailing list.
std::string address_of(const KnownDecision& known) {
  switch (known.identity) {
    case IdentityKind::envelope:
      return known.behind.empty() ? known.sender : known.behind;
    case IdentityKind::header_from:
    case IdentityKind::both:
      return known.header_from;
    case IdentityKind::mailing_list:
      return {};
    case IdentityKind::none:
      break;
  }
  return known.sender.empty() ? known.header_from : known.sender;
}

std::string who(const KnownDecision& known) {
  const std::string address = address_of(known);
  if (!known.behind.empty()) return address + " (rewritten as " + known.sender + ')';
  if (!address.empty()) return address;
  if (!is_mailing_list(known)) return known.identity == IdentityKind::header_from ? "the From mailbox" : "the sender";
  if (!known.entry.starts_with(kListOfLists)) return "the mailing list";
  return "the mailing list " + known.entry.substr(kListOfLists.size());
}

std::string of_list(const KnownDecision& known) {
  if (known.list.empty()) return "a list";
  return known.list == kExtraName ? "the list extra" : "the whitelist '" + known.list + "'";
}

// "joe@example.org is on the whitelist 'customers'"
std::string who_is_listed(const KnownDecision& known) {
  if (known.entry.empty() || is_mailing_list(known)) return who(known) + " is on " + of_list(known);
  return who(known) + " is listed by the entry " + known.entry + " of " + of_list(known);
}

std::string sender_domain(const KnownDecision& known) {
  return is_mailing_list(known) ? known.signer : ascii::lower_case(domain_of(address_of(known)));
}

std::string or_the_senders(const std::string& domain) {
  return domain.empty() ? "the sender's domain" : domain;
}

std::string joined(const std::vector<std::string>& names, std::string_view before_last = " and ") {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == names.size() ? before_last : ", ").append(names[i]);
  }
  return text;
}

// What proved a delivered message.
std::string proven_by(const KnownDecision& known) {
  if (!known.method) return "nothing had to prove the message, as the option authentication says";
  switch (*known.method) {
    case AuthenticationMethod::dkim: {
      const bool is_of_shown = known.signature == SignatureOutcome::pass && !known.signature_domain.empty();
      const std::string domain = !known.signer.empty() ? known.signer : is_of_shown ? known.signature_domain : "";
      return domain.empty() ? "a good signature (DKIM) proves the message"
                            : "the signature of " + domain + " (DKIM) proves the message";
    }
    case AuthenticationMethod::spf:
      return "SPF passed for the envelope sender";
    case AuthenticationMethod::dmarc:
      return "DMARC passed for the domain in From";
    case AuthenticationMethod::arc:
      return "a trusted ARC chain says that the message was proven";
    case AuthenticationMethod::other:
      break;
  }
  return "a trusted milter says that the message is proven";
}

std::string how_to_stop(const KnownDecision& known) {
  // The next address that a forwarder makes will differ.
  const bool is_fleeting = known.identity == IdentityKind::envelope && known.behind.empty() && !known.entry.empty() &&
                           !named_behind(known.sender).empty();
  const std::string entry = is_mailing_list(known) || is_fleeting ? known.entry : address_of(known);
  if (entry.empty()) return "To stop it: bloomgate-milter revoke ADDRESS.";
  return "To stop it: " + command("revoke", entry) + '.';
}

Why delivered(const KnownDecision& known, const std::string& is_listed) {
  return {.because = is_listed + ", and " + proven_by(known), .change = how_to_stop(known)};
}

std::string signature_would(const KnownDecision& known) {
  return "A signature of " + or_the_senders(sender_domain(known)) + " would change that.";
}

// The entry for a sender for whom a service signs.
std::string signer_may_be_named(const KnownDecision& known) {
  const std::string address = address_of(known);
  if (address.empty() || known.signed_by.size() != 1) return {};
  const std::string& signer = known.signed_by.front();
  return " If " + signer +
         " is a service that signs for this sender: " + command("add", address + " signed-by " + signer) +
         " (each of its customers may then write as this sender).";
}

Why unproven_by_child(const KnownDecision& known) {
  Why why = {.because = "it is signed by " + known.child_signer + " only, a name below " + known.child_of,
             .change = "A signature of " + known.child_of};
  if (!known.is_envelope_alone) {
    why.change += ", or the entry '@" + known.child_of + " signed-by " + known.child_signer + '\'';
  }
  why.change += ", would change that.";
  return why;
}

Why unproven_mailing_list(const KnownDecision& known) {
  if (!known.signer.empty()) {
    return {.because = "it has no good signature of " + known.signer,
            .change = "A good signature of " + known.signer + " would change that."};
  }
  const std::string entry = known.entry.empty() ? "list:LIST" : known.entry;
  return {.because = "no domain that may speak for it has signed the message",
          .change = "A signature of its host, or the entry '" + entry + " signed-by DOMAIN', would change that."};
}

Why unproven_envelope(const KnownDecision& known) {
  const std::string from = known.header_from.empty() ? "From" : "From (" + known.header_from + ')';
  if (known.entry.empty()) {
    return {.because = from + " is another mailbox, so no signature proves the envelope sender",
            .change =
                "The same mailbox in From with a signature of its domain would change that, or a pass of SPF with "
                "spf-proves = address."};
  }
  return {.because = "the entry does not have the mailbox in " + from + ", so no signature proves the envelope sender",
          .change = "A mailbox of the entry in From with its domain's signature, or a pass of SPF, would change that."};
}

// What a listed sender's message lacks.
Why unproven(const KnownDecision& known) {
  if (!known.child_signer.empty()) return unproven_by_child(known);
  const bool has_own_outcome = known.signature && *known.signature != SignatureOutcome::no_signature &&
                               *known.signature != SignatureOutcome::pass;
  if (has_own_outcome) {
    const SignatureWords words =
        signature_words(*known.signature, known.signature_domain, known.signature_selector, sender_domain(known));
    return {.because = words.cause, .change = words.remedy};
  }
  if (is_mailing_list(known)) return unproven_mailing_list(known);
  if (known.is_envelope_alone) return unproven_envelope(known);
  if (!known.signed_by.empty()) {
    return {.because = "it is signed by " + joined(known.signed_by) + " only",
            .change = signature_would(known) + signer_may_be_named(known)};
  }
  if (known.signature) {
    const SignatureWords words = signature_words(*known.signature, known.signature_domain, {}, sender_domain(known));
    return {.because = words.cause, .change = words.remedy};
  }
  return {.because = "no trusted result of DKIM, SPF or DMARC does", .change = signature_would(known)};
}

Why not_authenticated(const KnownDecision& known) {
  const Why why = unproven(known);
  return {.because = who_is_listed(known) + ", but nothing proves the message: " + why.because, .change = why.change};
}

Why authentication_failed(const KnownDecision& known) {
  Why why = {.because = who_is_listed(known) + ", but a trusted result says that its authentication failed",
             .change = signature_would(known)};
  if (known.signature && *known.signature != SignatureOutcome::pass) {
    const Why more = unproven(known);
    why = {.because = why.because + ": " + more.because, .change = more.change};
  }
  return why;
}

// Whether there is a From mailbox that differs from `address`.
bool has_other_from(const KnownDecision& known, const std::string& address) {
  const std::string& from = known.header_from;
  if (from.empty() || address.empty() || ascii::equal_ignoring_case(from, address)) return false;
  const Entry from_entry = mailbox_of(from);
  return !from_entry.is_key() || from_entry.key() != mailbox_of(address).key();
}

// Adds what the option identity requires. A line does not contain the option: for an envelope sender that is not listed
// it may be any value but header-from.
std::string how_to_add(const KnownDecision& known) {
  const std::string address = address_of(known);
  const std::string& from = known.header_from;
  if (address.empty() && from.empty()) return "bloomgate-milter add ADDRESS";
  if (known.identity != IdentityKind::envelope || !has_other_from(known, address))
    return command("add", from.empty() ? address : from);
  const std::string both = command("add", address) + ' ' + shell_word(from, "ADDRESS");
  if (known.rule == IdentityRule::envelope) return command("add", address);
  if (known.rule == IdentityRule::both) return both;
  if (known.rule) return command("add", from);
  return command("add", from) + " (with identity = envelope: " + command("add", address) +
         "; with identity = both: " + both + ')';
}

// The signers of those entries; empty if there is none.
std::vector<std::string> signers_of(const std::vector<std::string>& entries) {
  std::vector<std::string> signers;
  for (const std::string& each : entries) {
    if (is_signer_key(each)) signers.emplace_back(sides_of_signer_key(each).signer);
  }
  return signers;
}

Why listed_with_condition(const ConditionalEntries& conditional) {
  const std::vector<std::string>& entries = conditional.of_extra;
  const std::string named = (entries.size() == 1 ? "entry " : "entries ") + joined(entries);
  const std::vector<std::string> signers = signers_of(entries);
  Why why;
  if (conditional.are_of_now) {
    why.because = conditional.sender + " was on no list by itself";
    why.change = "The list extra now has the " + named + ". ";
    if (!signers.empty()) {
      why.change += "A message that " + joined(signers, " or ") + " has signed is delivered from now on. ";
    }
  } else {
    why.because = conditional.sender + " is listed only under a condition that this message does not meet: by the " +
                  named + " of the list extra";
    if (!signers.empty()) why.change = "A signature of " + joined(signers, " or ") + " would change that. ";
  }
  why.change += "To list the sender by itself: " + command("add", conditional.sender) +
                "; then a signature of its own domain has to prove the message.";
  return why;
}

// How to ask the whitelists for entries with a condition, which only answer for a condition that is named.
std::string how_to_ask_with_condition(const ConditionalEntries& conditional) {
  std::string text;
  for (const ConditionalEntries::Whitelist& each : conditional.whitelists) {
    const std::string ask = "bloomgate query " + shell_word(each.path, "FILE") + ' ';
    text += " The whitelist " + each.path + " also has entries with a " +
            (!each.has_pairs     ? "signer"
             : !each.has_signers ? "recipient"
                                 : "signer or a recipient") +
            ". Ask for one of this sender: ";
    if (each.has_signers) text += ask + shell_word(conditional.sender + " signed-by DOMAIN", "ENTRY");
    if (each.has_signers && each.has_pairs) text += ", or ";
    if (each.has_pairs) text += ask + shell_word(conditional.sender + " > RECIPIENT", "ENTRY");
    text += '.';
  }
  return text;
}

Why not_listed(const KnownDecision& known) {
  const std::string address = address_of(known);
  if (!known.conditional.of_extra.empty()) return listed_with_condition(known.conditional);
  Why why;
  if (known.confirmation == Confirmation::no) {
    why.because = of_list(known) + " finds " + who(known) + " only by chance: its store does not have this sender";
  } else {
    // As received: a line does not say whether the original sender was looked up.
    why.because = (known.behind.empty() ? who(known) : known.sender) + " is on no list";
    if (!known.conditional.whitelists.empty()) why.because += " by itself";
  }
  if (known.identity == IdentityKind::envelope && has_other_from(known, address)) {
    why.because += ", and From (" + known.header_from + ") does not make up for it";
  }
  why.change = "If you know the sender: " + how_to_add(known) + "; a signature has to prove the message, too." +
               how_to_ask_with_condition(known.conditional);
  return why;
}

Why not_listed_for_all(const KnownDecision& known) {
  Why why = {.because = who(known) + " is listed for some recipients of the message only",
             .change = "An entry for the other recipients, or for all of them"};
  if (known.for_recipients.recipients != 0) {
    why.because = who(known) + " is listed for " + std::to_string(known.for_recipients.listed) + " of the " +
                  std::to_string(known.for_recipients.recipients) + " recipients only";
  }
  const std::string address = address_of(known);
  why.change += address.empty() ? " would change that." : " (" + command("add", address) + "), would change that.";
  return why;
}

Why recipients_unknown(const KnownDecision& known) {
  const std::string because =
      "each recipient has to be looked up (for the list opt-out, or for entries for single recipients), and ";
  if (!known.how_to_name_recipients.empty()) {
    return {.because = because + "no recipient is named", .change = known.how_to_name_recipients};
  }
  return {.because = because + "a recipient is not known, has no domain, or may stand for another one",
          .change = "A message to full addresses alone (a domain by name, no % or ! in them) would change that."};
}

Why own_domain(const KnownDecision& known) {
  const std::string domain = sender_domain(known);
  return {.because = who(known) + " is of a domain of your own (own-domains), and nothing proves that",
          .change = "A login (SASL), a client in exempt-networks, or a signature of " +
                    (domain.empty() ? "that domain" : domain) + " would change that."};
}

// What the list `revoked` may contain if the entry is unknown: the address, and the same without its tag.
std::vector<std::string> revoked_spellings(const KnownDecision& known) {
  const std::string address = address_of(known);
  const Entry entry = mailbox_of(address);
  if (!entry.is_key()) return {address};
  std::vector<std::string> all = {std::string(entry.key())};
  const Entry untagged = canonicalize_path(entry.key(), {.tag_separators = kUsualTagSeparators});
  if (untagged.key() != entry.key()) all.emplace_back(untagged.key());
  return all;
}

// The command that ends the revocation by these entries.
std::string unrevoke(const std::vector<std::string>& entries) {
  std::string text = std::string(kCommand) + "unrevoke";
  for (const std::string& each : entries) text += ' ' + shell_word(each, "ENTRY");
  return text;
}

// The advice if a line does not have the entry: the entry is the address, or a pair.
std::string how_to_unrevoke(const KnownDecision& known) {
  if (is_mailing_list(known)) return unrevoke({"list:LIST > RECIPIENT"});
  std::vector<std::string> spellings = revoked_spellings(known);
  std::string text = unrevoke(spellings);
  for (std::string& each : spellings) each += " > RECIPIENT";
  return text + "; if the entry is for one recipient: " + unrevoke(spellings);
}

std::string how_to_unrevoke_with_signer(const KnownDecision& known) {
  std::vector<std::string> entries =
      known.entry.empty() ? revoked_spellings(known) : std::vector<std::string>{known.entry};
  for (std::string& each : entries) each += " signed-by " + known.signer;
  return unrevoke(entries);
}

Why revoked(const KnownDecision& known) {
  Why why = {.because = who(known) + " is on the list revoked", .change = "To undo that: "};
  const std::string entry = known.revoked_by.empty() && !is_mailing_list(known) ? known.entry : known.revoked_by;
  if (!entry.empty() && entry != address_of(known)) why.because += ", by the entry " + entry;
  if (!known.revoked_by.empty()) {
    why.change += unrevoke({known.revoked_by});
  } else if (!known.signer.empty()) {
    why.because += ", for messages that " + known.signer + " signs";
    why.change += how_to_unrevoke_with_signer(known);
  } else {
    why.change += known.entry.empty() ? how_to_unrevoke(known) : unrevoke({known.entry});
  }
  why.change += '.';
  return why;
}

Why suspended(const KnownDecision& known) {
  const std::string entry = is_mailing_list(known) ? known.entry : address_of(known);
  Why why = {.because = who(known) + " is suspended: proven mail of it was spam, or a recipient has moved it into Junk",
             .change = command("suspended clear", entry)};
  if (!known.entry.empty() && known.entry != entry) why.change += ", or " + command("suspended clear", known.entry);
  why.change +=
      " would change that. If 'bloomgate-milter suspended list' shows the sender with a recipient, name both.";
  return why;
}

Why confirmation_fault(const KnownDecision& known, const std::string& fault, std::string change) {
  return {.because = of_list(known) + " has " + who(known) + ", but " + fault, .change = std::move(change)};
}

std::string of_whitelist(const KnownDecision& known) {
  return known.list.empty() ? "a whitelist" : "the whitelist '" + known.list + "'";
}

Why why_of(const KnownDecision& known) {
  constexpr std::string_view kNoList = "The daemon's log says why; bloomgate-milter doctor tells how to repair it.";
  switch (known.reason) {
    case Reason::listed:
    case Reason::listed_domain:
    case Reason::listed_domain_tree:
    case Reason::listed_extra:
    case Reason::listed_mailing_list:
      return delivered(known, who_is_listed(known));
    case Reason::listed_for_recipients:
      return delivered(known, who(known) + " is listed for the recipients in " + of_list(known));
    case Reason::listed_with_signer:
      return delivered(known, who(known) + " is on " + of_list(known) + " together with its signer");
    case Reason::learned:
      return delivered(known, "each recipient has written to " + who(known) + ", or has moved its mail out of Junk");
    case Reason::not_listed:
      return not_listed(known);
    case Reason::not_listed_for_all:
      return not_listed_for_all(known);
    case Reason::recipients_unknown:
      return recipients_unknown(known);
    case Reason::too_many_recipients:
      return {
          "each recipient has to be looked up (for the list opt-out, or for entries for single recipients), and the "
          "message has more than are looked up",
          "The same message to fewer recipients would change that."};
    case Reason::null_sender:
      return {"its envelope sender is empty (<>), as in a bounce, and no list can have that",
              "Nothing would change that: such mail is always checked."};
    case Reason::bounce:
      return {"it is a bounce or an automatic answer by its header, so anyone may have written its text",
              "Nothing would change that: bounces are always checked."};
    case Reason::malformed_sender:
      return {
          "its envelope sender" + (known.sender.empty() ? "" : ' ' + known.sender) + " is not an address" +
              (known.sender_fault == RejectReason::none ? std::string()
                                                        : ": " + std::string(reject_reason_text(known.sender_fault))),
          "A valid envelope sender would change that."};
    case Reason::no_header_from:
      return {"it has no From field", "One From field with one mailbox would change that."};
    case Reason::several_from_fields:
      return {"it has several From fields, of which programs may show any",
              "One From field with one mailbox would change that."};
    case Reason::several_from_mailboxes:
      return {"its From field has several mailboxes", "One From field with one mailbox would change that."};
    case Reason::no_from_mailbox:
      return {"its From field has no mailbox", "One From field with one mailbox would change that."};
    case Reason::malformed_from:
      return {"its From field is malformed, or mail programs may read it differently",
              "One well-formed From field with one mailbox would change that."};
    case Reason::ambiguous_header:
      return {"its header has a control character, at which mail programs may end a line",
              "A header without control characters would change that."};
    case Reason::not_authenticated:
      return not_authenticated(known);
    case Reason::authentication_failed:
      return authentication_failed(known);
    case Reason::dmarc_fail:
      return {"DMARC failed for " + (known.header_from.empty() ? "the From mailbox" : known.header_from) +
                  " by a trusted result",
              "A signature of the domain in From would change that, since DMARC then passes; so would dmarc-fail-veto "
              "= no."};
    case Reason::distrusted_results:
      return {
          "an outsider may have written its Authentication-Results fields, or it has too many of them or of signatures",
          "Let the mail server remove such fields from incoming mail, and see trusted-authserv-id and "
          "trusted-fields in bloomgate-milter.conf(5)."};
    case Reason::own_domain:
      return own_domain(known);
    case Reason::revoked:
      return revoked(known);
    case Reason::suspended:
      return suspended(known);
    case Reason::burst:
      return {who(known) + " sends much more than usual: its account may have been taken over",
              "Its mail is delivered again after a calm hour, or after a calm day if the whole day was too much. To "
              "allow more, raise burst-limit."};
    case Reason::replay:
      return {"the same message of " + who(known) + " has come too often within an hour: an outsider may send it again",
              "A message with a Message-ID of its own would be delivered."};
    case Reason::opted_out:
      return {"a recipient of the message is on the list opt-out", "To undo that: bloomgate-milter opt-in RECIPIENT."};
    case Reason::exempt_network:
      return {"its client is in exempt-networks, so it is not incoming mail",
              "To have such mail decided by the lists, take its client out of exempt-networks."};
    case Reason::exempt_authenticated:
      return {"its client has logged in (SASL), so it is not incoming mail",
              "To have such mail decided by the lists, set exempt-authenticated = no."};
    case Reason::exempt_daemon:
      return {"it came through a listener that is in exempt-daemons, so it is not incoming mail",
              "To have such mail decided by the lists, take the listener out of exempt-daemons."};
    case Reason::no_sender:
      return {"the mail server did not name an envelope sender to the daemon",
              "The mail server has to hand on the MAIL command; bloomgate-milter doctor looks at its setup."};
    case Reason::no_whitelist:
      return {of_whitelist(known) + " is not loaded", std::string(kNoList)};
    case Reason::whitelist_damaged:
      return {of_whitelist(known) + " is damaged, or a part of it cannot be read",
              "Put a good file in its place: bloomgate verify says what is wrong with this one."};
    case Reason::no_revoked_list:
      return {"the list revoked is configured, but not loaded", std::string(kNoList)};
    case Reason::no_opt_out_list:
      return {"the list opt-out is configured, but not loaded", std::string(kNoList)};
    case Reason::confirm_timeout:
      return confirmation_fault(known, "its store did not answer in time",
                                "A faster disk would change that, or a longer confirm-timeout.");
    case Reason::confirm_busy:
      return confirmation_fault(known, "too many messages waited for its store",
                                "A faster disk would change that, or a store that fits into memory.");
    case Reason::confirm_damaged:
      return confirmation_fault(known, "its store is damaged",
                                "Build both files again; bloomgate verify says what is wrong.");
    case Reason::confirm_unreadable:
      return confirmation_fault(known, "its store cannot be read",
                                "bloomgate-milter doctor tells whether the daemon may read it.");
    case Reason::internal_error:
      break;
  }
  return {"something failed in the daemon while it decided", "The daemon's log says what failed."};
}

std::string_view beginning(const KnownDecision& known) noexcept {
  if (is_exempt(known.reason)) {
    return known.verdict == Verdict::deliver ? "Exempt and delivered, because " : "Exempt, because ";
  }
  return known.verdict == Verdict::deliver ? "Delivered, because " : "Checked, because ";
}

}  // namespace

std::string why_sentence(const KnownDecision& known) {
  const Why why = why_of(known);
  std::string text = std::string(beginning(known)) + why.because + '.';
  return why.change.empty() ? text : text + ' ' + why.change;
}

std::string why_sentence(const DecisionLine& line, const AddListed& add_listed) {
  if (std::optional<KnownDecision> known = known_of_line(line)) {
    if (add_listed) add_listed(*known);
    known->conditional.are_of_now = true;
    const bool was_checked = !line.deep_check.empty() && line.deep_check != "-";
    return why_sentence(*known) + (was_checked ? " The deeper check: " + printable(line.deep_check) + '.' : "");
  }
  const std::string reason = printable(line.reason);
  if (line.outcome != Outcome::refuse) {
    return "The log gives the reason " + reason +
           ", which this version does not have; bloomgate-milter(8) of the "
           "daemon's version explains it.";
  }
  return "Refused, because it came with " + std::to_string(line.forged_fields) +
         " fields that only the daemon may write (X-Bloomgate, X-Spam), and a message may have 100. A message without "
         "them is not refused.";
}

}  // namespace bloomgate
