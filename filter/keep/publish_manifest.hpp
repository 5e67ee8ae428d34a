// Writes the manifest of a whitelist (manifest.hpp). Used by every command that signs what it makes, changes or
// restores: `bloomgate sign`, `build`, `update-store`, `counting-export`, `merge`, `intersect`, `add-layer`,
// `fold-layers`, `rollback`.
//
// Call order: constructor, the change of the whitelist, write(). So what would prevent a manifest (an invalid name, a
// last manifest of another list) is reported before the work. If a process ends between the two, the last manifest
// stays, and a reader sees which files no longer match it.
//
// For one thread. For a folder: with the folder locked, from the constructor on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/public_key.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/keep/manifest.hpp"

namespace bloomgate {

struct ManifestRequest {
  std::string list_name = {};  // empty: that of the last manifest, or else the name of the whitelist
  std::chrono::days holds = kManifestHolds;
  std::optional<PublicKey> next_key = {};  // nothing: that of the last manifest, if the signer is the same
  bool drops_next_key = false;
};

struct WrittenManifest : SignedManifest {
  std::string path = {};  // where it is
};

class ManifestWriter {
 public:
  using Warn = std::function<void(std::string_view)>;

  // The whitelist is a folder, which must exist, or a file, which need not. Without a key write() writes nothing.
  // Throws BloomgateError{bad_argument} if the list cannot have the requested name, or if a file cannot be named, and
  // {cannot_open, cannot_read} if the last manifest cannot be read. Warns if the last manifest is damaged, or signed by
  // another key.
  ManifestWriter(std::string whitelist, std::shared_ptr<const SecretKey> key, ManifestRequest request, Warn warn);

  // Writes a manifest that names the existing files. Returns nothing if there is no key, or if the file has a hidden
  // name, under which it is not published. Without a key it warns if there is a manifest, which then no longer fits.
  // Throws what describe_published() and require_may_name() throw, and BloomgateError{cannot_write, not_permitted},
  // each with what to do.
  std::optional<WrittenManifest> write() const;

  // The same into another folder of layers, which is to replace the whitelist.
  WrittenManifest write_into(const std::string& folder) const;

  // For a folder, and with a key: names these files, in the order of their names, as the caller has just made them. The
  // files are not read.
  WrittenManifest write_naming(std::vector<PublishedFile> files) const;

  // Throws BloomgateError{bad_signature}, with what to do, unless the signer that the filter names has signed its
  // header. (The digest of another header would not cover the content.) That signer must be the manifest's signer, the
  // next key, or the signer of the last manifest, if that has named this key; or the last manifest has named this very
  // filter. Otherwise readers that trust only the signer of the manifest would refuse the filter. Also throws what
  // MappedFilter throws. Only with a key.
  void require_may_name(const std::string& path) const;

 private:
  struct Last {
    std::uint64_t number = 0;
    std::string list = {};       // of the manifest in use; empty: none of this signer
    std::string kept_list = {};  // of a kept state, if there is no manifest in use
    std::optional<PublicKey> next_key = {};
    // The signers of the manifest in use and of kept ones, if they are this signer or have named it.
    TrustedKeys signers = {};
    std::vector<PublishedFile> files = {};
    std::string fault = {};  // why the one in use is not valid
  };
  void read_into(Last& last, const std::string& whitelist) const;
  Last read_last() const;
  std::string name_of_list(const Last& last) const;
  WrittenManifest write_at(const std::string& whitelist) const;
  WrittenManifest write_naming(std::vector<PublishedFile> files, const std::string& whitelist) const;
  std::vector<PublishedFile> files_of(const std::string& whitelist, const Last& last) const;
  void require_may_name(const std::string& path, const Last& last) const;
  std::optional<PublicKey> next_key(const Last& last) const;
  bool is_hidden() const;

  std::string whitelist_;
  std::shared_ptr<const SecretKey> key_;
  ManifestRequest request_;
  Warn warn_;
  std::string list_ = {};
};

}  // namespace bloomgate
