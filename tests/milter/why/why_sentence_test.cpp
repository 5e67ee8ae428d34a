#include "milter/why/why_sentence.hpp"

#include <set>
#include <string>

#include "filter/base/ascii.hpp"
#include "milter/why/signature_words.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

// A line of the log, from its words behind the decision.
std::string line_of(std::string_view decision, std::string_view reason, std::string_view words,
                    std::string_view sender = "joe@example.org") {
  return "queue_id=4XyZ1 sender=<" + std::string(sender) + "> decision=" + std::string(decision) +
         " reason=" + std::string(reason) + " time_us=1.4 " + std::string(words);
}

std::string why_of(const std::string& text) {
  const auto line = read_decision_line(text);
  REQUIRE(line);
  return why_sentence(*line);
}

constexpr std::string_view kFrom = "identity=header-from authentication=none whitelist=- header_from=joe@example.org";
constexpr std::string_view kListed =
    "identity=header-from authentication=none whitelist=customers header_from=joe@example.org";
constexpr std::string_view kNobody = "identity=none authentication=none whitelist=- header_from=joe@example.org";
constexpr std::string_view kProven =
    "identity=header-from authentication=dkim whitelist=customers header_from=joe@example.org";

struct Case {
  Reason reason;
  std::string_view decision, words, want;
  std::string_view more = {};  // words behind the others
};

