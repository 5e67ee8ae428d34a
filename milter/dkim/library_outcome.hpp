// What the resolver and libopendkim say of a signature, in our words.
#pragma once

#include "milter/dkim/opendkim.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/fields/signatures.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {

inline constexpr unsigned kLeastRsaBits = 1024;  // RFC 8301

// Whether the library has read the same tags in its signature. Throws std::bad_alloc.
bool has_same_tags(DKIM_SIGINFO* signature, const SignatureTags& tags);

SignatureOutcome outcome_of(TxtStatus status) noexcept;

// Sets the key's length and the outcome, once the library has verified the signature.
void judge(DKIM_SIGINFO* verified, Signature& signature) noexcept;

}  // namespace bloomgate
