#include "milter/dkim/library_outcome.hpp"

namespace bloomgate {

using Outcome = SignatureOutcome;

Outcome outcome_of(TxtStatus status) noexcept {
  switch (status) {
    case TxtStatus::found:
      return Outcome::pass;
    case TxtStatus::not_found:
      return Outcome::key_not_found;
    case TxtStatus::several:
      return Outcome::several_keys;
    case TxtStatus::too_long:
      return Outcome::key_too_long;
    case TxtStatus::malformed:
      return Outcome::key_malformed;
    case TxtStatus::server_failed:
      return Outcome::name_server_failed;
    case TxtStatus::bogus:
      return Outcome::dnssec_bogus;
    case TxtStatus::timed_out:
      return Outcome::name_timeout;
  }
  return Outcome::name_server_failed;
}

Outcome outcome_of_error(DKIM_SIGINFO* signature) noexcept {
  switch (dkim_sig_geterror(signature)) {
    case DKIM_SIGERROR_DOMAIN:
      return Outcome::foreign_identity;
    case DKIM_SIGERROR_EXPIRED:
      return Outcome::expired;
    case DKIM_SIGERROR_FUTURE:
      return Outcome::not_yet_valid;
    case DKIM_SIGERROR_INVALID_A:
      return Outcome::weak_algorithm;
    case DKIM_SIGERROR_TOOLARGE_L:
    case DKIM_SIGERROR_INVALID_L:
      return Outcome::body_not_covered;
    case DKIM_SIGERROR_NOKEY:
      return Outcome::key_not_found;
    case DKIM_SIGERROR_MULTIREPLY:
      return Outcome::several_keys;
    case DKIM_SIGERROR_KEYREVOKED:
      return Outcome::key_revoked;
    case DKIM_SIGERROR_KEYTOOSMALL:
      return Outcome::key_too_short;
    case DKIM_SIGERROR_KEYHASHMISMATCH:
    case DKIM_SIGERROR_NOTEMAILKEY:
      return Outcome::key_not_for_this;
    case DKIM_SIGERROR_DNSSYNTAX:
    case DKIM_SIGERROR_KEYFAIL:
    case DKIM_SIGERROR_KEYVERSION:
    case DKIM_SIGERROR_KEYUNKNOWNHASH:
    case DKIM_SIGERROR_KEYTYPEMISSING:
    case DKIM_SIGERROR_KEYTYPEUNKNOWN:
    case DKIM_SIGERROR_KEYDECODE:
      return Outcome::key_malformed;
    case DKIM_SIGERROR_SUBDOMAIN:
      return Outcome::subdomain_not_allowed;
    case DKIM_SIGERROR_BADSIG:
      return dkim_sig_getbh(signature) == DKIM_SIGBH_MISMATCH ? Outcome::body_changed : Outcome::header_changed;
    default:
      return Outcome::malformed_signature;
  }
}

}  // namespace bloomgate