// One for each reason at least.
const Case kCases[] = {
    {Reason::listed, "deliver", kProven,
     "Delivered, because joe@example.org is on the whitelist 'customers', and the signature of example.org (DKIM) "
     "proves "
     "the message. To stop it: bloomgate-milter revoke joe@example.org.",
     "dkim=pass domain=example.org selector=s1"},
    {Reason::listed, "deliver", "identity=envelope authentication=none whitelist=customers header_from=joe@example.org",
     "Delivered, because joe@example.org is on the whitelist 'customers', and nothing had to prove the message, as the "
     "option authentication says. To stop it: bloomgate-milter revoke joe@example.org."},
    {Reason::listed_domain, "deliver", kProven,
     "Delivered, because joe@example.org is listed by the entry @example.org of the whitelist 'customers', and a good "
     "signature (DKIM) proves the message. To stop it: bloomgate-milter revoke joe@example.org.",
     "entry=@example.org"},
    {Reason::listed_domain_tree, "deliver",
     "identity=envelope authentication=spf whitelist=customers header_from=ann@example.net",
     "Delivered, because joe@example.org is listed by the entry @.org of the whitelist 'customers', and SPF passed for "
     "the envelope sender. To stop it: bloomgate-milter revoke joe@example.org.",
     "entry=@.org"},
    {Reason::listed_extra, "deliver", "identity=both authentication=dmarc whitelist=extra header_from=joe@example.org",
     "Delivered, because joe@example.org is on the list extra, and DMARC passed for the domain in From. To stop it: "
     "bloomgate-milter revoke joe@example.org."},
    {Reason::listed_for_recipients, "deliver", kProven,
     "Delivered, because joe@example.org is listed for the recipients in the whitelist 'customers', and a good "
     "signature "
     "(DKIM) proves the message. To stop it: bloomgate-milter revoke joe@example.org.",
     "recipients=2 listed_for=2"},
    {Reason::listed_mailing_list, "deliver",
     "identity=list authentication=dkim whitelist=customers header_from=joe@example.org",
     "Delivered, because the mailing list dev.lists.example is on the whitelist 'customers', and the signature of "
     "lists.example (DKIM) proves the message. To stop it: bloomgate-milter revoke list:dev.lists.example.",
     "entry=list:dev.lists.example signer=lists.example"},
    {Reason::listed_with_signer, "deliver", kProven,
     "Delivered, because joe@example.org is on the whitelist 'customers' together with its signer, and the signature "
     "of "
     "esp.example (DKIM) proves the message. To stop it: bloomgate-milter revoke joe@example.org.",
     "signer=esp.example"},
    {Reason::learned, "deliver",
     "identity=header-from authentication=arc whitelist=learned header_from=joe@example.org",
     "Delivered, because each recipient has written to joe@example.org, or has moved its mail out of Junk, and a "
     "trusted ARC chain says that the message "
     "was proven. To stop it: bloomgate-milter revoke joe@example.org."},
    {Reason::not_listed, "check", kFrom,
     "Checked, because joe@example.org is on no list. If you know the sender: bloomgate-milter add joe@example.org; a "
     "signature has to prove the message, too."},
    {Reason::not_listed, "check", "identity=envelope authentication=none whitelist=- header_from=a|b@example.net",
     "Checked, because joe@example.org is on no list, and From (a|b@example.net) does not make up for it. If you know "
     "the sender: bloomgate-milter add 'a|b@example.net' (with identity = envelope: bloomgate-milter add "
     "joe@example.org; with identity = both: bloomgate-milter add joe@example.org 'a|b@example.net'); a signature has "
     "to prove the message, too."},
    {Reason::not_listed, "check", "identity=envelope authentication=none whitelist=- header_from=\"joe\"@EXAMPLE.org",
     "Checked, because joe@example.org is on no list. If you "
     "know the sender: bloomgate-milter add '\"joe\"@EXAMPLE.org'; a signature has to prove the message, too."},
    {Reason::not_listed, "check", kListed,
     "Checked, because the whitelist 'customers' finds joe@example.org only by chance: its store does not have this "
     "sender. If you know the sender: bloomgate-milter add joe@example.org; a signature has to prove the message, too.",
     "confirmed=no"},
    {Reason::not_listed_for_all, "check", kListed,
     "Checked, because joe@example.org is listed for 2 of the 3 recipients only. An entry for the other recipients, or "
     "for all of them (bloomgate-milter add joe@example.org), would change that.",
     "recipients=3 listed_for=2"},
    {Reason::recipients_unknown, "check", kFrom,
     "Checked, because each recipient has to be looked up (for the list opt-out, or for entries for single "
     "recipients), and a recipient is not known, has no domain, or may stand for another one. A message to full "
     "addresses alone (a domain by name, no % or ! in them) would change that."},
    {Reason::too_many_recipients, "check", kFrom,
     "Checked, because each recipient has to be looked up (for the list opt-out, or for entries for single "
     "recipients), and the message has more than are looked up. The same message to fewer recipients would change "
     "that."},
    {Reason::null_sender, "check", kNobody,
     "Checked, because its envelope sender is empty (<>), as in a bounce, and no list can have that. Nothing would "
     "change that: such mail is always checked."},
    {Reason::bounce, "check", kNobody,
     "Checked, because it is a bounce or an automatic answer by its header, so anyone may have written its text. "
     "Nothing would change that: "
     "bounces are always checked."},
    {Reason::malformed_sender, "check", kNobody,
     "Checked, because its envelope sender joe@example.org is not an address: the whole address is longer than 254 "
     "octets. A valid envelope sender would change that.",
     "fault=address-too-long"},
    {Reason::no_header_from, "check", kNobody,
     "Checked, because it has no From field. One From field with one mailbox would change that."},
    {Reason::several_from_fields, "check", kNobody,
     "Checked, because it has several From fields, of which programs may show any. One From field with one mailbox "
     "would change that."},
    {Reason::several_from_mailboxes, "check", kNobody,
     "Checked, because its From field has several mailboxes. One From field with one mailbox would change that."},
    {Reason::no_from_mailbox, "check", kNobody,
     "Checked, because its From field has no mailbox. One From field with one mailbox would change that."},
    {Reason::malformed_from, "check", kNobody,
     "Checked, because its From field is malformed, or mail programs may read it differently. One well-formed From "
     "field with one mailbox would change that."},
    {Reason::ambiguous_header, "check", kNobody,
     "Checked, because its header has a control character, at which mail programs may end a line. A header without "
     "control characters would change that."},
    {Reason::not_authenticated, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: it is signed "
     "by "
     "mailer.test only. A signature of example.org would change that. If mailer.test is a service that signs for this "
     "sender: bloomgate-milter add 'joe@example.org signed-by mailer.test' (each of its customers may then write as "
     "this sender).",
     "dkim=no-signature signed_by=mailer.test"},
    {Reason::not_authenticated, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: it is signed "
     "by "
     "a.example, b.example and c.example only. A signature of example.org would change that.",
     "dkim=no-signature signed_by=a.example signed_by=b.example signed_by=c.example"},
    {Reason::not_authenticated, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: it has no "
     "signature of example.org. A signature of example.org would change that.",
     "dkim=no-signature"},
    {Reason::not_authenticated, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: no trusted "
     "result "
     "of DKIM, SPF or DMARC does. A signature of example.org would change that."},
    {Reason::not_authenticated, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: it is signed "
     "by "
     "mg.example.org only, a name below example.org. A signature of example.org, or the entry '@example.org signed-by "
     "mg.example.org', would change that.",
     "dkim=no-signature child_signer=mg.example.org child_of=example.org"},
    {Reason::not_authenticated, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: the DNS has no "
     "key for the signature of example.org. The owner of example.org has to publish the key "
     "s1._domainkey.example.org.",
     "dkim=key-not-found domain=example.org selector=s1"},
    {Reason::not_authenticated, "check",
     "identity=envelope authentication=none whitelist=customers header_from=ann@example.net",
     "Checked, because joe@example.org is on the whitelist 'customers', but nothing proves the message: From "
     "(ann@example.net) is another mailbox, so no signature proves the envelope sender. The same mailbox in From with "
     "a "
     "signature of its domain would change that, or a pass of SPF with spf-proves = address.",
     "dkim=pass domain=example.org"},
    {Reason::not_authenticated, "check",
     "identity=envelope authentication=none whitelist=customers header_from=ann@example.net",
     "Checked, because joe@example.org is listed by the entry @.example.org of the whitelist 'customers', but nothing "
     "proves the message: the entry does not have the mailbox in From (ann@example.net), so no signature proves the "
     "envelope sender. A mailbox of the entry in From with its domain's signature, or a pass of SPF, would change "
     "that.",
     "entry=@.example.org"},
    {Reason::not_authenticated, "check",
     "identity=envelope authentication=none whitelist=customers header_from=ann@sub.example.org",
     "Checked, because joe@example.org is listed by the entry @.example.org of the whitelist 'customers', but nothing "
     "proves the message: no trusted result of DKIM, SPF or DMARC does. A signature of example.org would change that.",
     "entry=@.example.org"},
    {Reason::not_authenticated, "check",
     "identity=list authentication=none whitelist=customers header_from=ann@example.net",
     "Checked, because the mailing list dev.lists.example is on the whitelist 'customers', but nothing proves the "
     "message: no domain that may speak for it has signed the message. A signature of its host, or the entry "
     "'list:dev.lists.example signed-by DOMAIN', would change that.",
     "entry=list:dev.lists.example dkim=no-signature"},
    {Reason::authentication_failed, "check", kListed,
     "Checked, because joe@example.org is on the whitelist 'customers', but a trusted result says that its "
     "authentication "
     "failed. A signature of example.org would change that."},
    {Reason::dmarc_fail, "check", kFrom,
     "Checked, because DMARC failed for joe@example.org by a trusted result. A signature of the domain in From would "
     "change that, since DMARC then passes; so would dmarc-fail-veto = no."},
    {Reason::distrusted_results, "check", kFrom,
     "Checked, because an outsider may have written its Authentication-Results fields, or it has too many of them or "
     "of signatures. Let "
     "the mail server remove such fields from incoming mail, and see trusted-authserv-id and trusted-fields in "
     "bloomgate-milter.conf(5)."},
    {Reason::own_domain, "check", kFrom,
     "Checked, because joe@example.org is of a domain of your own (own-domains), and nothing proves that. A login "
     "(SASL), a client in exempt-networks, or a signature of example.org would change that."},
    {Reason::revoked, "check", kFrom,
     "Checked, because joe@example.org is on the list revoked, by the entry @example.org. To undo that: "
     "bloomgate-milter unrevoke @example.org.",
     "entry=@example.org"},
    {Reason::revoked, "check", kFrom,
     "Checked, because joe@example.org is on the list revoked, for messages that esp.example signs. To undo that: "
     "bloomgate-milter unrevoke 'joe@example.org signed-by esp.example'.",
     "signer=esp.example"},
    {Reason::revoked, "check", kFrom,
     "Checked, because joe@example.org is on the list revoked, by the entry @.example.org, for messages that "
     "esp.example "
     "signs. To undo that: bloomgate-milter unrevoke '@.example.org signed-by esp.example'.",
     "entry=@.example.org signer=esp.example"},
    {Reason::revoked, "check", kFrom,
     "Checked, because joe@example.org is on the list revoked. To undo that: bloomgate-milter unrevoke "
     "joe@example.org; "
     "if the entry is for one recipient: bloomgate-milter unrevoke 'joe@example.org > RECIPIENT'."},
    {Reason::suspended, "check", kListed,
     "Checked, because joe@example.org is suspended: proven mail of it was spam, or a recipient has moved it into "
     "Junk. bloomgate-milter suspended clear joe@example.org would change that. If 'bloomgate-milter suspended list' "
     "shows the sender with a recipient, name both."},
    {Reason::suspended, "check", kFrom,
     "Checked, because joe@example.org is suspended: proven mail of it was spam, or a recipient has moved it into "
     "Junk. bloomgate-milter suspended clear joe@example.org, or bloomgate-milter suspended clear @example.org would "
     "change that. If 'bloomgate-milter suspended list' shows the sender with a recipient, name both.",
     "entry=@example.org"},
    {Reason::burst, "check", kListed,
     "Checked, because joe@example.org sends much more than usual: its account may have been taken over. Its mail is "
     "delivered again after a calm hour, or after a calm day if the whole day was too much. To allow more, raise "
     "burst-limit."},
    {Reason::replay, "check", kListed,
     "Checked, because the same message of joe@example.org has come too often within an hour: an outsider may send it "
     "again. A message with a Message-ID of its own would be delivered."},
    {Reason::opted_out, "check", kNobody,
     "Checked, because a recipient of the message is on the list opt-out. To undo that: bloomgate-milter opt-in "
     "RECIPIENT."},
    {Reason::exempt_network, "check", kNobody,
     "Exempt, because its client is in exempt-networks, so it is not incoming mail. To have such mail decided by the "
     "lists, take its client out of exempt-networks."},
    {Reason::exempt_authenticated, "deliver", kNobody,
     "Exempt and delivered, because its client has logged in (SASL), so it is not incoming mail. To have such mail "
     "decided by the lists, set exempt-authenticated = no."},
    {Reason::exempt_daemon, "check", kNobody,
     "Exempt, because it came through a listener that is in exempt-daemons, so it is not incoming mail. To have such "
     "mail decided by the lists, take the listener out of exempt-daemons."},
    {Reason::no_sender, "check", kNobody,
     "Checked, because the mail server did not name an envelope sender to the daemon. The mail server has to hand on "
     "the MAIL command; bloomgate-milter doctor looks at its setup."},
    {Reason::no_whitelist, "check", kNobody,
     "Checked, because a whitelist is not loaded. The daemon's log says why; bloomgate-milter doctor tells how to "
     "repair it."},
    {Reason::whitelist_damaged, "check", kListed,
     "Checked, because the whitelist 'customers' is damaged, or a part of it cannot be read. Put a good file in its "
     "place: bloomgate verify says what is wrong with this one."},
    {Reason::no_revoked_list, "check", kNobody,
     "Checked, because the list revoked is configured, but not loaded. The daemon's log says why; bloomgate-milter "
     "doctor tells how to repair it."},
    {Reason::no_opt_out_list, "check", kNobody,
     "Checked, because the list opt-out is configured, but not loaded. The daemon's log says why; bloomgate-milter "
     "doctor tells how to repair it."},
    {Reason::confirm_timeout, "check", kListed,
     "Checked, because the whitelist 'customers' has joe@example.org, but its store did not answer in time. A faster "
     "disk "
     "would change that, or a longer confirm-timeout.",
     "confirmed=timeout"},
    {Reason::confirm_busy, "check", kListed,
     "Checked, because the whitelist 'customers' has joe@example.org, but too many messages waited for its store. A "
     "faster disk would change that, or a store that fits into memory."},
    {Reason::confirm_damaged, "check", kListed,
     "Checked, because the whitelist 'customers' has joe@example.org, but its store is damaged. Build both files "
     "again; "
     "bloomgate verify says what is wrong."},
    {Reason::confirm_unreadable, "check", kListed,
     "Checked, because the whitelist 'customers' has joe@example.org, but its store cannot be read. bloomgate-milter "
     "doctor tells whether the daemon may read it."},
    {Reason::internal_error, "check", kNobody,
     "Checked, because something failed in the daemon while it decided. The daemon's log says what failed."},
};

