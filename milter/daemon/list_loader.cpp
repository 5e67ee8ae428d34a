#include "milter/daemon/list_loader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_paths.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/taken_manifests.hpp"
#include "milter/lists/whitelist_files.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostTriesOfPair = 3;

std::optional<FileStamp> stamp_of(const std::string& path) noexcept {
  struct stat status = {};
  return !path.empty() && stat(path.c_str(), &status) == 0 ? std::optional(FileStamp(status)) : std::nullopt;
}

// Where a manifest belongs, if keys are trusted. Empty where the whitelist is a link that leads nowhere: loading it
// says so.
std::string place_of_manifest(const WhitelistSource& source) {
  if (source.trusted_keys.empty()) return {};
  try {
    return manifest_path(source.path);
  } catch (const BloomgateError&) {
    return {};
  }
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Whether a file was refused for what is in it, rather than for what the daemon lacks, or for what is in another file.
bool is_about_content(ErrorCode code) {
  return code != ErrorCode::cannot_open && code != ErrorCode::out_of_memory && code != ErrorCode::too_many_mappings &&
         code != ErrorCode::bad_input;
}

void note_damage(const BloomgateError& error, const std::vector<NamedFilter>& filters) {
  if (!is_about_content(error.code())) return;
  for (const NamedFilter& each : filters) {
    if (each.filter && each.filter->is_used(error.details().path)) each.filter->note_damage(Damage::spoiled);
  }
}

std::uint64_t entries_in(const NamedFilter& named) {
  return named.filter ? entries_of(named.filter->header()) : 0;
}

// A tenth is no change of a day. Of layers in use the largest one counts: several may hold the same entries. Throws
// BloomgateError{bad_input}, which says nothing against the file in use.
void require_not_shrunken(const WhitelistSource& source, const std::vector<NamedFilter>& in_use,
                          const std::vector<NamedFilter>& loaded) {
  constexpr std::uint64_t kMostTimesFewer = 10;
  std::uint64_t before = 0;
  for (const NamedFilter& each : in_use) before = std::max(before, entries_in(each));
  std::uint64_t now = 0;
  for (const NamedFilter& each : loaded) now += entries_in(each);
  if (now >= before / kMostTimesFewer + (before % kMostTimesFewer == 0 ? 0 : 1)) return;
  throw BloomgateError(ErrorCode::bad_input,
                       fmt::format("{} has {} entries, less than a tenth of the {} in use; if that is meant, set "
                                   "allow-shrunken-whitelist = yes and reload",
                                   source.path, now, before),
                       {.path = source.path});
}

// The wanted whitelist, where it is in use: the source that it came from. Another key makes it another list: that a
// file is not signed by this one is no damage of the one in use.
const WhitelistSource* known_source(const ListLoader::Request& request, const WhitelistSource& wanted) {
  if (request.known == nullptr) return nullptr;
  const auto found = std::ranges::find_if(request.known->whitelists, [&wanted](const WhitelistSource& each) {
    return each.path == wanted.path && each.store == wanted.store && each.trusted_keys == wanted.trusted_keys;
  });
  return found == request.known->whitelists.end() ? nullptr : &*found;
}

// Its filters, with the name that the whitelist has now.
std::vector<NamedFilter> filters_in_use(const ListParts& in_use, const std::string& name, const std::string& new_name) {
  std::vector<NamedFilter> filters;
  for (const NamedFilter& each : in_use.whitelists) {
    if (configured_name(each.name) != name) continue;
    filters.push_back(each);
    filters.back().name.replace(0, name.size(), new_name);
  }
  return filters;
}

// Both files of a pair may be replaced between the opening of the one and of the other: then the next try has both.
std::vector<NamedFilter> open_whitelist(const WhitelistSource& source, bool lock, FilterCheck check,
                                        const std::vector<NamedFilter>& reusable) {
  for (int tries = 1;; ++tries) {
    try {
      return load_whitelist_files(source, lock, check, reusable);
    } catch (const BloomgateError& error) {
      if (error.code() != ErrorCode::bad_input || tries == kMostTriesOfPair) throw;
    }
  }
}

ExactListPart read_exact(const NamedExactList& place, const std::string& path, std::vector<ListLoader::Line>& lines) {
  const Clock::time_point start = Clock::now();
  ExactListReading reading = load_exact_list(path, place.of);
  for (const BadLine& line : reading.bad_lines) {
    lines.push_back({true, fmt::format("{}:{}: {}; the line is left out", printable(path), line.number, line.text)});
  }
  if (reading.bad_line_count > reading.bad_lines.size()) {
    lines.push_back({true, fmt::format("{}: {} more lines are not entries and are left out", printable(path),
                                       reading.bad_line_count - reading.bad_lines.size())});
  }
  lines.push_back({false, fmt::format("loaded {} entries of {} in {:.3f} s ({})", reading.list.size(), printable(path),
                                      seconds_since(start), place.name)});
  return {.list = std::make_shared<const ExactList>(std::move(reading.list)), .left_out = reading.bad_line_count};
}

// Of a list in the folder of a whitelist with trusted keys, where both are published together. Throws
// BloomgateError{bad_input} unless the file is as the manifest says, and what usable_manifest() throws.
void require_as_published(const DaemonOptions& options, const std::string& path) {
  for (const WhitelistSource& source : options.whitelists) {
    if (source.trusted_keys.empty() || !is_folder(source.path) || !is_same_file(folder_of(path), source.path)) continue;
    const UsableManifest usable = usable_manifest(source, std::chrono::system_clock::now());
    const auto& files = usable.signed_by_trusted.manifest.files;
    const auto name = std::filesystem::path(path).filename().string();
    const auto file = std::ranges::find(files, name, &PublishedFile::name);
    if (file == files.end()) {
      throw BloomgateError(ErrorCode::bad_input, manifest_path(source.path) + " does not name " + name, {.path = path});
    }
    require_published(*file, path);
  }
}

void load_exact(const ListLoader::Request& request, const NamedExactList& place, ListLoader::Loaded& loaded) {
  const std::string& path = request.wanted.*place.path;
  if (path.empty()) return;
  const bool is_known = request.known != nullptr && request.known->*place.path == path;
  const ExactListPart before = is_known ? request.in_use.*place.part : ExactListPart{};
  ExactListPart& part = loaded.lists.*place.part;
  try {
    require_as_published(request.wanted, path);
  } catch (const BloomgateError& error) {
    // The one in use was published once, and the two files change one after the other.
    if (!before.list) {
      if (request.known == nullptr) throw;
      part = {.is_lost = true};
      loaded.lost.push_back(printable(error.what()));
      return;
    }
    part = before;
    loaded.refused.push_back(printable(error.what()));
    return;
  }
  try {
    part = read_exact(place, path, loaded.lines);
    if (const std::size_t entries = before.list ? before.list->size() : 0; entries != 0 && part.list->size() == 0) {
      loaded.lines.push_back(
          {true, fmt::format("{} had {} entries and is empty now ({})", printable(path), entries, place.name)});
    }
  } catch (const std::exception& error) {
    if (request.known == nullptr) throw;
    (is_known ? loaded.lost : loaded.refused).push_back(printable(error.what()));
    if (is_known) {
      part = {.is_lost = true};
    } else {
      loaded.are_usable = false;
    }
  }
}

}  // namespace

