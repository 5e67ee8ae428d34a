// Which manifest may follow an accepted one: the common rules of `bloomgate pull` and the daemon. Pure; safe from any
// thread.
//
// A manifest may name the next key. That key is trusted only as long as the signer of the naming manifest is
// configured. So when an operator removes a key, the keys that it has named are removed with it.
#pragma once

#include <optional>
#include <string>

#include "filter/base/public_key.hpp"
#include "filter/keep/manifest.hpp"

namespace bloomgate {

// The configured keys, and the key that `names_key` names.
TrustedKeys keys_with_next(const TrustedKeys& configured, const std::optional<SignedManifest>& names_key);

// The manifest that names the next key, after `taken` was accepted.
std::optional<SignedManifest> namer_after(const TrustedKeys& configured, const std::optional<SignedManifest>& names_key,
                                          const SignedManifest& taken);

// Throws BloomgateError{bad_signature} with the remedy unless one of the keys has signed it; `where` is for messages.
void require_trusted(const SignedManifest& found, const TrustedKeys& keys, const std::string& where);

// Throws BloomgateError{bad_input}, with the remedy, if it belongs to another list than the last accepted one, is
// older, or is a different one with the same number.
// The last one counts only if one of `keys`, the keys that are trusted now, has signed it. Otherwise a thief of a key
// could sign the largest number, and no later manifest under a new key would ever be accepted: The Update Framework
// (specification 1.0, section 5.3.11) forgets its numbers for the same reason when keys change.
void require_not_before(const SignedManifest& found, const std::optional<SignedManifest>& last, const TrustedKeys& keys,
                        const std::string& where);

}  // namespace bloomgate
