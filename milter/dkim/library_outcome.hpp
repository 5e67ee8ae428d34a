// What the resolver and libopendkim say of a signature, in our words.
#pragma once

#include "milter/dkim/opendkim.hpp"
#include "milter/dkim/resolver.hpp"
#include "milter/policy/signatures.hpp"

namespace bloomgate {

SignatureOutcome outcome_of(TxtStatus status) noexcept;

// Of a signature that did not pass.
SignatureOutcome outcome_of_error(DKIM_SIGINFO* signature) noexcept;

}  // namespace bloomgate
