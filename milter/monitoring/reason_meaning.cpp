#include "milter/monitoring/reason_meaning.hpp"

namespace bloomgate {

std::string_view reason_meaning(Reason reason) noexcept {
  switch (reason) {
    case Reason::listed:
      return "The sender is an entry of a whitelist.";
    case Reason::listed_domain:
      return "The sender's domain is an entry of a whitelist.";
    case Reason::listed_domain_tree:
      return "The sender's domain, or a domain above it, is an entry of a whitelist with all domains below.";
    case Reason::listed_extra:
      return "The sender is in the list extra.";
    case Reason::listed_for_recipients:
      return "The sender is listed for each recipient, or for all who have not written to it.";
    case Reason::listed_mailing_list:
      return "The mailing list that has sent the message is an entry of a whitelist.";
    case Reason::listed_with_signer:
      return "An entry lists the sender together with a domain that has signed the message.";
    case Reason::learned:
      return "Each recipient has written to the sender.";
    case Reason::not_listed:
      return "The sender is on no list, or only with a signer that has not signed the message.";
    case Reason::not_listed_for_all:
      return "The sender is listed for some recipients of the message, but not for all.";
    case Reason::recipients_unknown:
      return "A list has entries for single recipients, and the recipients of the message are not known.";
    case Reason::too_many_recipients:
      return "The message has more recipients than are looked up.";
    case Reason::null_sender:
      return "The message is a bounce: it has no sender, and so is on no list.";
    case Reason::bounce:
      return "The message is a bounce or an automatic answer, so anyone may have written its text.";
    case Reason::malformed_sender:
      return "The envelope sender is no address that Bloomgate accepts.";
    case Reason::no_header_from:
      return "The message has no From field.";
    case Reason::several_from_fields:
      return "The message has several From fields, of which mail programs may show any.";
    case Reason::several_from_mailboxes:
      return "The From field names several mailboxes.";
    case Reason::no_from_mailbox:
      return "The From field names no mailbox.";
    case Reason::malformed_from:
      return "The From field is malformed, or mail programs read it differently.";
    case Reason::ambiguous_header:
      return "The header can be read in several ways, so that mail programs may show different senders.";
    case Reason::not_authenticated:
      return "The sender is listed, but nothing proves that the message is from that sender.";
    case Reason::authentication_failed:
      return "The sender is listed, and a trusted result says that the message is not from that sender.";
    case Reason::dmarc_fail:
      return "The sender is listed, and DMARC has failed for the domain of the From field.";
    case Reason::distrusted_results:
      return "Anyone may have written the results of authentication in the message, or there are too many of them.";
    case Reason::own_domain:
      return "The message claims a domain of your own, and nothing proves it.";
    case Reason::revoked:
      return "The sender is in the list revoked.";
    case Reason::burst:
      return "The sender is listed and proven, but sends much more than usual.";
    case Reason::replay:
      return "The sender is listed and proven, but the same message has come too often.";
    case Reason::suspended:
      return "The sender is listed and proven, but recent mail of this sender was spam.";
    case Reason::opted_out:
      return "A recipient is in the list opt-out and wants all mail to be checked.";
    case Reason::exempt_network:
      return "The message comes from a network of your own, so the lists do not apply.";
    case Reason::exempt_authenticated:
      return "The client has logged in, so the lists do not apply.";
    case Reason::exempt_daemon:
      return "The message came by a listener that exempt-daemons names, so the lists do not apply.";
    case Reason::no_sender:
      return "The mail server has named no sender.";
    case Reason::no_whitelist:
      return "No whitelist is loaded.";
    case Reason::whitelist_damaged:
      return "A part of the whitelist's file can no longer be read.";
    case Reason::no_revoked_list:
      return "The list revoked cannot be read, so no message is delivered.";
    case Reason::no_opt_out_list:
      return "The list opt-out cannot be read, so no message is delivered.";
    case Reason::confirm_timeout:
      return "The whitelist may have the sender, but its store has not answered in time.";
    case Reason::confirm_busy:
      return "The whitelist may have the sender, but too many messages wait for its store.";
    case Reason::confirm_damaged:
      return "The whitelist may have the sender, but the page of its store is damaged.";
    case Reason::confirm_unreadable:
      return "The whitelist may have the sender, but its store cannot be read.";
    case Reason::internal_error:
      return "The daemon met an unexpected error: the log has it.";
  }
  return "The log has more about it.";
}

}  // namespace bloomgate
