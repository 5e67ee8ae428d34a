#include "milter/daemon/list_loader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_paths.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lists/published_lists.hpp"
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

// The path of the manifest, if keys are trusted. Empty if the whitelist is a dangling link: loading it reports that.
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

// Whether the file's own content was refused, rather than for lack of resources or because of another file.
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

// A loss of nine tenths is not a normal daily change. For layers in use the largest one counts, since several may hold
// the same entries. Throws BloomgateError{bad_input}, which does not mark the file in use as damaged.
void require_not_shrunken(const WhitelistSource& source, const std::vector<NamedFilter>& in_use,
                          const std::vector<NamedFilter>& loaded) {
  constexpr std::uint64_t kMostTimesFewer = 10;
  std::uint64_t before = 0;
  for (const NamedFilter& each : in_use) before = std::max(before, entries_in(each));
  std::uint64_t now = 0;
  for (const NamedFilter& each : loaded) now += entries_in(each);
  if (now >= before / kMostTimesFewer + (before % kMostTimesFewer == 0 ? 0 : 1)) return;
  throw BloomgateError(ErrorCode::bad_input,
                       fmt::format("{} has {}, less than a tenth of the {} in use; if that is meant, set "
                                   "allow-shrunken-whitelist = yes and reload",
                                   source.path, format_counted(now, "entry", "entries"), format_count(before)),
                       {.path = source.path});
}

// The source from which the wanted whitelist was loaded, if it is in use. With other keys it is another list: that a
// file is not signed by the new key does not damage the one in use.
const WhitelistSource* known_source(const ListLoader::Request& request, const WhitelistSource& wanted) {
  if (request.known == nullptr) return nullptr;
  const auto found = std::ranges::find_if(request.known->whitelists, [&wanted](const WhitelistSource& each) {
    return each.path == wanted.path && each.store == wanted.store && each.trusted_keys == wanted.trusted_keys;
  });
  return found == request.known->whitelists.end() ? nullptr : &*found;
}

// The filters of that whitelist, under the whitelist's new name.
std::vector<NamedFilter> filters_in_use(const ListParts& in_use, const std::string& name, const std::string& new_name) {
  std::vector<NamedFilter> filters;
  for (const NamedFilter& each : in_use.whitelists) {
    if (configured_name(each.name) != name) continue;
    filters.push_back(each);
    filters.back().name.replace(0, name.size(), new_name);
  }
  return filters;
}

// Both files of a pair may be replaced between opening the one and the other; then the next try opens both new files.
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

void add_lines(const NamedExactList& place, const ReadList& read, double seconds,
               std::vector<ListLoader::Line>& lines) {
  for (const ReadList::Text& text : read.texts) {
    for (const BadLine& line : text.bad_lines) {
      lines.push_back(
          {true, fmt::format("{}:{}: {}; the line is left out", printable(text.path), line.number, line.text)});
    }
    if (text.bad_line_count > text.bad_lines.size()) {
      lines.push_back({true, fmt::format("{}: {}", printable(text.path),
                                         format_counted(text.bad_line_count - text.bad_lines.size(),
                                                        "more line is not an entry and is left out",
                                                        "more lines are not entries and are left out"))});
    }
    const bool is_first = &text == &read.texts.front();
    lines.push_back(
        {false, fmt::format("loaded {} {}{} of {} in {:.3f} s ({})", text.entries, is_first ? "" : "more ",
                            word_for(text.entries, "entry", "entries"), printable(text.path), seconds, place.name)});
  }
}

std::optional<ExactListPart> read_exact(const ListLoader::Request& request, const NamedExactList& place,
                                        ListLoader::Loaded& loaded) {
  const Clock::time_point start = Clock::now();
  const std::optional<ReadList> read = read_configured_list(request.wanted, place, loaded.lists.whitelists);
  if (!read) return std::nullopt;
  add_lines(place, *read, seconds_since(start), loaded.lines);
  ExactListPart part = {.list = read->list};
  for (const ReadList::Text& text : read->texts) part.left_out += text.bad_line_count;
  return part;
}