TEST_CASE("a line of the log becomes a sentence that says why, and what would change it") {
  for (const Case& c : kCases) {
    const std::string line = line_of(c.decision, reason_name(c.reason), c.words) + ' ' + std::string(c.more);
    INFO(line);
    CHECK(why_of(line) == c.want);
  }
}

// What is said of senders that are written in another way than they are listed, or rewritten.
struct SenderCase {
  Reason reason;
  std::string_view decision, sender, from, words, want;
};

constexpr std::string_view kAnother = "is another mailbox";
constexpr std::string_view kNoSignature = "nothing proves the message: it has no signature of example.org.";
constexpr std::string_view kNoResult = "nothing proves the message: no trusted result of DKIM, SPF or DMARC does.";

const SenderCase kSenderCases[] = {
    // The same mailbox, or perhaps: a line does not say which tags the whitelist ignores.
    {Reason::not_authenticated, "check", "joe+a@example.org", "joe@example.org", "", kNoResult},
    {Reason::not_authenticated, "check", "joe+a@example.org", "joe@example.org", "dkim=no-signature", kNoSignature},
    {Reason::not_authenticated, "check", "joe+a@example.org", "joe@example.org", "dkim=pass", kAnother},
    {Reason::not_authenticated, "check", "joe+a@example.org", "jo@example.org", "", kAnother},
    {Reason::not_authenticated, "check", "ann@xn--mnchen-3ya.example", "ann@m\\xc3\\xbcnchen.example", "", kNoResult},
    {Reason::not_authenticated, "check", "\"joe\"@example.org", "joe@example.org", "", kNoResult},
    {Reason::not_authenticated, "check", "joe@example.org.", "joe@example.org", "", kNoResult},
    {Reason::not_authenticated, "check", "@relay.example:joe@example.org", "joe@example.org", "", kNoResult},
    {Reason::not_authenticated, "check", "joe@example.org", "jjjj\\+120", "", kNoResult},
    {Reason::not_authenticated, "check", "joe@example.org", "ann@a.EXAMPLE.org.", "entry=@.example.org", kNoResult},
    // The sender behind is the one that a signature has to be of.
    {Reason::not_authenticated, "check", "SRS0=Ab1c=XY=example.org=joe@fwd.example", "joe@example.org", "",
     "joe@example.org (rewritten as SRS0=Ab1c=XY=example.org=joe@fwd.example) is on the whitelist 'customers', but "
     "nothing proves the message: no trusted result of DKIM, SPF or DMARC does. A signature of example.org would"},
    {Reason::not_authenticated, "check", "SRS1=Ab1c=first.example==Ab1c=XY=example.org=joe@fwd.example",
     "joe@example.org", "dkim=no-signature", kNoSignature},
    {Reason::not_authenticated, "check", "SRS0=Ab1c=XY=example.org=joe@fwd.example", "ann@example.net", "", kAnother},
    {Reason::not_authenticated, "check", "prvs=1234abcdef=joe@example.org", "joe@example.org", "dkim=no-signature",
     kNoSignature},
    {Reason::not_authenticated, "check", "prvs=1234abcdef=joe@example.org", "ann@example.org", "", kAnother},
    {Reason::not_authenticated, "check", "SRS0=Ab1c=XY=example.org=joe@fwd.example", "ann@fwd.example",
     "entry=@fwd.example", "A signature of fwd.example would"},
    {Reason::not_listed, "check", "prvs=1234abcdef=joe@example.org", "joe@example.org", "",
     "because prvs=1234abcdef=joe@example.org is on no list. If you know the sender: bloomgate-milter add "
     "joe@example.org; a"},
    {Reason::not_listed, "check", "prvs=1234abcdef=joe@example.org", "ann@example.org", "",
     "bloomgate-milter add ann@example.org (with identity = envelope: bloomgate-milter add joe@example.org; with"},
    // The list revoked has the sender with or without its tag, and the one behind.
    {Reason::revoked, "check", "Rev+Tag@example.com", "joe@example.org", "",
     "To undo that: bloomgate-milter unrevoke rev+tag@example.com rev@example.com; if the entry is for one recipient: "
     "bloomgate-milter unrevoke 'rev+tag@example.com > RECIPIENT' 'rev@example.com > RECIPIENT'."},
    {Reason::revoked, "check", "prvs=1234abcdef=rev@example.com", "joe@example.org", "",
     "To undo that: bloomgate-milter unrevoke rev@example.com; if"},
    {Reason::revoked, "check", "SRS0=Ab1c=XY=example.com=rev@fwd.example", "joe@example.org", "",
     "To undo that: bloomgate-milter unrevoke rev@example.com; if"},
    {Reason::revoked, "check", "rev+tag@example.com", "joe@example.org", "signer=esp.example",
     "unrevoke 'rev+tag@example.com signed-by esp.example' 'rev@example.com signed-by esp.example'."},
    {Reason::listed, "deliver", "prvs=1234abcdef=joe@example.org", "joe@example.org", "",
     "To stop it: bloomgate-milter revoke joe@example.org."},
    {Reason::listed_domain, "deliver", "SRS0=Ab1c=XY=example.org=joe@fwd.example", "joe@fwd.example",
     "entry=@fwd.example", "To stop it: bloomgate-milter revoke @fwd.example."},
};

