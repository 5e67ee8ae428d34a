// What may follow a manifest that was taken: the rules that `bloomgate pull` and the daemon have in common. Pure; safe
// from any thread.
//
// A manifest may name the next key. It is trusted as long as the one that has signed the naming manifest is configured,
// so what a key has named goes with it when an operator takes it back.
#pragma once

#include <optional>
#include <string>

#include "filter/base/public_key.hpp"
#include "filter/keep/manifest.hpp"

namespace bloomgate {

// The configured keys, and the one that `names_key` names.
TrustedKeys keys_with_next(const TrustedKeys& configured, const std::optional<SignedManifest>& names_key);

// The manifest that names the next key, now that `taken` was taken.
std::optional<SignedManifest> namer_after(const TrustedKeys& configured, const std::optional<SignedManifest>& names_key,
                                          const SignedManifest& taken);

// Throws BloomgateError{bad_signature} with the remedy unless one of the keys has signed it; `where` is for messages.
void require_trusted(const SignedManifest& found, const TrustedKeys& keys, const std::string& where);

// Throws BloomgateError{bad_input} with the remedy if it is of another list than the last one that was taken, older, or
// another one with the same number.
// The last one binds only if one of `keys`, those that are trusted now, has signed it. Otherwise the thief of a key
// could sign the largest number there is, and nothing that follows under a new key would ever be taken: The Update
// Framework (specification 1.0, section 5.3.11) forgets its numbers for the same reason when keys change.
void require_not_before(const SignedManifest& found, const std::optional<SignedManifest>& last, const TrustedKeys& keys,
                        const std::string& where);

}  // namespace bloomgate