std::vector<std::string> exact_list_paths(const DaemonOptions& options) {
  std::vector<std::string> paths;
  for (const NamedExactList& each : kExactLists) {
    if (const std::string& path = options.*each.path; !path.empty()) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> all_list_paths(const DaemonOptions& options) {
  std::vector<std::string> paths = exact_list_paths(options);
  for (const WhitelistSource& source : options.whitelists) {
    paths.push_back(source.path);
    if (!source.store.empty()) paths.push_back(source.store);
    if (std::string manifest = place_of_manifest(source); !manifest.empty()) paths.push_back(std::move(manifest));
  }
  return paths;
}

ListLoader::Loaded ListLoader::load(const Request& request) {
  Loaded loaded;
  for (const WhitelistSource& source : request.wanted.whitelists) load_whitelist(request, source, loaded);
  for (const NamedExactList& each : kExactLists) load_exact(request, each, loaded);
  return loaded;
}

std::optional<ListLoader::Loaded> ListLoader::without_overdue(const DaemonOptions& options, const ListParts& in_use,
                                                              std::chrono::system_clock::time_point now) {
  Loaded loaded = {.lists = in_use};
  std::vector<NamedFilter>& filters = loaded.lists.whitelists;
  bool found = false;
  for (const WhitelistSource& source : options.whitelists) {
    const auto is_overdue = [&](const NamedFilter& each) {
      return each.manifest && configured_name(each.name) == source.name &&
             now > used_until(each.manifest->manifest, source);
    };
    const auto first = std::ranges::find_if(filters, is_overdue);
    if (first == filters.end()) continue;
    found = true;
    loaded.lines.push_back(
        {true, fmt::format("whitelist {} is not used any longer: it held until {}, and nothing newer has come",
                           source.name, date_text(first->manifest->manifest.holds_until))});
    *first = {.name = source.name, .filter = nullptr};
    std::erase_if(filters, is_overdue);
  }
  return found ? std::optional(std::move(loaded)) : std::nullopt;
}

ListLoader::Files ListLoader::files_of(const WhitelistSource& source) {
  const std::optional<FileStamp> manifest = stamp_of(place_of_manifest(source));
  if (!is_folder(source.path)) return {stamp_of(source.path), stamp_of(source.store), manifest, {}};
  Files files = {.filter = {}, .store = {}, .manifest = manifest, .layers = {}};
  for (const Layer& layer : layers_in(source.path)) files.layers.emplace_back(layer.name, stamp_of(layer.path));
  return files;
}

bool ListLoader::is_replaced(const WhitelistSource& source) const {
  const Files now = files_of(source);
  const auto tried = tried_.find(source.path);
  // One that has gone goes on to serve.
  return now.are_there() && (tried == tried_.end() || tried->second != now);
}

void ListLoader::load_whitelist(const Request& request, const WhitelistSource& source, Loaded& loaded) {
  const bool is_first = request.known == nullptr;
  const WhitelistSource* const known = known_source(request, source);
  std::vector<NamedFilter> filters;
  if (known != nullptr) filters = filters_in_use(request.in_use, known->name, source.name);
  const auto add = [&all = loaded.lists.whitelists](std::vector<NamedFilter>& some) {
    std::ranges::move(some, std::back_inserter(all));
  };
  const bool only_replaced = request.whitelists == ReadWhitelists::replaced;
  if (request.whitelists == ReadWhitelists::none || (only_replaced && !is_replaced(source))) return add(filters);
  loaded.tried_whitelists = true;
  if (!is_first) log_->info("loading {} again", printable(source.path));
  std::string fault;
  try {
    std::vector<Line> lines;
    std::vector<NamedFilter> read = read_whitelist(request, source, filters, lines);
    std::ranges::move(lines, std::back_inserter(loaded.lines));
    return add(read);
  } catch (const BloomgateError& error) {
    if (is_first && !request.wanted.allow_missing_whitelist) throw;
    fault = printable(error.what());
    note_damage(error, filters);
  } catch (const std::exception& error) {
    // Neither a bad file nor a lack of memory for it may end a daemon that has a good whitelist.
    if (is_first) throw;
    fault = printable(error.what());
  }
  if (filters.empty()) filters.push_back({source.name, nullptr});
  if (is_first) {
    const bool only_one = request.wanted.whitelists.size() == 1;
    loaded.lines.push_back(
        {true, fmt::format("starting without {}: {}",
                           only_one ? "a whitelist, all mail is sent to the deeper checks until its file is there"
                                    : "whitelist " + source.name,
                           fault)});
    return add(filters);
  }
  for (NamedFilter& each : filters) each.awaits_pair = !source.store.empty();
  if (only_replaced) fault = fmt::format("whitelist {} is there and cannot be used: {}", source.name, fault);
  loaded.refused.push_back(std::move(fault));
  if (known == nullptr) loaded.are_usable = false;
  add(filters);
}

std::vector<NamedFilter> ListLoader::read_whitelist(const Request& request, const WhitelistSource& source,
                                                    const std::vector<NamedFilter>& in_use, std::vector<Line>& lines) {
  const bool is_first = request.known == nullptr;
  const std::vector<NamedFilter> reusable =
      request.whitelists == ReadWhitelists::replaced ? in_use : std::vector<NamedFilter>();
  const Clock::time_point start = Clock::now();
  tried_.insert_or_assign(source.path, files_of(source));
  // At the start no mail is served yet.
  std::vector<NamedFilter> loaded = open_whitelist(source, request.wanted.lock_memory,
                                                   is_first ? FilterCheck::all : FilterCheck::all_when_idle, reusable);
  const double seconds = seconds_since(start);
  if (!is_first && !request.wanted.allow_shrunken_whitelist) require_not_shrunken(source, in_use, loaded);
  for (const NamedFilter& each : loaded) {
    if (std::ranges::find(reusable, each.filter, &NamedFilter::filter) != reusable.end()) continue;
    lines.push_back({false, fmt::format("loaded {}, {}in {:.3f} s", each.filter->description(),
                                        request.wanted.lock_memory ? "locked in memory, " : "", seconds)});
  }
  if (const auto& manifest = loaded.front().manifest) {
    lines.push_back({false, fmt::format("whitelist {} is number {} of list {}, which holds until {}", source.name,
                                        manifest->manifest.number, manifest->manifest.list,
                                        date_text(manifest->manifest.holds_until))});
    try {
      remember_taken(source, *manifest);
    } catch (const BloomgateError& error) {
      lines.push_back({true, fmt::format("taken-manifests: {}: after a restart an older state of whitelist {} could be "
                                         "taken",
                                         printable(error.what()), source.name)});
    }
  }
  if (is_folder(source.path)) {
    lines.push_back({false, fmt::format("layers of whitelist {}: {}", source.name, loaded.size())});
  }
  return loaded;
}

}  // namespace bloomgate