TEST_CASE("a sender that is listed only with a signer or for a recipient is not called unlisted") {
  const std::string text = line_of("check", "not-listed", kFrom);
  const auto line = read_decision_line(text);
  REQUIRE(line);
  const auto sentence_with = [&](const ConditionalEntries& conditional) {
    KnownDecision known = known_of_line(*line).value();
    known.conditional = conditional;
    return why_sentence(known);
  };
  const std::string sender = "joe@example.org";
  const ConditionalEntries with_signer = {.sender = sender, .of_extra = {"joe@example.org signed-by esp.example"}};
  const std::string by_itself =
      "To list the sender by itself: bloomgate-milter add joe@example.org; then a signature of its own domain has to "
      "prove the message.";
  CHECK(
      sentence_with(with_signer) ==
      "Checked, because joe@example.org is listed only under a condition that this message does not meet: by the entry "
      "joe@example.org signed-by esp.example of the list extra. A signature of esp.example would change that. " +
          by_itself);
  // The entry may be newer than a line of the log.
  CHECK(why_sentence(*line, [&](KnownDecision& known) { known.conditional = with_signer; }) ==
        "Checked, because joe@example.org was on no list by itself. The list extra now has the entry joe@example.org "
        "signed-by esp.example. A message that esp.example has signed is delivered from now on. " +
            by_itself);
  const std::string several =
      sentence_with({.sender = sender,
                     .of_extra = {"@example.org signed-by a.example", "joe@example.org > ann@ours.example",
                                  "joe@example.org signed-by esp.example"}});
  CHECK_THAT(several,
             Contains("by the entries @example.org signed-by a.example, joe@example.org > ann@ours.example and "
                      "joe@example.org signed-by esp.example of the list extra. A signature of a.example or "
                      "esp.example would"));
  CHECK_THAT(sentence_with({.sender = sender, .of_extra = {"joe@example.org > ann@ours.example"}}),
             Contains("joe@example.org > ann@ours.example of the list extra. To list the sender by itself"));
  const std::string of_filters = sentence_with({.sender = sender,
                                                .whitelists = {{.path = "/w/a b", .has_signers = true},
                                                               {.path = "/w/c", .has_signers = true, .has_pairs = true},
                                                               {.path = "/w/d", .has_pairs = true}}});
  CHECK_THAT(of_filters, StartsWith("Checked, because joe@example.org is on no list by itself. If you know"));
  CHECK_THAT(
      of_filters,
      EndsWith("too. The whitelist /w/a b also has entries with a signer. Ask for one of this sender: bloomgate "
               "query '/w/a b' 'joe@example.org signed-by DOMAIN'. The whitelist /w/c also has entries with a "
               "signer or a recipient. Ask for one of this sender: bloomgate query /w/c 'joe@example.org "
               "signed-by DOMAIN', or bloomgate query /w/c 'joe@example.org > RECIPIENT'. The whitelist /w/d also "
               "has entries with a recipient. Ask for one of this sender: bloomgate query /w/d 'joe@example.org > "
               "RECIPIENT'."));
}

