#include "milter/lists/whitelist_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/output_check.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_stamp.hpp"
#include "milter/lists/published_lists.hpp"
#include "milter/lists/taken_manifests.hpp"

namespace bloomgate {
namespace {

// `bloomgate fold-layers` changes one name after the other, and a listing may see any intermediate state.
constexpr int kMostTries = 20;

// The files of a whitelist, if keys are trusted: its manifest, and the keys for its files.
struct Published {
  std::shared_ptr<const SignedManifest> manifest = {};  // null: no key is trusted
  TrustedKeys keys = {};

  // Null: no key is trusted, or the manifest does not name the file.
  const PublishedFile* file(std::string_view name) const {
    if (!manifest) return nullptr;
    const auto& files = manifest->manifest.files;
    const auto found = std::ranges::find(files, name, &PublishedFile::name);
    return found == files.end() ? nullptr : &*found;
  }
};

Published published(const WhitelistSource& source) {
  if (source.trusted_keys.empty()) return {};
  UsableManifest usable = usable_manifest(source, std::chrono::system_clock::now());
  return {std::make_shared<const SignedManifest>(std::move(usable.signed_by_trusted)), std::move(usable.keys)};
}

struct SeenLayer {
  Layer layer;
  FileStamp stamp;
  friend bool operator==(const SeenLayer&, const SeenLayer&) = default;
};

struct Seen {
  Published published;
  std::vector<SeenLayer> layers;

  bool is(const Seen& other) const noexcept {
    const bool has_manifest = published.manifest != nullptr;
    if (has_manifest && published.manifest->text != other.published.manifest->text) return false;
    return layers == other.layers;
  }
};

// The layers that the manifest names, in the order of their names, whatever else is in the folder. Their names are
// valid in a header field: parse_manifest() accepts no others.
std::vector<Layer> layers_of(const std::string& folder, const Manifest& manifest) {
  std::vector<Layer> layers;
  for (const PublishedFile& file : manifest.files) {
    if (!is_layer_name(file.name)) continue;
    layers.push_back({(std::filesystem::path(folder) / file.name).string(),
                      file.name.substr(0, file.name.size() - kLayerSuffix.size())});
  }
  if (!layers.empty() && layers.size() <= kMostLayers) return layers;
  throw BloomgateError(ErrorCode::bad_input,
                       manifest_path(folder) + " names " + std::to_string(layers.size()) + " layers, instead of 1 to " +
                           std::to_string(kMostLayers),
                       {.path = folder});
}

Seen seen_in(const WhitelistSource& source) {
  Seen all = {.published = published(source), .layers = {}};
  std::vector<SeenLayer>& seen = all.layers;
  const SignedManifest* const manifest = all.published.manifest.get();
  for (Layer& layer :
       manifest != nullptr ? layers_of(source.path, manifest->manifest) : usable_layers_in(source.path)) {
    struct stat status = {};
    // A layer that has disappeared since is missing in the next listing, too.
    const bool is_there = stat(layer.path.c_str(), &status) == 0;
    seen.push_back({std::move(layer), is_there ? FileStamp(status) : FileStamp()});
  }
  return all;
}

std::shared_ptr<const LoadedFilter> sound_one_of(const std::vector<NamedFilter>& in_use, const SeenLayer& seen) {
  const auto found = std::ranges::find_if(in_use, [&seen](const NamedFilter& each) {
    return each.filter && each.filter->path() == seen.layer.path && each.filter->file().stamp() == seen.stamp &&
           !each.filter->damaged();
  });
  return found == in_use.end() ? nullptr : found->filter;
}

std::vector<NamedFilter> load_seen(const WhitelistSource& source, const Seen& seen, bool lock, FilterCheck check,
                                   const std::vector<NamedFilter>& in_use) {
  std::vector<NamedFilter> filters;
  const Published& published = seen.published;
  for (const SeenLayer& each : seen.layers) {
    const PublishedFile* const file = published.file(each.layer.name + std::string(kLayerSuffix));
    auto filter = sound_one_of(in_use, each);
    if (!filter) {
      filter = std::make_shared<const LoadedFilter>(each.layer.path, lock, check, "", published.keys, file);
    } else if (file != nullptr) {
      filter->require_published(*file, published.keys);  // by this manifest, not only by the one at its loading
    }
    filters.push_back(
        {.name = source.name + "/" + each.layer.name, .filter = std::move(filter), .manifest = published.manifest});
  }
  if (!published.manifest) return filters;
  const auto revoked = read_published_revoked(source.path, published.manifest->manifest);
  for (NamedFilter& each : filters) each.revoked = revoked;
  return filters;
}

std::vector<NamedFilter> load_layers(const WhitelistSource& source, bool lock, FilterCheck check,
                                     const std::vector<NamedFilter>& in_use) {
  Seen seen = seen_in(source);
  std::vector<NamedFilter> loaded = in_use;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const Seen before = seen;
    try {
      // Reuses what the last try has loaded.
      loaded = load_seen(source, before, lock, check, loaded);
      seen = seen_in(source);
      if (seen.is(before)) return loaded;
    } catch (const BloomgateError&) {
      seen = seen_in(source);
      if (seen.is(before)) throw;
    }
  }
  throw BloomgateError(ErrorCode::changed_while_open,
                       source.path + " does not come to rest: its layers come and go; they are loaded when it does",
                       {.path = source.path});
}

[[noreturn]] void refuse_other_name(const std::string& path, const std::string& name, const Manifest& manifest) {
  std::string names;
  for (const PublishedFile& each : manifest.files) names += (names.empty() ? "" : ", ") + each.name;
  throw BloomgateError(ErrorCode::bad_input,
                       fmt::format("{} names {}, and the filter is called {}; give the filter its published name, and "
                                   "the manifest that name with .manifest behind it; or where the filter is made, sign "
                                   "it under this name: bloomgate sign --key KEYFILE {}",
                                   manifest_path(path), names.empty() ? "no file" : names, printable(name), path),
                       {.path = path});
}

NamedFilter load_file(const WhitelistSource& source, bool lock, FilterCheck check) {
  const Published expected = published(source);
  const std::string name = std::filesystem::path(resolve_link(source.path)).filename().string();
  const PublishedFile* const file = expected.file(name);
  if (expected.manifest && file == nullptr) refuse_other_name(source.path, name, expected.manifest->manifest);
  return {.name = source.name,
          .filter = std::make_shared<const LoadedFilter>(source.path, lock, check, source.store, expected.keys, file),
          .manifest = expected.manifest};
}

}  // namespace

std::string_view configured_name(std::string_view name) noexcept {
  return name.substr(0, name.find('/'));
}

std::vector<NamedFilter> load_whitelist_files(const WhitelistSource& source, bool lock, FilterCheck check,
                                              const std::vector<NamedFilter>& in_use) {
  if (!is_folder(source.path)) {
    return {load_file(source, lock, check)};
  }
  if (!source.store.empty()) {
    throw BloomgateError(ErrorCode::bad_configuration,
                         source.path +
                             " is a folder of layers, which no store can confirm: take confirm out, or name "
                             "one filter file and its store",
                         {.path = source.path});
  }
  return load_layers(source, lock, check, in_use);
}

}  // namespace bloomgate
