#include "milter/policy/decision.hpp"

#include "config/enum_words.hpp"

namespace bloomgate {

std::string_view verdict_name(Verdict verdict) noexcept {
  return verdict == Verdict::deliver ? "deliver" : "check";
}

std::string_view reason_name(Reason reason) noexcept {
  using enum Reason;
  static constexpr auto kWords = enum_words<Reason>({{listed, "listed"},
                                                     {listed_domain, "listed-domain"},
                                                     {listed_domain_tree, "listed-domain-tree"},
                                                     {listed_extra, "listed-extra"},
                                                     {listed_for_recipients, "listed-for-recipients"},
                                                     {listed_mailing_list, "listed-mailing-list"},
                                                     {listed_with_signer, "listed-with-signer"},
                                                     {learned, "learned"},
                                                     {not_listed, "not-listed"},
                                                     {not_listed_for_all, "not-listed-for-all"},
                                                     {recipients_unknown, "recipients-unknown"},
                                                     {too_many_recipients, "too-many-recipients"},
                                                     {null_sender, "null-sender"},
                                                     {bounce, "bounce"},
                                                     {malformed_sender, "malformed-sender"},
                                                     {no_header_from, "no-header-from"},
                                                     {several_from_fields, "several-from-fields"},
                                                     {several_from_mailboxes, "several-from-mailboxes"},
                                                     {no_from_mailbox, "no-from-mailbox"},
                                                     {malformed_from, "malformed-from"},
                                                     {ambiguous_header, "ambiguous-header"},
                                                     {not_authenticated, "not-authenticated"},
                                                     {authentication_failed, "authentication-failed"},
                                                     {dmarc_fail, "dmarc-fail"},
                                                     {distrusted_results, "distrusted-results"},
                                                     {own_domain, "own-domain"},
                                                     {revoked, "revoked"},
                                                     {burst, "burst"},
                                                     {replay, "replay"},
                                                     {suspended, "suspended"},
                                                     {opted_out, "opted-out"},
                                                     {exempt_network, "exempt-network"},
                                                     {exempt_authenticated, "exempt-authenticated"},
                                                     {exempt_daemon, "exempt-daemon"},
                                                     {no_sender, "no-sender"},
                                                     {no_whitelist, "no-whitelist"},
                                                     {whitelist_damaged, "whitelist-damaged"},
                                                     {no_revoked_list, "no-revoked-list"},
                                                     {no_opt_out_list, "no-opt-out-list"},
                                                     {confirm_timeout, "confirm-timeout"},
                                                     {confirm_busy, "confirm-busy"},
                                                     {confirm_damaged, "confirm-damaged"},
                                                     {confirm_unreadable, "confirm-unreadable"},
                                                     {internal_error, "internal-error"}});
  static_assert(kWords.size() == kReasonCount);
  return word_of(kWords, reason);
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
  using enum IdentityKind;
  static constexpr auto kWords = enum_words<IdentityKind>(
      {{none, "none"}, {envelope, "envelope"}, {header_from, "header-from"}, {both, "both"}, {mailing_list, "list"}});
  static_assert(kWords.size() == kIdentityKinds);
  return word_of(kWords, kind);
}

std::string_view proof_name(ProofOf of) noexcept {
  using enum ProofOf;
  static constexpr auto kWords = enum_words<ProofOf>({{nothing, "none"},
                                                      {from, "from"},
                                                      {same_from, "same-from"},
                                                      {envelope, "envelope"},
                                                      {covered_from, "covered-from"},
                                                      {signer, "signer"},
                                                      {list_id, "list-id"}});
  return word_of(kWords, of);
}

std::string_view told_proof(const Decision& decision) noexcept {
  const bool is_told = decision.proof != ProofOf::nothing && decision.proof != ProofOf::from;
  return is_told ? proof_name(decision.proof) : std::string_view();
}

std::string_view method_name(const std::optional<AuthenticationMethod>& method) noexcept {
  using enum AuthenticationMethod;
  static constexpr auto kWords =
      enum_words<AuthenticationMethod>({{dkim, "dkim"}, {spf, "spf"}, {dmarc, "dmarc"}, {arc, "arc"}, {other, "none"}});
  return word_of(kWords, method.value_or(other));
}

std::string_view confirmation_name(Confirmation confirmation) noexcept {
  using enum Confirmation;
  static constexpr auto kWords = enum_words<Confirmation>({{yes, "yes"},
                                                           {no, "no"},
                                                           {timeout, "timeout"},
                                                           {busy, "busy"},
                                                           {damaged, "damaged"},
                                                           {unreadable, "unreadable"}});
  return word_of(kWords, confirmation);
}

}  // namespace bloomgate
