#include "filter/keep/publish_manifest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/file_stamp.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kManifestMode = 0644;

std::string sign_command(const std::string& whitelist) {
  return "'bloomgate sign --key FILE " + shell_word(whitelist, is_folder(whitelist) ? "FOLDER" : "FILTER") + "'";
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// The path of the whitelist itself. A folder's path may end in a slash or in dots.
std::string own_path(const std::string& whitelist) {
  return is_folder(whitelist) ? own_path_of(whitelist) : resolve_link(whitelist);
}

std::string path_in(const std::string& whitelist, const PublishedFile& file) {
  return is_folder(whitelist) ? (std::filesystem::path(whitelist) / file.name).string() : own_path(whitelist);
}

bool is_there(const std::string& path) {
  return FileStamp::of_path(path).has_value();
}

}  // namespace

ManifestWriter::ManifestWriter(std::string whitelist, std::shared_ptr<const SecretKey> key, ManifestRequest request,
                               Warn warn)
    : whitelist_(std::move(whitelist)), key_(std::move(key)), request_(std::move(request)), warn_(std::move(warn)) {
  if (key_ == nullptr || is_hidden()) return;
  const std::string name = name_of(own_path(whitelist_));
  if (!is_folder(whitelist_) && !is_published_name(name)) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "a manifest cannot name the filter " + printable(name) +
                             "; give it a name of letters, digits, dots, hyphens and underscores, at most " +
                             std::to_string(kMaxLayerNameBytes) + " of them before " + std::string(kLayerSuffix) +
                             ", and not 'manifest'",
                         {.path = whitelist_});
  }
  if (request_.next_key == key_->public_key()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "the next key is the one that signs; name the one that is to follow it");
  }
  const Last last = read_last();
  list_ = name_of_list(last);
  if (last.fault.empty()) return;
  warn_(std::string("warning: the last manifest is not used, so the new one has ") +
        (last.number == 0 ? "the time for its number" : "the number after the one of a kept state") +
        ", and calls the list " + list_ + ": " + last.fault);
}

bool ManifestWriter::is_hidden() const {
  return !is_folder(whitelist_) && name_of(own_path(whitelist_)).starts_with('.');
}

void ManifestWriter::read_into(Last& last, const std::string& whitelist) const {
  const PublicKey ours = key_->public_key();
  const std::optional<SignedManifest> read = read_manifest(whitelist);
  if (!read) return;
  const Manifest& manifest = read->manifest;
  if (read->signer != ours && manifest.next_key != ours) {
    last.fault = manifest_path(whitelist) + " is signed by " + read->signer.text() + ", which is another key";
    return;
  }
  last.signers.push_back(read->signer);
  last.files.insert(last.files.end(), manifest.files.begin(), manifest.files.end());
  if (manifest.number > last.number) {
    last.number = manifest.number;
    last.list = manifest.list;
    last.next_key = read->signer == ours ? manifest.next_key : std::nullopt;
  }
}

ManifestWriter::Last ManifestWriter::read_last() const {
  Last last;
  try {
    read_into(last, whitelist_);
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    last.fault = error.what();
  }
  if (!is_folder(whitelist_)) return last;
  // If the manifest of the folder is lost, a kept state has one of the last numbers.
  Last kept;
  for (const Generation& each : kept_generations(own_path(whitelist_))) {
    try {
      read_into(kept, each.path);
    } catch (const BloomgateError&) {  // NOLINT(bugprone-empty-catch): it is not the one in use
    }
  }
  if (last.list.empty()) {
    last.kept_list = kept.list;
    last.next_key = kept.next_key;
  }
  last.number = std::max(last.number, kept.number);
  last.signers.insert(last.signers.end(), kept.signers.begin(), kept.signers.end());
  last.files.insert(last.files.end(), kept.files.begin(), kept.files.end());
  return last;
}

std::string ManifestWriter::name_of_list(const Last& last) const {
  const std::string& asked = request_.list_name;
  const std::string& option = choice_names().list_name;
  if (!last.list.empty() && !asked.empty() && last.list != asked) {
    throw BloomgateError(ErrorCode::bad_argument,
                         manifest_path(whitelist_) + " is of the list " + last.list + ", and " + option + " is " +
                             printable(asked) +
                             ", which readers would refuse as another list; give the same name, or "
                             "remove that file to begin another list");
  }
  if (!last.list.empty()) return last.list;
  if (asked.empty() && !last.kept_list.empty()) return last.kept_list;
  const std::string name = asked.empty() ? std::filesystem::path(own_path(whitelist_)).stem().string() : asked;
  if (is_list_name(name)) return name;
  throw BloomgateError(ErrorCode::bad_argument,
                       "a list cannot have the name '" + printable(name) + "'; give " + option +
                           " of 1 to 63 letters, digits, dots, hyphens and underscores, and no dot in front");
}

