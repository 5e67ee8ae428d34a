// What is published of a whitelist: a signed list of its files, so that an attacker between publisher and daemon cannot
// restore an old file, mix files of two days, replace the list by another one, or withhold the newest one. It does for
// one list, in one file, what timestamp and snapshot do in The Update Framework (specification 1.0, section 5).
// FORMAT.md, "Manifest".
//
// FOLDER/manifest for a folder of layers, FILE.manifest for a single filter. A command that makes or changes layers and
// has a key writes it, after everything else; `bloomgate pull` and the daemon read it.
//
// Pure except read and write; safe from any thread.
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
inline constexpr std::string_view kRevokedName = "revoked";    // the list of revoked senders, published with the layers
inline constexpr std::size_t kMostManifestBytes = 65536;
// The length of a file's name. File systems allow 255 bytes; `bloomgate pull` fetches NAME into `.NAME.16DIGITS.pull`.
inline constexpr std::size_t kMostPublishedNameBytes = 232;
inline constexpr std::chrono::days kManifestHolds{14};

struct PublishedFile {
  std::string name;  // in the folder: that of a layer or of the filter, or kRevokedName
  std::uint64_t bytes = 0;
  // For a filter: the digest of its header, which has the digest of all the rest. For other files: of all bytes.
  Digest digest = {};
  friend bool operator==(const PublishedFile&, const PublishedFile&) = default;
};

struct Manifest {
  std::string list;          // its name, in the form of a layer's; with the same key, another name is another list
  std::uint64_t number = 0;  // only grows: the last one plus one, or the time, if that is larger
  std::chrono::sys_seconds made = {};
  std::chrono::sys_seconds holds_until = {};
  std::vector<PublishedFile> files = {};   // in the order of their names, each once
  std::optional<PublicKey> next_key = {};  // to be trusted in addition to the key that has signed
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

struct SignedManifest {
  Manifest manifest;
  PublicKey signer;
  std::string text;  // the text from which it was read
};

// The path of the manifest of a whitelist, which is a folder or a file; for a link to a file, beside the file. Throws
// BloomgateError{cannot_write} if the link cannot be followed.
std::string manifest_path(const std::string& whitelist);

// Whether the name is valid for a list: 1 to kMaxLayerNameBytes letters, digits, dots, hyphens and underscores, without
// a dot in front.
bool is_list_name(std::string_view text) noexcept;

// Whether a manifest can name a file so: 1 to kMostPublishedNameBytes of the same characters, no dot in front, no two
// dots together, and not kManifestName. A layer's name has at most kMaxLayerNameBytes before its suffix, the limit of
// the readers (usable_layers_in()).
bool is_published_name(std::string_view text) noexcept;

// The text, signed. Throws BloomgateError{bad_input} for a manifest that parse_manifest() would refuse.
std::string sign_manifest(const Manifest& manifest, const SecretKey& key);

// The remedy for a damaged manifest of a whitelist.
inline constexpr std::string_view kManifestRemedy =
    "fetch the whole whitelist again, or where it is made, write another with 'bloomgate sign --key FILE'";

// Reads such a text and verifies its signature; whether the signer is trusted, the caller has to check. `path` and
// `remedy` are for messages. Throws BloomgateError{bad_input} with the line.
SignedManifest parse_manifest(std::string_view text, const std::string& path,
                              std::string_view remedy = kManifestRemedy);

// The manifest of a whitelist; nothing if there is none. Throws as parse_manifest(), and {cannot_open, cannot_read}.
std::optional<SignedManifest> read_manifest(const std::string& whitelist, std::string_view remedy = kManifestRemedy);

// What a manifest says about a file, for the file as it is now. Throws {cannot_open, cannot_read}, and for a filter
// what the check of its header throws.
PublishedFile describe_published(const std::string& path);

// Throws BloomgateError{bad_input}, with the remedy, unless the file at `path` is the one that `published` describes.
void require_published(const PublishedFile& published, const std::string& path);

}  // namespace bloomgate
