// What is published of a whitelist: a signed list of its files, so that nobody between publisher and daemon can turn
// one back, mix those of two days, put another list in its place, or hold the newest back. It does for one list, in one
// file, what timestamp and snapshot do in The Update Framework (specification 1.0, section 5). FORMAT.md, "Manifest".
//
// FOLDER/manifest for a folder of layers, FILE.manifest for a single filter. What makes or changes layers and has a key
// writes it, last of all; `bloomgate pull` and the daemon read it.
//
// Pure but for read and write; safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/public_key.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/secret_key.hpp"

namespace bloomgate {

inline constexpr std::string_view kManifestName = "manifest";  // in a folder
inline constexpr std::string_view kRevokedName = "revoked";    // a list of what is revoked, published with the layers
inline constexpr std::size_t kMostManifestBytes = 65536;
// Of a file's name. File systems have names of 255 bytes, and `bloomgate pull` fetches NAME into `.NAME.16DIGITS.pull`.
inline constexpr std::size_t kMostPublishedNameBytes = 232;
inline constexpr std::chrono::days kManifestHolds{14};

struct PublishedFile {
  std::string name;  // in the folder; a layer's, the filter's, or kRevokedName
  std::uint64_t bytes = 0;
  // Of a filter: of its header, which has the digest of all the rest. Of anything else: of all its bytes.
  Digest digest = {};
  friend bool operator==(const PublishedFile&, const PublishedFile&) = default;
};

struct Manifest {
  std::string list;          // its name: another list under the same key is another list; as a layer's name is
  std::uint64_t number = 0;  // only grows: the last one plus one, or the time, if that is larger
  std::chrono::sys_seconds made = {};
  std::chrono::sys_seconds holds_until = {};
  std::vector<PublishedFile> files = {};   // in the order of their names, each once
  std::optional<PublicKey> next_key = {};  // that is to be trusted beside the one that has signed
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

struct SignedManifest {
  Manifest manifest;
  PublicKey signer;
  std::string text;  // that it was read from
};

// Where the manifest of a whitelist, a folder or a file, is: of a link to a file, beside the file. Throws
// BloomgateError{cannot_write} where the link cannot be followed.
std::string manifest_path(const std::string& whitelist);

// Whether a list can have that name: 1 to kMaxLayerNameBytes letters, digits, dots, hyphens and underscores, and no dot
// in front.
bool is_list_name(std::string_view text) noexcept;

// Whether a manifest can name a file so: 1 to kMostPublishedNameBytes of the same characters, no dot in front, no two
// dots together, and not kManifestName. A layer's name has at most kMaxLayerNameBytes before its suffix, as readers
// have it (usable_layers_in()).
bool is_published_name(std::string_view text) noexcept;

// The text, signed. Throws BloomgateError{bad_input} for what parse_manifest() would refuse.
std::string sign_manifest(const Manifest& manifest, const SecretKey& key);

// What to do about a damaged manifest of a whitelist.
inline constexpr std::string_view kManifestRemedy =
    "fetch the whole whitelist again, or where it is made, write another with 'bloomgate sign --key FILE'";

// From such a text, whose signature is checked; whether the signer is trusted is for the caller. `path` and `remedy`
// are for messages. Throws BloomgateError{bad_input} with the line.
SignedManifest parse_manifest(std::string_view text, const std::string& path,
                              std::string_view remedy = kManifestRemedy);

// The one of a whitelist; nothing where there is none. Throws as parse_manifest(), and {cannot_open, cannot_read}.
std::optional<SignedManifest> read_manifest(const std::string& whitelist, std::string_view remedy = kManifestRemedy);

// What a manifest says of a file as it is now. Throws {cannot_open, cannot_read}, and for a filter what its header's
// check throws.
PublishedFile describe_published(const std::string& path);

// Throws BloomgateError{bad_input} unless the file at `path` is that of `published`, with the remedy.
void require_published(const PublishedFile& published, const std::string& path);

}  // namespace bloomgate