TEST_CASE("another spelling of a sender is the same mailbox, and a forwarder's signature proves nothing") {
  for (const SenderCase& c : kSenderCases) {
    const std::string words =
        "identity=envelope authentication=none whitelist=customers header_from=" + std::string(c.from) + ' ' +
        std::string(c.words);
    const std::string line = line_of(c.decision, reason_name(c.reason), words, c.sender);
    INFO(line);
    CHECK_THAT(why_of(line), Contains(std::string(c.want)));
  }
}

TEST_CASE("for an unlisted sender, the advice is to add the addresses that the option identity requires") {
  struct RuleCase {
    IdentityRule rule;
    IdentityKind identity;
    std::string_view want;
  };
  KnownDecision known = {.reason = Reason::not_listed, .sender = "joe@example.org", .header_from = "ann@example.net"};
  for (const RuleCase& c : {RuleCase{IdentityRule::either, IdentityKind::envelope, " add ann@example.net; a"},
                            RuleCase{IdentityRule::envelope, IdentityKind::envelope, " add joe@example.org; a"},
                            RuleCase{IdentityRule::both, IdentityKind::envelope, " joe@example.org ann@example.net; a"},
                            RuleCase{IdentityRule::both, IdentityKind::header_from, " add ann@example.net; a"},
                            RuleCase{IdentityRule::header_from, IdentityKind::header_from, " ann@example.net; a"}}) {
    known.rule = c.rule;
    known.identity = c.identity;
    CHECK_THAT(why_sentence(known), Contains(std::string(c.want)));
  }
}