// Called after the whitelists are loaded, since these may publish a part of the list.
void load_exact(const ListLoader::Request& request, const NamedExactList& place, ListLoader::Loaded& loaded) {
  const std::string& path = request.wanted.*place.path;
  const bool is_first = request.known == nullptr;
  const bool is_known = !is_first && request.known->*place.path == path;
  ExactListPart& part = loaded.lists.*place.part;
  try {
    const std::optional<ExactListPart> read = read_exact(request, place, loaded);
    if (!read) return;
    part = *read;
    const ExactListPart before = is_known ? request.in_use.*place.part : ExactListPart{};
    if (const std::size_t entries = before.list ? before.list->size() : 0; entries != 0 && part.list->size() == 0) {
      loaded.lines.push_back({true, fmt::format("{} had {} and is empty now ({})", printable(path),
                                                format_counted(entries, "entry", "entries"), place.name)});
    }
  } catch (const std::exception& error) {
    const std::string fault = printable(error.what());
    if (is_first && !is_awaited(request.wanted, place, loaded.lists.whitelists)) throw;
    if (is_first) {
      loaded.lines.push_back(
          {true, fmt::format("starting without the list {}, which comes with a whitelist: {}", place.name, fault)});
    } else {
      (is_known ? loaded.lost : loaded.refused).push_back(fault);
    }
    if (is_first || is_known) {
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
    if (std::string revoked = place_of_revoked(source); !revoked.empty()) paths.push_back(std::move(revoked));
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
    const auto is_too_old = [&](const NamedFilter& each) {
      return each.manifest && configured_name(each.name) == source.name &&
             is_overdue(each.manifest->manifest, source, now);
    };
    const auto first = std::ranges::find_if(filters, is_too_old);
    if (first == filters.end()) continue;
    found = true;
    loaded.lines.push_back(
        {true, fmt::format("whitelist {} is not used any longer: it held until {}, it is {} by the clock of this "
                           "machine, and nothing newer has come; if the clock is wrong, the whitelist is used again as "
                           "soon as the clock is right",
                           source.name, date_text(first->manifest->manifest.holds_until),
                           date_text(std::chrono::floor<std::chrono::seconds>(now)))});
    overdue_.insert_or_assign(source.path, used_until(first->manifest->manifest, source));
    *first = {.name = source.name, .filter = nullptr, .revoked = first->revoked};
    std::erase_if(filters, is_too_old);
  }
  return found ? std::optional(std::move(loaded)) : std::nullopt;
}

ListLoader::Files ListLoader::files_of(const WhitelistSource& source) {
  const std::optional<FileStamp> manifest = stamp_of(place_of_manifest(source));
  if (!is_folder(source.path)) {
    return {.filter = stamp_of(source.path), .store = stamp_of(source.store), .manifest = manifest};
  }
  Files files = {.manifest = manifest, .revoked = stamp_of(place_of_revoked(source))};
  for (const Layer& layer : layers_in(source.path)) files.layers.emplace_back(layer.name, stamp_of(layer.path));
  return files;
}

bool ListLoader::is_replaced(const WhitelistSource& source, std::chrono::system_clock::time_point now) const {
  const Files files = files_of(source);
  // A whitelist whose files no longer exist stays in use.
  if (!files.are_there()) return false;
  if (const auto tried = tried_.find(source.path); tried == tried_.end() || tried->second != files) return true;
  const auto overdue = overdue_.find(source.path);
  return overdue != overdue_.end() && std::chrono::floor<std::chrono::seconds>(now) <= overdue->second;
}

// The same files may become valid again when the clock is corrected.
void ListLoader::note_if_overdue(const WhitelistSource& source) {
  if (source.trusted_keys.empty()) return;
  try {
    const auto found = read_manifest(source.path);
    if (!found || !is_overdue(found->manifest, source, std::chrono::system_clock::now())) return;
    overdue_.insert_or_assign(source.path, used_until(found->manifest, source));
  } catch (const BloomgateError&) {  // NOLINT(bugprone-empty-catch): then the manifest itself is what was refused
  }
}

std::optional<ListLoader::Loaded> ListLoader::with_remembered(const DaemonOptions& options, const ListParts& in_use) {
  Loaded loaded = {.lists = in_use};
  bool is_any = false;
  for (const WhitelistSource& source : options.whitelists) {
    std::shared_ptr<const SignedManifest> manifest;
    std::vector<NamedFilter*> filters;
    for (NamedFilter& each : loaded.lists.whitelists) {
      if (each.not_remembered.empty() || !each.manifest || configured_name(each.name) != source.name) continue;
      filters.push_back(&each);
      manifest = each.manifest;
    }
    if (!manifest) continue;
    try {
      remember_taken(source, *manifest);
    } catch (const BloomgateError&) {
      continue;  // the reason is already known
    }
    for (NamedFilter* const each : filters) each->not_remembered.clear();
    loaded.lines.push_back({false, fmt::format("taken-manifests: number {} of whitelist {} is kept now",
                                               manifest->manifest.number, source.name)});
    is_any = true;
  }
  return is_any ? std::optional(std::move(loaded)) : std::nullopt;
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
  if (request.whitelists == ReadWhitelists::none || (only_replaced && !is_replaced(source))) {
    if (const auto refused = refused_.find(source.path); refused != refused_.end()) {
      loaded.still_refused.push_back(refused->second);
    }
    return add(filters);
  }
  loaded.tried_whitelists = true;
  if (!is_first) log_->info("loading {} again", printable(source.path));
  overdue_.erase(source.path);
  refused_.erase(source.path);
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
    note_if_overdue(source);
  } catch (const std::exception& error) {
    // Neither a bad file nor a lack of memory may end a daemon that has a valid whitelist.
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
  if (known != nullptr) refused_.insert_or_assign(source.path, fault);
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
      for (NamedFilter& each : loaded) each.not_remembered = error.what();
    }
  }
  if (is_folder(source.path)) {
    lines.push_back({false, fmt::format("layers of whitelist {}: {}", source.name, loaded.size())});
  }
  return loaded;
}

}  // namespace bloomgate
