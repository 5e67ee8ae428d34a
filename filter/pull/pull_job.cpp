#include "filter/pull/pull_job.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/keep/manifest_rules.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kFileMode = 0644;
constexpr std::string_view kPartSuffix = ".pull";
// What is kept beside the manifest, as JSON: {"url": URL, "manifest": TEXT, "etag": ETAG} says which copy the server
// has sent, "names-key" is the text of the manifest that has named the next key.
constexpr std::string_view kStateName = ".pull.json";
// What is published may change while it is fetched.
constexpr int kMostTries = 3;

[[noreturn]] void refuse(ErrorCode code, const std::string& url, const std::string& why) {
  throw BloomgateError(code, url + " " + why, {.path = url});
}

// Hidden, so that it is no layer, and of this content alone: what was cut off never goes on with another one.
std::string part_name(const PublishedFile& file) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kBytes = 8;
  std::string name = "." + file.name + ".";
  for (const std::uint8_t byte : std::span(file.digest).first<kBytes>()) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name + std::string(kPartSuffix);
}

bool is_part_name(std::string_view name) noexcept {
  return name.starts_with('.') && name.ends_with(kPartSuffix);
}

bool has_bytes_of(const std::string& path, const PublishedFile& file) {
  try {
    require_published(file, path);
    return true;
  } catch (const BloomgateError& error) {
    // Whatever is there, it is not this.
    if (error.code() == ErrorCode::cannot_read) throw;
    return false;
  }
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

PullJob::Known PullJob::known() const {
  Known known = {.current = read_manifest(request_.folder)};
  const std::string path = path_of(kStateName);
  if (access(path.c_str(), F_OK) != 0) return known;
  try {
    const Json state = Json::parse(read_text(path));
    const bool fits = known.current && state.at("url").text() == url_of(kManifestName) &&
                      state.at("manifest").text() == known.current->text;
    if (const auto etag = state.at("etag").text(); fits && etag) known.etag = *etag;
    if (const auto text = state.at("names-key").text()) known.names_key = parse_manifest(*text, path);
  } catch (const JsonError& error) {
    throw BloomgateError(ErrorCode::bad_input, path + " " + error.what() + "; remove it", {.path = path});
  }
  return known;
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
  return {parse_manifest(text, url), std::move(answer.etag)};
}

void PullJob::require_may_take(const SignedManifest& found, const Known& known) const {
  const std::string url = url_of(kManifestName);
  const TrustedKeys keys = keys_with_next(request_.trusted_keys, known.names_key);
  require_trusted(found, keys, url);
  require_not_before(found, known.current, keys, url);
  std::uint64_t bytes = 0;
  for (const PublishedFile& file : found.manifest.files) {
    if (!is_layer_name(file.name) && file.name != kRevokedName) {
      refuse(ErrorCode::bad_input, url, "names " + file.name + ", which is no part of a whitelist");
    }
    if (file.bytes > request_.most_bytes - bytes) {
      refuse(ErrorCode::bad_input, url,
             "names more than " + std::to_string(request_.most_bytes) +
                 " bytes; if they are meant, allow them (--most-bytes)");
    }
    bytes += file.bytes;
  }
}

std::vector<PublishedFile> PullJob::missing(const Manifest& manifest) const {
  std::vector<PublishedFile> files;
  std::ranges::copy_if(manifest.files, std::back_inserter(files),
                       [this](const PublishedFile& file) { return !has_bytes_of(path_of(file.name), file); });
  return files;
}

// What is there of it stays, and the rest is fetched.
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
  if (fsync(out.get()) != 0) throw replacement_error("sync", part, errno);
}

