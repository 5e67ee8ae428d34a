// Exact lists that are published with a whitelist: FOLDER/revoked of a folder of layers with trusted keys, which its
// manifest names (filter/keep/manifest.hpp). And how one exact list is made of the operator's own file and of those.
// Used by the daemon, and by the commands that look at its lists. Safe from any thread.
//
// What a publisher revokes counts for every daemon that takes the publisher's layers, without an option. The operator's
// own list counts beside it. `revoked = FOLDER/revoked` is the published list itself: it is read once.
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

// A file as it is: how much of it there is, and its digest as PublishedFile has it.
struct FileContent {
  std::uint64_t bytes = 0;
  Digest digest = {};
};

// Throws BloomgateError{bad_input} with the remedy unless that is the content of `published`.
void require_as_named(const PublishedFile& published, const std::string& path, const FileContent& content);

// FOLDER/revoked of a whitelist with trusted keys; empty for any other.
std::string place_of_revoked(const WhitelistSource& source);

// The list of what is revoked, if the manifest of the folder names it; otherwise null. Throws BloomgateError{bad_input}
// unless the text that was read is as the manifest says, and what load_exact_list() throws.
std::shared_ptr<const PublishedList> read_published_revoked(const std::string& folder, const Manifest& manifest);

// The whitelist with trusted keys in whose folder a list is: by its path, or by what a link on the way to it leads to.
// The folder does not have to be there. Null: there is none.
const WhitelistSource* published_with(const DaemonOptions& options, const std::string& path);

// The same, if the manifest of that whitelist names the list. Throws what read_manifest() throws.
const WhitelistSource* named_with(const DaemonOptions& options, const std::string& path);

// An exact list, and each text that it was made of.
struct ReadList {
  struct Text {
    std::string path;
    std::size_t entries = 0;  // that no text before it has
    std::uint64_t bad_line_count = 0;
    std::vector<BadLine> bad_lines = {};  // the first ones
  };
  std::shared_ptr<const ExactList> list = {};
  std::vector<Text> texts = {};
};

// The list of an option, with what is published with `whitelists` (of `revoked` alone); nothing where there is neither.
// A file of the operator that is in the folder of a whitelist with trusted keys has to be as the manifest there says.
// Throws what load_exact_list() and usable_manifest() throw, and BloomgateError{bad_input} with the remedy.
std::optional<ReadList> read_configured_list(const DaemonOptions& options, const NamedExactList& which,
                                             std::span<const NamedFilter> whitelists);

// Whether the operator's file of that list comes with a whitelist that may be missing, and is: so the daemon starts
// without both, and delivers nothing until they are there.
bool is_awaited(const DaemonOptions& options, const NamedExactList& which, std::span<const NamedFilter> whitelists);

}  // namespace bloomgate
