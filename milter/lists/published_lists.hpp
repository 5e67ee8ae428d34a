// Exact lists that are published with a whitelist: the file FOLDER/revoked in a folder of layers with trusted keys,
// which its manifest names (filter/keep/manifest.hpp). This file also combines such a list with the operator's own
// file. Used by the daemon, and by the commands that look at its lists. Safe from any thread.
//
// What a publisher revokes counts for every daemon that uses the publisher's layers, without any option. The operator's
// own list counts as well. `revoked = FOLDER/revoked` is the published list itself: it is read once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"
#include "filter/keep/manifest.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/policy/exact_list.hpp"

namespace bloomgate {

// The content of a file: its size, and its digest as in PublishedFile.
struct FileContent {
  std::uint64_t bytes = 0;
  Digest digest = {};
};

// Throws BloomgateError{bad_input} with the remedy unless `content` is that of `published`.
void require_as_named(const PublishedFile& published, const std::string& path, const FileContent& content);

// The path FOLDER/revoked for a folder of layers with trusted keys; empty for any other whitelist.
std::string place_of_revoked(const WhitelistSource& source);

// The list of revoked entries, if the manifest of the folder names it; otherwise null. Throws BloomgateError{bad_input}
// unless the text matches the manifest, and what load_exact_list() throws.
std::shared_ptr<const PublishedList> read_published_revoked(const std::string& folder, const Manifest& manifest);

// The whitelist with trusted keys whose folder contains the list: by the list's path, or by the target of a link on
// that path. The folder need not exist. Null: there is none.
const WhitelistSource* published_with(const DaemonOptions& options, const std::string& path);

// The same, if the manifest of that whitelist names the list. Throws what read_manifest() throws.
const WhitelistSource* named_with(const DaemonOptions& options, const std::string& path);

// An exact list, and each text from which it was made.
struct ReadList {
  struct Text {
    std::string path;
    std::size_t entries = 0;  // that no earlier text has
    std::uint64_t bad_line_count = 0;
    std::vector<BadLine> bad_lines = {};  // the first ones
  };
  std::shared_ptr<const ExactList> list = {};
  std::vector<Text> texts = {};
};

// The list of an option, combined with what `whitelists` publish (only for `revoked`); nothing if there is neither. If
// the operator's file is in the folder of a whitelist with trusted keys, the file must be as the manifest there says.
// Throws what load_exact_list() and usable_manifest() throw, and BloomgateError{bad_input} with the remedy.
std::optional<ReadList> read_configured_list(const DaemonOptions& options, const NamedExactList& which,
                                             std::span<const NamedFilter> whitelists);

// Whether the operator's file of that list comes with a whitelist that may be missing, and is missing. Then the daemon
// starts without both, and delivers nothing until they exist.
bool is_awaited(const DaemonOptions& options, const NamedExactList& which, std::span<const NamedFilter> whitelists);

}  // namespace bloomgate