// Into its hidden file, whole and checked.
void PullJob::fetch(const PublishedFile& file, const TrustedKeys& keys) {
  const std::string part = path_of(part_name(file));
  const bool was_begun = size_of(part) != 0;
  for (bool once_more = true;; once_more = false) {
    if (size_of(part) < file.bytes || file.bytes == 0) {
      try {
        fetch_rest(file, part);
      } catch (const BloomgateError& error) {
        // Cut off in the middle: goes on from there, once.
        if (error.code() != ErrorCode::no_answer || !once_more || size_of(part) == 0) throw;
        fetch_rest(file, part);
      }
    }
    try {
      require_published(file, part);
      if (is_layer_name(file.name)) MappedFilter(part).verify_body(0, {}, keys);
      return;
    } catch (const BloomgateError& error) {
      unlink(part.c_str());
      // What an earlier run has left may be damaged.
      if (was_begun && once_more) continue;
      refuse(ErrorCode::bad_input, url_of(file.name),
             std::string("is not the file that the manifest names: ") + error.what());
    }
  }
}

// In the order in which a reader always knows what it has.
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

// Layers that are not published any longer, and what was cut off of others.
void PullJob::remove_others(const Manifest& manifest) const {
  const auto is_named = [&](const std::string& name) {
    return std::ranges::find(manifest.files, name, &PublishedFile::name) != manifest.files.end();
  };
  for (const auto& entry : std::filesystem::directory_iterator(request_.folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_old = (is_layer_name(name) || name == kRevokedName) && !is_named(name);
    if (!is_old && !is_part_name(name)) continue;
    if (unlink(entry.path().c_str()) != 0 && errno != ENOENT) {
      throw system_error(ErrorCode::cannot_write, "remove", entry.path().string(), errno);
    }
  }
  sync_folder_or_throw(request_.folder);
}

// Whoever has signed the manifest has named these files.
TrustedKeys PullJob::keys_of_files(const SignedManifest& manifest, const Known& known) const {
  TrustedKeys keys = keys_with_next(request_.trusted_keys, known.names_key);
  if (manifest.manifest.next_key) keys.push_back(*manifest.manifest.next_key);
  return keys;
}

void PullJob::remember(const Fetched& found, const Known& known) const {
  Json state = {{"url", url_of(kManifestName)}, {"manifest", found.manifest.text}, {"etag", found.etag}};
  const auto names_key = namer_after(request_.trusted_keys, known.names_key, found.manifest);
  if (names_key) state["names-key"] = names_key->text;
  replace_file(path_of(kStateName), state.dump(1) + "\n", kFileMode);
}

PullResult PullJob::pull() {
  if (mkdir(request_.folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    throw system_error(ErrorCode::cannot_write, "make the folder", request_.folder, errno);
  }
  const FolderLock lock(request_.folder, stop_);
  const std::uint64_t bytes_before = web_.bytes();
  const Known known = this->known();
  Fetched found = fetch_manifest(known);
  for (int tries = 1;; ++tries) {
    require_may_take(found.manifest, known);
    const Manifest& manifest = found.manifest.manifest;
    const bool is_same = known.current && known.current->text == found.manifest.text;
    const bool is_overdue = std::chrono::system_clock::now() > manifest.holds_until;
    if (is_overdue && !is_same) {
      refuse(ErrorCode::bad_input, url_of(kManifestName),
             "does not hold any longer: its publisher has published nothing for too long, or somebody holds back what "
             "is newer");
    }
    const std::vector<PublishedFile> files = missing(manifest);
    PullResult result = {.manifest = found.manifest, .is_new = !is_same || !files.empty(), .is_overdue = is_overdue};
    try {
      for (const PublishedFile& file : files) fetch(file, keys_of_files(found.manifest, known));
    } catch (const BloomgateError& error) {
      if (error.code() == ErrorCode::interrupted) throw;
      // Another state may have been published meanwhile.
      Fetched newer = fetch_manifest(known);
      if (tries == kMostTries || newer.manifest.text == found.manifest.text) throw;
      found = std::move(newer);
      continue;
    }
    put_in_place(files);
    if (!is_same) replace_file(path_of(kManifestName), found.manifest.text, kFileMode);
    if (result.is_new) remove_others(manifest);
    if (result.is_new || found.etag != known.etag) remember(found, known);
    result.files = files.size();
    result.bytes_fetched = web_.bytes() - bytes_before;
    return result;
  }
}

}  // namespace bloomgate
