// What `bloomgate pull` remembers of a folder that it pulls into: the manifest in it, and beside that `.pull.json`, a
// file of its own. So it knows which copy of the manifest the server has sent, which key was named, and which files in
// the folder are of the list: no others may be replaced or removed.
//
// For one thread, with the folder locked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "filter/base/json.hpp"
#include "filter/base/public_key.hpp"
#include "filter/keep/manifest.hpp"

namespace bloomgate {

struct PullState {
  using Names = std::set<std::string, std::less<>>;

  std::optional<SignedManifest> current = {};    // the manifest in the folder
  std::optional<SignedManifest> names_key = {};  // the one that has named the next key
  std::string etag = {};                         // of `current` at that URL; empty: not known
  // The names of files that a manifest of the list has named, or may have, by the name of the list. A manifest in the
  // folder counts if a trusted key has signed it, or if it was pulled.
  std::map<std::string, Names, std::less<>> owned = {};
  // Whether the last run has come to its end: what `current` does not name was removed.
  bool is_complete = false;
  Json kept = {};  // what `.pull.json` has; null: there is none

  Names owned_by(std::string_view list) const;
};

// `manifest_url` is what is pulled, and `trusted_keys` are the configured ones. Throws BloomgateError{bad_input} with
// the remedy where a file is damaged: what a damaged manifest has bound is not known, so a person decides. And
// {cannot_open, cannot_read, not_a_regular_file}.
PullState read_pull_state(const std::string& folder, const std::string& manifest_url, const TrustedKeys& trusted_keys);

// The files of the manifest are about to get their names. Otherwise, if the run ends before the manifest is there, the
// next one would not know whose they are. Throws as replace_file().
void remember_placing(const std::string& folder, const PullState& state, const Manifest& manifest);

// They have their names, and the manifest is there. Throws as replace_file().
void remember_pulled(const std::string& folder, const PullState& state, const std::string& manifest_url,
                     const SignedManifest& manifest, const std::string& etag, const TrustedKeys& trusted_keys);

}  // namespace bloomgate