std::optional<WrittenManifest> ManifestWriter::write() const {
  if (is_hidden()) return std::nullopt;
  if (key_ == nullptr) {
    if (const std::string path = manifest_path(whitelist_); is_there(path)) {
      warn_("warning: " + path + " is not renewed without a key, and readers refuse what it does not name; write " +
            "another with " + sign_command(whitelist_));
    }
    return std::nullopt;
  }
  try {
    return write_at(whitelist_);
  } catch (const BloomgateError& error) {
    throw BloomgateError(error.code(),
                         std::string(error.what()) + "; " + printable(whitelist_) +
                             " itself is in place, but without a manifest that names it: write one with " +
                             sign_command(whitelist_),
                         error.details());
  }
}

WrittenManifest ManifestWriter::write_into(const std::string& folder) const {
  return write_at(folder);
}

std::optional<PublicKey> ManifestWriter::next_key(const Last& last) const {
  if (request_.drops_next_key) return std::nullopt;
  return request_.next_key ? request_.next_key : last.next_key;
}

void ManifestWriter::require_may_name(const std::string& path) const {
  require_may_name(path, read_last());
}

void ManifestWriter::require_may_name(const std::string& path, const Last& last) const {
  const MappedFilter filter(path);
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    throw BloomgateError(ErrorCode::bad_signature, printable(path) + " is " + why + "; sign it with " + remedy,
                         {.path = path});
  };
  // A layer is signed with its folder, so that the manifest names it, too.
  const std::string whole = is_folder(whitelist_) ? folder_of(path) : path;
  if (!filter.signature()) refuse("not signed, and a manifest names signed filters alone", sign_command(whole));
  const PublicKey& signer = filter.signature()->signer;
  filter.require_signer(std::array{signer});
  const bool is_of_known_key = signer == key_->public_key() || signer == next_key(last) ||
                               std::ranges::find(last.signers, signer) != last.signers.end();
  // A kept generation has another name.
  const Digest digest = describe_published(path).digest;
  if (is_of_known_key || std::ranges::find(last.files, digest, &PublishedFile::digest) != last.files.end()) return;
  refuse("signed by " + signer.text() + ", and readers of a manifest that " + key_->public_key().text() +
             " has signed need not trust that key",
         sign_command(whole) + ", where FILE has the key of the manifest");
}

std::vector<PublishedFile> ManifestWriter::files_of(const std::string& whitelist, const Last& last) const {
  std::vector<PublishedFile> files;
  if (!is_folder(whitelist)) {
    require_may_name(whitelist, last);
    files.push_back(describe_published(own_path(whitelist)));
    return files;
  }
  for (const Layer& layer : usable_layers_in(whitelist)) {
    require_may_name(layer.path, last);
    files.push_back(describe_published(layer.path));
  }
  const std::string revoked = (std::filesystem::path(whitelist) / kRevokedName).string();
  if (is_there(revoked)) files.push_back(describe_published(revoked));
  std::ranges::sort(files, {}, &PublishedFile::name);
  return files;
}

// Reads the last number again, now that the change is in place. So if two builds of one file run at the same time, the
// second continues from the number of the first, if that has already published file and manifest.
WrittenManifest ManifestWriter::write_naming(std::vector<PublishedFile> files, const std::string& whitelist) const {
  const Last last = read_last();
  if (last.number == std::numeric_limits<std::int64_t>::max()) {
    throw BloomgateError(ErrorCode::bad_input,
                         manifest_path(whitelist_) + " has the last number that there is; sign with another key");
  }
  Manifest manifest;
  manifest.list = list_;
  manifest.made = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  manifest.number = std::max<std::uint64_t>(
      last.number + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(manifest.made.time_since_epoch().count(), 1)));
  manifest.holds_until = manifest.made + request_.holds;
  manifest.files = std::move(files);
  manifest.next_key = next_key(last);
  const std::string path = manifest_path(whitelist);
  std::string text = sign_manifest(manifest, *key_);
  replace_file(path, text, kManifestMode);
  return {{std::move(manifest), key_->public_key(), std::move(text)}, path};
}

WrittenManifest ManifestWriter::write_naming(std::vector<PublishedFile> files) const {
  return write_naming(std::move(files), whitelist_);
}

WrittenManifest ManifestWriter::write_at(const std::string& whitelist) const {
  WrittenManifest written = write_naming(files_of(whitelist, read_last()), whitelist);
  // Meanwhile, another command may have put another file there.
  for (const PublishedFile& file : written.manifest.files) require_published(file, path_in(whitelist, file));
  return written;
}

}  // namespace bloomgate
