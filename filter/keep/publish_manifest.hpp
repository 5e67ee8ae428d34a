// Writes the manifest of a whitelist (manifest.hpp). Used by every command that signs what it makes, changes or puts
// back: `bloomgate sign`, `build`, `update`, `export`, `merge`, `intersect`, `append`, `fold`, `rollback`.
//
// Call order: constructor, the change of the whitelist, write(). So what would prevent a manifest (an invalid name, a
// last manifest of another list) is reported before the work. A process that ends between the two leaves
// the last manifest, and a reader sees which of the files are no longer as it says.
//
// For one thread. Of a folder: with the folder locked, from the constructor on.
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
  std::string list_name = {};  // empty: as the last manifest has it, or else as the whitelist is named
  std::chrono::days holds = kManifestHolds;
  std::optional<PublicKey> next_key = {};  // nothing: that of the last manifest, as long as the signer stays
  bool drops_next_key = false;
};

struct WrittenManifest : SignedManifest {
  std::string path = {};  // where it is
};

class ManifestWriter {
 public:
  using Warn = std::function<void(std::string_view)>;

  // Of the whitelist, a folder that is there or a file that may not be. Without a key write() writes nothing.
  // Throws BloomgateError{bad_argument} where the list cannot be named as asked for, or a file
  // not be named at all, and {cannot_open, cannot_read} where the last manifest cannot be read. Warns of one that is
  // damaged, or signed by another key.
  ManifestWriter(std::string whitelist, std::shared_ptr<const SecretKey> key, ManifestRequest request, Warn warn);

  // Names what is there now. Nothing: there is no key, or the file has a hidden name, under which it is not published.
  // Without a key it warns if there is a manifest, which then no longer fits. Throws what describe_published() and
  // require_may_name() throw, and BloomgateError{cannot_write, not_permitted}, each with what to do.
  std::optional<WrittenManifest> write() const;

  // The same into another folder of layers, which is to take the place of the whitelist.
  WrittenManifest write_into(const std::string& folder) const;

  // Of a folder, and with a key: names these files, in the order of their names, as the caller has just made them. They
  // are not read.
  WrittenManifest write_naming(std::vector<PublishedFile> files) const;

  // Throws BloomgateError{bad_signature} with what to do unless the filter names its signer, and he has signed its
  // header: the digest of another header says nothing of what is behind it. The signer is the one of the manifest, the
  // next key, or the signer of the last manifest, if that has named this key; or the last manifest has named this very
  // filter. Readers that trust only the signer of the manifest would take no other. And what MappedFilter throws. With
  // a key only.
  void require_may_name(const std::string& path) const;

 private:
  struct Last {
    std::uint64_t number = 0;
    std::string list = {};       // of the manifest in use; empty: there is none of this signer
    std::string kept_list = {};  // of a kept state, where that one is not there
    std::optional<PublicKey> next_key = {};
    // Of the manifest in use, and of kept ones, as far as their signer is this one or has named it.
    TrustedKeys signers = {};
    std::vector<PublishedFile> files = {};
    std::string fault = {};  // why the one in use is not taken
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
