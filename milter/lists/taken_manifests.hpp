// Which manifests (filter/keep/manifest.hpp) a daemon may accept, and which it has accepted. The accepted ones are
// stored in a file, so that no older one is accepted later, not even after a restart. Used where whitelists are loaded
// or only examined.
//
// A whitelist with trusted keys is used only as a manifest says that one of these keys has signed. This proves that the
// list is the last one of its publisher, as far as this daemon can know, that it is complete, and that it is not older
// than the publisher allows. An attacker who holds a new list back gains only the time until the manifest's date, and
// what `overdue_for` adds.
//
// A manifest may name the next key. That key is trusted as long as the key that signed the naming manifest is
// configured. So an operator who removes a key also removes the key that it has named.
//
// The file holds the manifests themselves, as JSON: {"/path": {"taken": TEXT, "names-key": TEXT}}. A whitelist has an
// entry under its configured path and under the target of that path. So the daemon remembers it even if the path is
// written in another way, or a link moves. An entry under either path counts.
//
// Only the daemon uses the file. Safe from any thread of one daemon: remember_taken() holds one mutex while it reads,
// changes and writes the file. Not safe for two daemons at a time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "config/daemon_options.hpp"
#include "filter/base/public_key.hpp"
#include "filter/keep/manifest.hpp"

namespace bloomgate {

// What to do about a whitelist that does not match its manifest, or has none.
inline constexpr std::string_view kPublishedRemedy =
    "where bloomgate pull fetches the whitelist, see what it reports (systemctl status 'bloomgate-pull@*'), and tell "
    "the "
    "publisher; where the whitelist is made, write its manifest again: bloomgate sign --key KEYFILE WHITELIST";

// A manifest that may be used, and the keys that may have signed its files.
struct UsableManifest {
  SignedManifest signed_by_trusted;
  TrustedKeys keys;
};

// The keys of the configuration, and one that was named since. Throws BloomgateError{bad_input} with the remedy if the
// file of accepted manifests is damaged, {cannot_open, cannot_read}.
TrustedKeys keys_of(const WhitelistSource& source);

// "2026-12-13"
std::string date_text(std::chrono::sys_seconds time);

// The last second in which a whitelist with that manifest is used.
std::chrono::sys_seconds used_until(const Manifest& manifest, const WhitelistSource& source) noexcept;

// Whether that second has passed. Computed in seconds: the nanoseconds of the system's clock end in the year 2262, and
// the date of a manifest may be later.
bool is_overdue(const Manifest& manifest, const WhitelistSource& source,
                std::chrono::system_clock::time_point now) noexcept;

// The manifest of a source with trusted keys. Throws BloomgateError{bad_input, bad_signature} with the remedy unless
// all of this holds: there is a manifest; one of keys_of() has signed it; it is of the same list as the last accepted
// one, not older than that, and not a different one with the same number; and it is valid at `now`. Also throws what
// read_manifest() throws.
UsableManifest usable_manifest(const WhitelistSource& source, std::chrono::system_clock::time_point now);

// Stores that the manifest is in use. Throws BloomgateError{cannot_write, not_permitted}, and as keys_of().
void remember_taken(const WhitelistSource& source, const SignedManifest& manifest);

// Why this process could not store a manifest of that whitelist; empty: it could, or there is none to store. Tries it,
// and leaves nothing behind. Throws std::bad_alloc.
std::string fault_of_memory(const WhitelistSource& source);

}  // namespace bloomgate