TEST_CASE("every reason has a sentence") {
  std::set<Reason> told;
  for (const Case& c : kCases) told.insert(c.reason);
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    INFO(reason_name(static_cast<Reason>(i)));
    CHECK(told.contains(static_cast<Reason>(i)));
  }
}

TEST_CASE("a reason of another version and a refusal have sentences too, and the deeper check is named") {
  CHECK(why_of(line_of("check", "moon-phase", kNobody)) ==
        "The log gives the reason moon-phase, which this version does not have; bloomgate-milter(8) of the daemon's "
        "version explains it.");
  CHECK_THAT(why_of("queue_id=1 sender=<a@b.example> decision=refuse reason=forged-fields forged_headers=1000"),
             Catch::StartsWith("Refused, because it came with 1000 fields that only the daemon may write"));
  CHECK_THAT(why_of(line_of("check", "bounce", kNobody) + " deep_check=spam score=12.3/5.0"),
             Catch::EndsWith("always checked. The deeper check: spam."));
}

// Nothing but the reason is known.
TEST_CASE("no sentence has a gap where something is unknown") {
  for (const char* const words : {"", "identity=envelope", "identity=header-from", "identity=both", "identity=list"}) {
    for (std::size_t i = 0; i < kReasonCount; ++i) {
      const std::string_view reason = reason_name(static_cast<Reason>(i));
      for (const char* const verdict : {"deliver", "check"}) {
        const std::string why =
            why_of("queue_id=1 decision=" + std::string(verdict) + " reason=" + std::string(reason) + ' ' + words);
        INFO(why);
        CHECK_THAT(why, !Contains("  ") && !Contains(" .") && !Contains(" ,") && !Contains("()") && !Contains("''"));
        CHECK(why.ends_with('.'));
      }
    }
  }
}

