// Translates results of the resolver and of libopendkim into a SignatureOutcome.
#pragma once

#include "milter/dkim/opendkim.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/fields/signatures.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {

inline constexpr unsigned kLeastRsaBits = 1024;  // RFC 8301

// Whether the library has read the same tags in its signature as we have. Throws std::bad_alloc.
bool has_same_tags(DKIM_SIGINFO* signature, const SignatureTags& tags);

SignatureOutcome outcome_of(TxtStatus status) noexcept;

// Sets the key's length and the outcome, after the library has verified the signature.
void judge(DKIM_SIGINFO* verified, Signature& signature) noexcept;

}  // namespace bloomgate
