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
void require_not_before(const SignedManifest& found, const SignedManifest& last, const std::string& where);

}  // namespace bloomgate
