#include "milter/policy/decision.hpp"

namespace bloomgate {

std::string_view verdict_name(Verdict verdict) noexcept {
  return verdict == Verdict::deliver ? "deliver" : "check";
}

std::string_view reason_name(Reason reason) noexcept {
  switch (reason) {
    case Reason::listed:
      return "listed";
    case Reason::listed_domain:
      return "listed-domain";
    case Reason::listed_domain_tree:
      return "listed-domain-tree";
    case Reason::listed_extra:
      return "listed-extra";
    case Reason::listed_for_recipients:
      return "listed-for-recipients";
    case Reason::listed_mailing_list:
      return "listed-mailing-list";
    case Reason::listed_with_signer:
      return "listed-with-signer";
    case Reason::learned:
      return "learned";
    case Reason::not_listed:
      return "not-listed";
    case Reason::not_listed_for_all:
      return "not-listed-for-all";
    case Reason::recipients_unknown:
      return "recipients-unknown";
    case Reason::too_many_recipients:
      return "too-many-recipients";
    case Reason::null_sender:
      return "null-sender";
    case Reason::bounce:
      return "bounce";
    case Reason::malformed_sender:
      return "malformed-sender";
    case Reason::no_header_from:
      return "no-header-from";
    case Reason::several_from_fields:
      return "several-from-fields";
    case Reason::several_from_mailboxes:
      return "several-from-mailboxes";
    case Reason::no_from_mailbox:
      return "no-from-mailbox";
    case Reason::malformed_from:
      return "malformed-from";
    case Reason::ambiguous_header:
      return "ambiguous-header";
    case Reason::not_authenticated:
      return "not-authenticated";
    case Reason::authentication_failed:
      return "authentication-failed";
    case Reason::dmarc_fail:
      return "dmarc-fail";
    case Reason::distrusted_results:
      return "distrusted-results";
    case Reason::own_domain:
      return "own-domain";
    case Reason::revoked:
      return "revoked";
    case Reason::opted_out:
      return "opted-out";
    case Reason::exempt_network:
      return "exempt-network";
    case Reason::exempt_authenticated:
      return "exempt-authenticated";
    case Reason::exempt_daemon:
      return "exempt-daemon";
    case Reason::no_sender:
      return "no-sender";
    case Reason::no_whitelist:
      return "no-whitelist";
    case Reason::whitelist_damaged:
      return "whitelist-damaged";
    case Reason::no_revoked_list:
      return "no-revoked-list";
    case Reason::no_opt_out_list:
      return "no-opt-out-list";
    case Reason::confirm_timeout:
      return "confirm-timeout";
    case Reason::confirm_busy:
      return "confirm-busy";
    case Reason::confirm_damaged:
      return "confirm-damaged";
    case Reason::confirm_unreadable:
      return "confirm-unreadable";
    case Reason::internal_error:
      return "internal-error";
  }
  return "internal-error";
}

bool depends_on_lists(Reason reason) noexcept {
  switch (reason) {
    case Reason::null_sender:
    case Reason::bounce:
    case Reason::malformed_sender:
    case Reason::no_header_from:
    case Reason::several_from_fields:
    case Reason::several_from_mailboxes:
    case Reason::no_from_mailbox:
    case Reason::malformed_from:
    case Reason::ambiguous_header:
    case Reason::dmarc_fail:
    case Reason::distrusted_results:
    case Reason::own_domain:
    case Reason::opted_out:
    case Reason::exempt_network:
    case Reason::exempt_authenticated:
    case Reason::exempt_daemon:
    case Reason::no_sender:
    case Reason::no_revoked_list:
    case Reason::no_opt_out_list:
    case Reason::internal_error:
      return false;
    default:
      return true;
  }
}

bool is_exempt(Reason reason) noexcept {
  return reason == Reason::exempt_network || reason == Reason::exempt_authenticated || reason == Reason::exempt_daemon;
}

std::string_view identity_kind_name(IdentityKind kind) noexcept {
  switch (kind) {
    case IdentityKind::none:
      return "none";
    case IdentityKind::envelope:
      return "envelope";
    case IdentityKind::header_from:
      return "header-from";
    case IdentityKind::both:
      return "both";
    case IdentityKind::mailing_list:
      return "list";
  }
  return "none";
}

std::string_view proof_name(ProofOf of) noexcept {
  switch (of) {
    case ProofOf::nothing:
      break;
    case ProofOf::from:
      return "from";
    case ProofOf::same_from:
      return "same-from";
    case ProofOf::envelope:
      return "envelope";
    case ProofOf::covered_from:
      return "covered-from";
    case ProofOf::signer:
      return "signer";
    case ProofOf::list_id:
      return "list-id";
  }
  return "none";
}

std::string_view told_proof(const Decision& decision) noexcept {
  const bool is_told = decision.proof != ProofOf::nothing && decision.proof != ProofOf::from;
  return is_told ? proof_name(decision.proof) : std::string_view();
}

std::string_view method_name(const std::optional<AuthenticationMethod>& method) noexcept {
  if (!method) return "none";
  switch (*method) {
    case AuthenticationMethod::dkim:
      return "dkim";
    case AuthenticationMethod::spf:
      return "spf";
    case AuthenticationMethod::dmarc:
      return "dmarc";
    case AuthenticationMethod::arc:
      return "arc";
    case AuthenticationMethod::other:
      break;
  }
  return "none";
}

}  // namespace bloomgate
