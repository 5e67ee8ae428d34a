#include "filter/pull/pull_job.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/keep/manifest_rules.hpp"
#include "filter/share/shared_pairs.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kFileMode = 0644;
constexpr std::string_view kPartSuffix = ".pull";
constexpr std::size_t kDigestDigits = 16;  // in the name of a part
static_assert(std::string_view("..").size() + kMostPublishedNameBytes + kDigestDigits + kPartSuffix.size() <= 255);
// The published state may change while it is fetched.
constexpr int kMostTries = 3;

[[noreturn]] void refuse(ErrorCode code, const std::string& url, const std::string& why) {
  throw BloomgateError(code, url + " " + why, {.path = url});
}

// Hidden, so that it is not a layer, and named after its content: so an interrupted transfer is never continued with
// another content.
std::string part_name(const PublishedFile& file) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name = "." + file.name + ".";
  for (const std::uint8_t byte : std::span(file.digest).first<kDigestDigits / 2>()) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name + std::string(kPartSuffix);
}

bool is_part_name(std::string_view name) noexcept {
  return name.starts_with('.') && name.ends_with(kPartSuffix);
}

// Whether a file of that name can be part of a whitelist.
bool is_file_of_list(std::string_view name) noexcept {
  return is_layer_name(name) || name == kRevokedName || number_of_shared_file(name) != 0;
}

// Whether the error says that a file is another one or damaged. For all other errors, another copy would not help.
bool is_fault_of_copy(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::cannot_read:
    case ErrorCode::unsupported_version:
    case ErrorCode::unsupported_layout:
    case ErrorCode::unsupported_hash:
    case ErrorCode::unsupported_section:
    case ErrorCode::out_of_memory:
    case ErrorCode::too_many_mappings:
    case ErrorCode::no_system_resource:
    case ErrorCode::interrupted:
      return false;
    default:
      return true;
  }
}

// Why the file does not pass `check`; empty if it does. Errors that are not about the file are thrown.
template <typename Check>
std::string fault_by(Check check) {
  try {
    check();
    return {};
  } catch (const BloomgateError& error) {
    if (!is_fault_of_copy(error.code())) throw;
    return error.what();
  }
}

bool has_bytes_of(const std::string& path, const PublishedFile& file) {
  return fault_by([&] { require_published(file, path); }).empty();
}

// Why the header has no trusted signature; empty if it has one.
std::string signer_fault(const MappedFilter& filter, const TrustedKeys& keys) {
  if (!filter.signature()) return "is not signed";
  const std::string signer = filter.signature()->signer.text();
  if (std::ranges::find(keys, filter.signature()->signer) == keys.end()) {
    return "is signed by " + signer + ", which is no trusted key";
  }
  return fault_by([&] { filter.require_signer(keys); }).empty() ? ""
                                                                : "has a signature that " + signer + " has not made";
}

// Makes the folder readable for other users, whatever the umask is.
void make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), kFolderMode) != 0) {
    if (errno == EEXIST) return;
    throw system_error(ErrorCode::cannot_write, "make the folder", folder, errno);
  }
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0 || chmod(folder.c_str(), (status.st_mode & 07777) | kFolderMode) != 0) {
    throw replacement_error("set the permissions of", folder, errno);
  }
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error) throw system_error(ErrorCode::cannot_open, "read the folder", folder, error.value());
  return names;
}

