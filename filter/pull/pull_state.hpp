// What `bloomgate pull` remembers about a folder that it pulls into: the manifest in it, and a separate file
// `.pull.json`. These show which copy of the manifest the server has sent, which key was named, and which files in the
// folder belong to the list: no other files may be replaced or removed.
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
  // For each list, by its name: the names of files that a manifest of the list has named, or may have named. A manifest
  // in the folder counts if a trusted key has signed it, or if it was pulled.
  std::map<std::string, Names, std::less<>> owned = {};
  // Whether the last run was completed: files that `current` does not name were removed.
  bool is_complete = false;
  Json kept = {};  // the content of `.pull.json`; null if there is none

  Names owned_by(std::string_view list) const;
};

// `manifest_url` is the URL that is pulled, and `trusted_keys` are the configured keys. Throws
// BloomgateError{bad_input}, with the remedy, if a file is damaged: it is not known what a damaged manifest has bound,
// so the operator decides. Also throws {cannot_open, cannot_read, not_a_regular_file}.
PullState read_pull_state(const std::string& folder, const std::string& manifest_url, const TrustedKeys& trusted_keys);

// Call it before the files of the manifest get their names. Otherwise, if the run ends before the manifest is there,
// the next run would not know to which list they belong. Throws as replace_file().
void remember_placing(const std::string& folder, const PullState& state, const Manifest& manifest);

// Call it when they have their names, and the manifest is there. Throws as replace_file().
void remember_pulled(const std::string& folder, const PullState& state, const std::string& manifest_url,
                     const SignedManifest& manifest, const std::string& etag, const TrustedKeys& trusted_keys);

}  // namespace bloomgate