TEST_CASE("every outcome of a signature has words, with and without the signature's domain") {
  std::set<std::string> causes;
  for (std::size_t i = 0; i < kSignatureOutcomes; ++i) {
    const auto outcome = static_cast<SignatureOutcome>(i);
    INFO(signature_outcome_name(outcome));
    for (const char* const domain : {"example.org", ""}) {
      const SignatureWords words = signature_words(outcome, domain, "s1", "example.org");
      INFO(words.cause);
      INFO(words.remedy);
      CHECK_FALSE(words.cause.empty());
      CHECK(words.remedy.ends_with('.'));
      const char first = words.remedy.front();
      CHECK_FALSE((ascii::is_letter(first) && first == ascii::to_lower(first)));
      CHECK_THAT(words.cause + words.remedy, !Contains("{") && !Contains("  "));
      if (*domain != '\0') CHECK(causes.insert(words.cause).second);
    }
  }
}

TEST_CASE("a decision in memory gives the same sentence as its log line, and names options of --explain") {
  Decision decision;
  decision.reason = Reason::not_authenticated;
  decision.identity = IdentityKind::header_from;
  decision.list.append("customers");
  decision.signature = SignatureOutcome::key_not_found;
  Facts facts;
  facts.envelope_sender = "<bounce@mailer.test>";
  facts.header_from = {HeaderFromKind::one_mailbox, "Joe@Example.org"};
  facts.signatures =
      Signatures{.all = {{.outcome = SignatureOutcome::key_not_found, .domain = "example.org", .selector = "s1"}}};
  CHECK(why_sentence(known_of_decision(decision, facts)) ==
        "Checked, because Joe@Example.org is on the whitelist 'customers', but nothing proves the message: the DNS has "
        "no "
        "key for the signature of example.org. The owner of example.org has to publish the key "
        "s1._domainkey.example.org.");
  facts.envelope_sender = "<SRS0=Ab1c=XY=example.org=joe@fwd.example>";
  decision.identity = IdentityKind::envelope;
  decision.signature = SignatureOutcome::no_signature;
  Trace trace;
  trace.add("rewritten-sender", "joe@example.org", "joe@example.org", "undone");
  CHECK_THAT(why_sentence(known_of_decision(decision, facts, trace)), Contains("A signature of example.org would"));
  CHECK_THAT(why_sentence(known_of_decision(decision, facts)), Contains("A signature of fwd.example would"));
  decision.reason = Reason::revoked;
  trace.add("revoked", "ann@ours.example", "joe@example.org", "pair", {.entry = "joe@example.org > ann@ours.example"});
  CHECK_THAT(why_sentence(known_of_decision(decision, facts, trace)),
             Contains("by the entry joe@example.org > ann@ours.example. To undo that: bloomgate-milter unrevoke "
                      "'joe@example.org > ann@ours.example'."));
  trace.add("revoked", "", "joe@example.org", "address");
  CHECK_THAT(why_sentence(known_of_decision(decision, facts, trace)),
             Contains(" is on the list revoked. To undo that: bloomgate-milter unrevoke joe@example.org."));
  decision.reason = Reason::recipients_unknown;
  KnownDecision known = known_of_decision(decision, facts);
  CHECK_THAT(why_sentence(known), Contains("a recipient is not known, has no domain,"));
  known.how_to_name_recipients = "Give --to, once for each recipient.";
  CHECK_THAT(why_sentence(known), Contains("no recipient is named. Give --to, once for each recipient."));
}

}  // namespace
}  // namespace bloomgate