// Syncs a part to disk before it gets its name, also a part that a killed run has left.
void complete_part(const std::string& part) {
  const FileDescriptor file(open(part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) throw replacement_error("open", part, errno);
  if (fchmod(file.get(), kFileMode) != 0) throw replacement_error("set the permissions of", part, errno);
  if (fsync(file.get()) != 0) throw replacement_error("sync", part, errno);
}

std::uint64_t size_of(const std::string& path) noexcept {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

PullJob::PullJob(PullRequest request, JobObserver& observer, const std::atomic<bool>& stop)
    : request_((require_web_url(request.url), std::move(request))),
      observer_(observer),
      stop_(stop),
      web_(request_.web, stop) {
  if (!request_.url.ends_with('/')) request_.url += '/';
}

std::string PullJob::path_of(std::string_view name) const {
  return (std::filesystem::path(request_.folder) / name).string();
}

// Names of files need no escapes in a URL (is_published_name).
std::string PullJob::url_of(std::string_view name) const {
  return request_.url + std::string(name);
}

PullJob::Fetched PullJob::fetch_manifest(const Known& known) {
  const std::string url = url_of(kManifestName);
  const WebFiles::Request request = {.url = url, .etag = known.etag, .most_bytes = kMostManifestBytes};
  std::string text;
  WebFiles::Answer answer = web_.fetch(
      request, [&](std::uint64_t) { text.clear(); },
      [&](std::span<const std::byte> bytes) {
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      });
  if (answer.is_unchanged) return {*known.current, request.etag};
  return {parse_manifest(text, url, "it is no manifest that can be used: see whether the URL is right"),
          std::move(answer.etag)};
}

void PullJob::require_may_take(const SignedManifest& found, const Known& known) const {
  const std::string url = url_of(kManifestName);
  const TrustedKeys keys = keys_with_next(request_.trusted_keys, known.names_key);
  require_trusted(found, keys, url);
  if (!request_.list_name.empty() && found.manifest.list != request_.list_name) {
    refuse(ErrorCode::bad_input, url,
           "is of the list '" + found.manifest.list + "', and " + choice_names().list_name + " is '" +
               request_.list_name + "': see whether the URL is right");
  }
  require_not_before(found, known.current, keys, url);
  std::uint64_t bytes = 0;
  for (const PublishedFile& file : found.manifest.files) {
    if (!is_file_of_list(file.name)) {
      refuse(ErrorCode::bad_input, url,
             "names " + file.name + ", which is no part of a whitelist or of what is learned");
    }
    if (file.bytes > request_.most_bytes - bytes) {
      refuse(ErrorCode::bad_input, url,
             "names more than " + std::to_string(request_.most_bytes) +
                 " bytes; if they are meant, allow them (--most-bytes)");
    }
    bytes += file.bytes;
  }
}

// Refuses a file that no pull of this list can have put there, if it would be replaced, or if it is of a whitelist that
// the folder had before.
void PullJob::require_own_folder(const Manifest& found, const Known& known) const {
  const PullState::Names owned = known.owned_by(found.list);
  for (const std::string& name : names_in(request_.folder)) {
    if (!is_file_of_list(name) || owned.contains(name)) continue;
    const auto named = std::ranges::find(found.files, name, &PublishedFile::name);
    const bool is_named = named != found.files.end();
    if (is_named ? has_bytes_of(path_of(name), *named) : !owned.empty()) continue;
    refuse(ErrorCode::bad_input, path_of(name),
           "was not pulled from the list '" + found.list +
               "', and a pull would replace it or leave it without use; name another folder, or remove this file");
  }
}

std::vector<PublishedFile> PullJob::missing(const Manifest& manifest, const TrustedKeys& keys) {
  std::vector<PublishedFile> files;
  std::ranges::copy_if(manifest.files, std::back_inserter(files),
                       [&](const PublishedFile& file) { return !fault_of(file, path_of(file.name), keys).empty(); });
  return files;
}

void PullJob::verify(const MappedFilter& filter, const PublishedFile& file, const TrustedKeys& keys) {
  std::atomic<std::uint64_t> done_bytes{0};
  const ObservedWork work(observer_, [&, total = filter.body_bytes()] {
    return WorkState{.doing = "checking", .done_bytes = done_bytes, .total_bytes = total};
  });
  filter.verify_body(
      0,
      [&](std::uint64_t bytes) {
        check_stop(stop_);
        done_bytes = bytes;
      },
      keys);
  checked_[file.name] = {file.digest, filter.stamp()};
}

// Why the file at `path` is not exactly the one that is named; empty if it is, byte for byte. Throws
// BloomgateError{bad_signature} if another copy would not help.
std::string PullJob::fault_of(const PublishedFile& file, const std::string& path, const TrustedKeys& keys) {
  const bool is_layer = is_layer_name(file.name);
  std::optional<MappedFilter> filter;
  std::string fault = fault_by([&] {
    require_published(file, path);
    if (is_layer) filter.emplace(path);
  });
  if (!fault.empty() || !is_layer) return fault;
  // The header is the one that the manifest names, so other copies have the same signature.
  if (const std::string why = signer_fault(*filter, keys); !why.empty()) {
    refuse(
        ErrorCode::bad_signature, url_of(file.name),
        why +
            ", and a trusted key has signed the manifest that names it: its publisher signs it again with the key of "
            "the manifest (bloomgate sign --key KEYFILE FOLDER)");
  }
  const auto checked = checked_.find(file.name);
  if (checked != checked_.end() && checked->second.digest == file.digest && checked->second.stamp == filter->stamp()) {
    return {};
  }
  return fault_by([&] { verify(*filter, file, keys); });
}

// Keeps the bytes that are already there, and fetches the rest.
void PullJob::fetch_rest(const PublishedFile& file, const std::string& part) {
  const FileDescriptor out(open(part.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!out.is_open()) throw replacement_error("open", part, errno);
  std::uint64_t at = 0;
  const auto begin = [&](std::uint64_t from) {
    at = from;
    if (ftruncate(out.get(), static_cast<off_t>(at)) != 0) throw replacement_error("write", part, errno);
  };
  const ObservedWork work(observer_, [&, total = file.bytes] {
    return WorkState{.doing = "fetching", .done_bytes = size_of(part), .total_bytes = total};
  });
  web_.fetch({.url = url_of(file.name), .begin = std::min(size_of(part), file.bytes), .most_bytes = file.bytes}, begin,
             [&](std::span<const std::byte> bytes) {
               if (const int error = write_at(out.get(), bytes, at); error != 0) {
                 throw replacement_error("write", part, error);
               }
               at += bytes.size();
             });
}

// Fetches a file into its hidden file, as a whole, and checks it.
void PullJob::fetch(const PublishedFile& file, const TrustedKeys& keys) {
  const std::string part = path_of(part_name(file));
  const bool was_begun = size_of(part) != 0;
  for (bool once_more = true;; once_more = false) {
    if (size_of(part) < file.bytes || file.bytes == 0) {
      try {
        fetch_rest(file, part);
      } catch (const BloomgateError& error) {
        // If the transfer was interrupted in the middle, continue it once.
        if (error.code() != ErrorCode::no_answer || !once_more || size_of(part) == 0) throw;
        fetch_rest(file, part);
      }
    }
    const std::string fault = fault_of(file, part, keys);
    if (fault.empty()) return complete_part(part);
    unlink(part.c_str());
    // A part from an earlier run may be damaged.
    if (was_begun && once_more) continue;
    refuse(ErrorCode::bad_input, url_of(file.name), "is not the file that the manifest names: " + fault);
  }
}

// In an order in which a reader always knows what it has.
void PullJob::put_in_place(const std::vector<PublishedFile>& fetched) const {
  for (const bool is_revoked : {false, true}) {
    for (const PublishedFile& file : fetched) {
      if ((file.name == kRevokedName) != is_revoked) continue;
      const std::string part = path_of(part_name(file));
      if (rename(part.c_str(), path_of(file.name).c_str()) != 0) throw replacement_error("rename", part, errno);
    }
  }
  sync_folder_or_throw(request_.folder);
}

// Removes layers of the list that are no longer published, and unfinished parts of other files.
void PullJob::remove_others(const Manifest& manifest, const Known& known) const {
  const auto is_named = [&](const std::string& name) {
    return std::ranges::find(manifest.files, name, &PublishedFile::name) != manifest.files.end();
  };
  const PullState::Names owned = known.owned_by(manifest.list);
  for (const std::string& name : names_in(request_.folder)) {
    const bool is_old = is_file_of_list(name) && owned.contains(name) && !is_named(name);
    if (!is_old && !is_part_name(name)) continue;
    const std::string path = path_of(name);
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      throw system_error(ErrorCode::cannot_write, "remove", path, errno);
    }
  }
  sync_folder_or_throw(request_.folder);
}

// The signer of the manifest has named these files.
TrustedKeys PullJob::keys_of_files(const SignedManifest& manifest, const Known& known) const {
  TrustedKeys keys = keys_with_next(request_.trusted_keys, known.names_key);
  if (manifest.manifest.next_key) keys.push_back(*manifest.manifest.next_key);
  return keys;
}

PullResult PullJob::pull() {
  make_folder(request_.folder);
  const FolderLock lock(request_.folder, stop_);
  const std::uint64_t bytes_before = web_.bytes();
  const Known known = read_pull_state(request_.folder, url_of(kManifestName), request_.trusted_keys);
  Fetched found = fetch_manifest(known);
  for (int tries = 1;; ++tries) {
    require_may_take(found.manifest, known);
    const Manifest& manifest = found.manifest.manifest;
    const bool is_same = known.current && known.current->text == found.manifest.text;
    // In seconds, since a date after 2262 is out of range in nanoseconds.
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const bool is_overdue = now > manifest.holds_until;
    if (is_overdue && !is_same) {
      refuse(ErrorCode::bad_input, url_of(kManifestName),
             "does not hold any longer: its publisher has published nothing for too long, or somebody holds back what "
             "is newer");
    }
    require_own_folder(manifest, known);
    const TrustedKeys keys = keys_of_files(found.manifest, known);
    const std::vector<PublishedFile> files = missing(manifest, keys);
    PullResult result = {.manifest = found.manifest, .is_new = !is_same || !files.empty(), .is_overdue = is_overdue};
    try {
      for (const PublishedFile& file : files) fetch(file, keys);
    } catch (const BloomgateError& error) {
      if (error.code() == ErrorCode::interrupted) throw;
      // Meanwhile, another state may have been published.
      Fetched newer = fetch_manifest(known);
      if (tries == kMostTries || newer.manifest.text == found.manifest.text) throw;
      found = std::move(newer);
      continue;
    }
    if (!is_same && !files.empty()) remember_placing(request_.folder, known, manifest);
    put_in_place(files);
    if (!is_same) replace_file(path_of(kManifestName), found.manifest.text, kFileMode);
    const bool is_done = !result.is_new && known.is_complete;
    if (!is_done) remove_others(manifest, known);
    if (!is_done || found.etag != known.etag) {
      remember_pulled(request_.folder, known, url_of(kManifestName), found.manifest, found.etag, request_.trusted_keys);
    }
    result.files = files.size();
    result.bytes_fetched = web_.bytes() - bytes_before;
    return result;
  }
}

}  // namespace bloomgate
