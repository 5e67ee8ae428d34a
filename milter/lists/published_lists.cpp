#include "milter/lists/published_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/file/signature.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_paths.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/taken_manifests.hpp"
#include "milter/lists/whitelist_files.hpp"

namespace bloomgate {
namespace {

// As many links as Linux follows (path_resolution(7)).
constexpr int kMostLinks = 40;

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// The path, and the target of each link on the way from it to the file.
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps = {path};
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(steps.back(), error);
    if (error) break;
    steps.push_back((std::filesystem::path(folder_of(steps.back())) / target).string());
  }
  return steps;
}

// Also for folders that do not exist.
bool is_same_folder(const std::string& a, const std::string& b) {
  const auto plain = [](const std::string& path) {
    std::error_code error;
    std::string whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error).string();
    while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    return whole;
  };
  return are_same_place(a, b) || plain(a) == plain(b);
}

// The list's name in the folder of the whitelist; empty: it is elsewhere.
std::string name_in(const WhitelistSource& source, const std::string& path) {
  for (const std::string& step : steps_of(path)) {
    if (is_same_folder(folder_of(step), source.path)) return name_of(step);
  }
  return {};
}

const PublishedFile* file_of(const Manifest& manifest, std::string_view name) {
  const auto file = std::ranges::find(manifest.files, name, &PublishedFile::name);
  return file == manifest.files.end() ? nullptr : &*file;
}

FileContent content_of_text(std::string_view text) {
  return {text.size(), digest_of(std::as_bytes(std::span(text)))};
}

// The text of the operator's own file.
std::string own_text(const DaemonOptions& options, const std::string& path) {
  std::string text = read_list_text(path);
  if (const WhitelistSource* const source = published_with(options, path)) {
    const UsableManifest usable = usable_manifest(*source, std::chrono::system_clock::now());
    const std::string name = name_in(*source, path);
    const PublishedFile* const file = file_of(usable.signed_by_trusted.manifest, name);
    if (file == nullptr) {
      throw BloomgateError(ErrorCode::bad_input,
                           fmt::format("{} does not name {}, so {} is not used: name a list in another folder, or "
                                       "where the whitelist is made, sign the folder again (bloomgate sign --key "
                                       "KEYFILE FOLDER), which names the list {}",
                                       manifest_path(source->path), name, path, kRevokedName),
                           {.path = path});
    }
    require_as_named(*file, path, content_of_text(text));
  }
  return text;
}

using PublishedLists = std::vector<std::shared_ptr<const PublishedList>>;

// Each list once: all layers of a folder share the same one.
PublishedLists revoked_of(std::span<const NamedFilter> whitelists) {
  PublishedLists lists;
  for (const NamedFilter& each : whitelists) {
    if (each.revoked && std::ranges::find(lists, each.revoked) == lists.end()) lists.push_back(each.revoked);
  }
  return lists;
}

// Whether the operator has named one of the published lists. Follows only the operator's own links: a link in place of
// the published file must not make the operator's list count as read.
bool is_one_of(const PublishedLists& lists, const std::string& path) {
  const std::vector<std::string> steps = steps_of(path);
  return std::ranges::any_of(lists, [&](const auto& each) {
    return std::ranges::any_of(steps, [&](const std::string& step) {
      return name_of(step) == name_of(each->path) && is_same_folder(folder_of(step), folder_of(each->path));
    });
  });
}

}  // namespace

void require_as_named(const PublishedFile& published, const std::string& path, const FileContent& content) {
  if (content.bytes == published.bytes && content.digest == published.digest) return;
  const bool has_size = content.bytes == published.bytes;
  const std::string expected = has_size ? "the content that was signed" : std::to_string(published.bytes) + " bytes";
  const std::string got = has_size ? "other content" : std::to_string(content.bytes);
  throw BloomgateError(ErrorCode::bad_input,
                       fmt::format("{} is not the file that the manifest names: expected {}, got {}; {}", path,
                                   expected, got, kPublishedRemedy),
                       {.path = path, .expected = expected, .got = got});
}

std::string place_of_revoked(const WhitelistSource& source) {
  if (source.trusted_keys.empty() || !is_folder(source.path)) return {};
  return (std::filesystem::path(source.path) / kRevokedName).string();
}

std::shared_ptr<const PublishedList> read_published_revoked(const std::string& folder, const Manifest& manifest) {
  const PublishedFile* const file = file_of(manifest, kRevokedName);
  if (file == nullptr) return nullptr;
  const std::string path = (std::filesystem::path(folder) / kRevokedName).string();
  std::string text = read_list_text(path);
  require_as_named(*file, path, content_of_text(text));
  // A text that is not a valid list is a fault of the whitelist, and is found now: later it is only added to another
  // list.
  static_cast<void>(read_exact_list(path, text, ListOf::senders));
  return std::make_shared<const PublishedList>(PublishedList{path, std::move(text)});
}

const WhitelistSource* published_with(const DaemonOptions& options, const std::string& path) {
  const auto found = std::ranges::find_if(options.whitelists, [&path](const WhitelistSource& source) {
    // A single filter is not a folder, so it contains no list.
    return !source.trusted_keys.empty() && !name_in(source, path).empty();
  });
  return found == options.whitelists.end() ? nullptr : &*found;
}

const WhitelistSource* named_with(const DaemonOptions& options, const std::string& path) {
  const WhitelistSource* const source = published_with(options, path);
  if (source == nullptr) return nullptr;
  const std::optional<SignedManifest> manifest = read_manifest(source->path);
  return manifest && file_of(manifest->manifest, name_in(*source, path)) != nullptr ? source : nullptr;
}

std::optional<ReadList> read_configured_list(const DaemonOptions& options, const NamedExactList& which,
                                             std::span<const NamedFilter> whitelists) {
  const std::string& own = options.*which.path;
  const PublishedLists published = which.part == &ListParts::revoked ? revoked_of(whitelists) : PublishedLists();
  if (own.empty() && published.empty()) return std::nullopt;
  ReadList read;
  ExactList list;
  const auto add = [&](const std::string& path, const std::string& text) {
    const std::size_t before = list.size();
    ExactListReading reading = read_exact_list(path, text, which.of, std::move(list));
    list = std::move(reading.list);
    read.texts.push_back({path, list.size() - before, reading.bad_line_count, std::move(reading.bad_lines)});
  };
  if (!own.empty() && !is_one_of(published, own)) add(own, own_text(options, own));
  for (const auto& each : published) add(each->path, each->text);
  read.list = std::make_shared<const ExactList>(std::move(list));
  return read;
}

bool is_awaited(const DaemonOptions& options, const NamedExactList& which, std::span<const NamedFilter> whitelists) {
  const std::string& own = options.*which.path;
  if (!options.allow_missing_whitelist || own.empty()) return false;
  const WhitelistSource* const source = published_with(options, own);
  return source != nullptr && std::ranges::none_of(whitelists, [source](const NamedFilter& each) {
           return each.filter && configured_name(each.name) == source->name;
         });
}

}  // namespace bloomgate
