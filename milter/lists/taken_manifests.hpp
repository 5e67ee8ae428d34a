// Which manifests a daemon may take (filter/keep/manifest.hpp), and which it has taken: kept in a file, so that nothing
// older is taken later, not even after a restart. Used where whitelists are loaded or only looked at.
//
// A whitelist with trusted keys is used only as a manifest says that one of these keys has signed. What this proves of
// the list: it is the one that its publisher made last, as far as this daemon can know, it is all there, and it is not
// older than the publisher wants. Who holds it back gains the time until its date, and what `overdue_for` adds.
//
// A manifest may name the next key. That key is trusted as long as the one that has signed the naming manifest is
// configured: so an operator who takes a key back takes back what it has named, too.
//
// The file holds the manifests themselves, as JSON: {"/path": {"taken": TEXT, "names-key": TEXT}}. A whitelist is there
// by its path as it is configured and by where that leads to: so neither another way to write the path nor another
// place of a link makes the daemon forget. What is there by either of them counts.
//
// The file is the daemon's alone. Safe from any thread of one daemon: remember_taken() has one mutex for reading the
// file, changing it and writing it. Not for two daemons at a time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "config/daemon_options.hpp"
#include "filter/base/public_key.hpp"
#include "filter/keep/manifest.hpp"

namespace bloomgate {

// What to do about a whitelist that is not as its manifest says, or has none.
inline constexpr std::string_view kPublishedRemedy =
    "where bloomgate pull fetches the whitelist, see what it reports (systemctl status 'bloomgate-pull@*'), and tell "
    "the "
    "publisher; where the whitelist is made, write its manifest again: bloomgate sign --key KEYFILE WHITELIST";

// A manifest that may be used, and the keys by which its files may be signed.
struct UsableManifest {
  SignedManifest signed_by_trusted;
  TrustedKeys keys;
};

// Those of the configuration, and one that was named since. Throws BloomgateError{bad_input} with the remedy where the
// file of what was taken is damaged, {cannot_open, cannot_read}.
TrustedKeys keys_of(const WhitelistSource& source);

// "2026-12-13"
std::string date_text(std::chrono::sys_seconds time);

// The last second in which a whitelist with that manifest is used.
std::chrono::sys_seconds used_until(const Manifest& manifest, const WhitelistSource& source) noexcept;

// Whether that second is over. In seconds: the nanoseconds of the system's clock end in the year 2262, and the date of
// a manifest may be later.
bool is_overdue(const Manifest& manifest, const WhitelistSource& source,
                std::chrono::system_clock::time_point now) noexcept;

// The manifest of a source with trusted keys. Throws BloomgateError{bad_input, bad_signature} with the remedy unless
// there is one, it is signed by one of keys_of(), is of the list of the last one that was taken, is not older than that
// one nor other than it under the same number, and is used at `now`; and what read_manifest() throws.
UsableManifest usable_manifest(const WhitelistSource& source, std::chrono::system_clock::time_point now);

// It is in use. Throws BloomgateError{cannot_write, not_permitted}, and as keys_of().
void remember_taken(const WhitelistSource& source, const SignedManifest& manifest);

// Why this process could not remember a manifest of that whitelist; empty: it could, or there is none to remember.
// Tries it, and leaves nothing behind. Throws std::bad_alloc.
std::string fault_of_memory(const WhitelistSource& source);

}  // namespace bloomgate
