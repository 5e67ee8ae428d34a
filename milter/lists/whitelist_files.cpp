#include "milter/lists/whitelist_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

// `bloomgate fold` changes one name after the other, and a listing may see any of them.
constexpr int kMostTries = 20;

struct SeenLayer {
  Layer layer;
  FileStamp stamp;
  friend bool operator==(const SeenLayer&, const SeenLayer&) = default;
};

std::vector<SeenLayer> seen_in(const std::string& folder) {
  std::vector<SeenLayer> seen;
  for (Layer& layer : usable_layers_in(folder)) {
    struct stat status = {};
    // One that has gone since is missing in the next listing, too.
    const bool is_there = stat(layer.path.c_str(), &status) == 0;
    seen.push_back({std::move(layer), is_there ? FileStamp(status) : FileStamp()});
  }
  return seen;
}

std::shared_ptr<const LoadedFilter> sound_one_of(const std::vector<NamedFilter>& in_use, const SeenLayer& seen) {
  const auto found = std::ranges::find_if(in_use, [&seen](const NamedFilter& each) {
    return each.filter && each.filter->path() == seen.layer.path && each.filter->file().stamp() == seen.stamp &&
           !each.filter->damaged();
  });
  return found == in_use.end() ? nullptr : found->filter;
}

std::vector<NamedFilter> load_seen(const WhitelistSource& source, const std::vector<SeenLayer>& seen, bool lock,
                                   FilterCheck check, const std::vector<NamedFilter>& in_use) {
  std::vector<NamedFilter> filters;
  for (const SeenLayer& each : seen) {
    auto filter = sound_one_of(in_use, each);
    if (!filter) filter = std::make_shared<const LoadedFilter>(each.layer.path, lock, check, "", source.trusted_keys);
    filters.push_back({source.name + "/" + each.layer.name, std::move(filter)});
  }
  return filters;
}

std::vector<NamedFilter> load_layers(const WhitelistSource& source, bool lock, FilterCheck check,
                                     const std::vector<NamedFilter>& in_use) {
  std::vector<SeenLayer> seen = seen_in(source.path);
  std::vector<NamedFilter> loaded = in_use;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::vector<SeenLayer> before = seen;
    try {
      // With what the last try has loaded.
      loaded = load_seen(source, before, lock, check, loaded);
      seen = seen_in(source.path);
      if (seen == before) return loaded;
    } catch (const BloomgateError&) {
      seen = seen_in(source.path);
      if (seen == before) throw;
    }
  }
  throw BloomgateError(ErrorCode::changed_while_open,
                       source.path + " does not come to rest: its layers come and go; they are loaded when it does",
                       {.path = source.path});
}

}  // namespace

std::string_view configured_name(std::string_view name) noexcept {
  return name.substr(0, name.find('/'));
}

std::vector<NamedFilter> load_whitelist_files(const WhitelistSource& source, bool lock, FilterCheck check,
                                              const std::vector<NamedFilter>& in_use) {
  if (!is_folder(source.path)) {
    return {{source.name,
             std::make_shared<const LoadedFilter>(source.path, lock, check, source.store, source.trusted_keys)}};
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
