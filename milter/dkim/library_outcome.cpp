#include "milter/dkim/library_outcome.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

constexpr unsigned kEd25519Bits = 256;  // the library does not report it for this algorithm

std::string_view view_of(const unsigned char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// The library's value for an absent tag.
std::string_view default_of(std::string_view tag) noexcept {
  return tag == "c" ? "simple/simple" : "";
}

// The outcome of a signature that did not pass.
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

}  // namespace

bool has_same_tags(DKIM_SIGINFO* signature, const SignatureTags& tags) {
  return std::ranges::all_of(kReadTags, [&](std::string_view tag) {
    std::string name(tag);
    const unsigned char* const value =
        dkim_sig_gettagvalue(signature, false, reinterpret_cast<unsigned char*>(name.data()));
    const std::string_view found = view_of(value);
    if (!tags[tag]) return value == nullptr || (found == default_of(tag) && !found.empty());
    return value != nullptr && found == *tags[tag];
  });
}

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
    case TxtStatus::not_asked:
      return Outcome::name_server_failed;
    case TxtStatus::bogus:
      return Outcome::dnssec_bogus;
    case TxtStatus::timed_out:
      return Outcome::name_timeout;
  }
  return Outcome::name_server_failed;
}

void judge(DKIM_SIGINFO* verified, Signature& signature) noexcept {
  dkim_alg_t algorithm = DKIM_SIGN_UNKNOWN;
  static_cast<void>(dkim_sig_getsignalg(verified, &algorithm));
  if (algorithm == DKIM_SIGN_ED25519SHA256) {
    signature.key_bits = kEd25519Bits;
  } else if (dkim_sig_getkeysize(verified, &signature.key_bits) != DKIM_STAT_OK) {
    signature.key_bits = 0;
  }
  const bool passed = (dkim_sig_getflags(verified) & DKIM_SIGFLAG_PASSED) != 0 &&
                      dkim_sig_getbh(verified) == DKIM_SIGBH_MATCH && dkim_sig_geterror(verified) == DKIM_SIGERROR_OK;
  if (!passed) {
    signature.outcome = outcome_of_error(verified);
  } else if (algorithm != DKIM_SIGN_ED25519SHA256 && signature.key_bits < kLeastRsaBits) {
    signature.outcome = Outcome::key_too_short;
  } else {
    signature.outcome = Outcome::pass;
  }
}

}  // namespace bloomgate
