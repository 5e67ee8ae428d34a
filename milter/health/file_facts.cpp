#include "milter/health/file_facts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "config/update_faults.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/file_format.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/layer_folder.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/lists/taken_manifests.hpp"
#include "milter/lists/whitelist_files.hpp"

namespace bloomgate {
namespace {

// Of a folder nothing: its layers come and go, and share entries.
std::optional<std::uint64_t> entries_of_generation_before(const std::string& path) {
  if (is_folder(path)) return std::nullopt;
  try {
    return entries_of(MappedFilter(generation_path(path, 1)).header());
  } catch (const BloomgateError&) {
    return std::nullopt;  // no file that could be put back
  }
}

WhitelistFacts facts_of_source(const WhitelistSource& source) {
  try {
    return whitelist_facts(source, load_whitelist_files(source, false, FilterCheck::header));
  } catch (const BloomgateError& error) {
    WhitelistFacts facts = whitelist_facts(source, {});
    facts.faults = {error.what()};
    return facts;
  }
}

ExactListFacts facts_of_list(const NamedExactList& list, const std::string& path) {
  ExactListFacts facts = {.name = list.name, .path = path};
  try {
    const ExactListReading reading = load_exact_list(path, list.of);
    facts.left_out = reading.bad_line_count;
    if (!reading.bad_lines.empty()) {
      const BadLine& first = reading.bad_lines.front();
      facts.first_left_out = fmt::format("line {} of {}: {}", first.number, path, first.text);
    }
  } catch (const BloomgateError& error) {
    facts.fault = error.what();
  }
  return facts;
}

}  // namespace

std::vector<std::string> store_faults(const LoadedFilter& whitelist) {
  std::vector<std::string> faults;
  if (whitelist.store() == nullptr) return faults;
  const std::string path = printable(whitelist.store()->path());
  if (whitelist.store_had(Confirmation::damaged)) {
    faults.push_back("damaged: " + path +
                     " has a bad page; its senders are sent to the deeper checks until a good pair is loaded");
  }
  if (whitelist.store_had(Confirmation::unreadable)) {
    faults.push_back("damaged: " + path + " cannot be read everywhere; what is there is sent to the deeper checks");
  }
  if (whitelist.store_had(Confirmation::timeout) || whitelist.store_had(Confirmation::busy)) {
    faults.push_back("slow: " + path +
                     " did not always answer within confirm-timeout; such messages were sent to the deeper checks");
  }
  return faults;
}

WhitelistFacts whitelist_facts(const WhitelistSource& source, std::span<const NamedFilter> filters) {
  WhitelistFacts facts = {.name = source.name, .path = source.path};
  for (const NamedFilter& each : filters) {
    if (!each.filter) continue;
    if (each.manifest) {
      facts.published = each.manifest->manifest.made;
      facts.written = std::max(facts.written.value_or(*facts.published), *facts.published);
      facts.holds_until = each.manifest->manifest.holds_until;
      facts.used_until = used_until(each.manifest->manifest, source);
    }
    const LoadedFilter& filter = *each.filter;
    facts.entries += entries_of(filter.header());
    if (filter.damage() != Damage::none) {
      facts.faults.push_back(fmt::format("{} {}; it lists nobody until a good file is loaded", filter.path(),
                                         damage_text(filter.damage())));
    }
    std::ranges::move(store_faults(filter), std::back_inserter(facts.store_faults));
    if (!filter.header().knows_sender_domains()) {
      facts.lack_of_domains.push_back(
          fmt::format("{} ({})", lack_of_sender_domains(filter.store() != nullptr), filter.path()));
    }
    struct stat status = {};
    if (fstat(filter.file().descriptor(), &status) == 0) {
      const auto written = std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec);
      facts.written = std::max(facts.written.value_or(written), written);
    }
  }
  const bool is_loaded =
      !filters.empty() && std::ranges::all_of(filters, [](const NamedFilter& each) { return each.filter != nullptr; });
  if (!is_loaded) facts.faults.push_back("it is not loaded: it lists nobody");
  struct stat status = {};
  facts.is_gone = is_loaded && stat(source.path.c_str(), &status) != 0 && errno == ENOENT;
  facts.entries_before = entries_of_generation_before(source.path);
  facts.update_faults = update_faults(source.path);
  return facts;
}

HealthFacts facts_of_files(const DaemonCommand& command) {
  HealthFacts facts = {
      .config_path = command.config_path, .options = command.options, .given = command.given, .whitelists = {}};
  for (const WhitelistSource& source : command.options.whitelists) facts.whitelists.push_back(facts_of_source(source));
  for (const NamedExactList& each : kExactLists) {
    const std::string& path = command.options.*each.path;
    if (!path.empty()) facts.exact_lists.push_back(facts_of_list(each, path));
  }
  return facts;
}

}  // namespace bloomgate
