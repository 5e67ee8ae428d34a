#include "milter/health/file_facts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "config/update_faults.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/file_format.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/layer_folder.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/lists/published_lists.hpp"
#include "milter/lists/taken_manifests.hpp"
#include "milter/lists/whitelist_files.hpp"

namespace bloomgate {
namespace {

// The last second that a time in nanoseconds can represent, in the year 2262; the date of a manifest may be later.
constexpr auto kLastSecond = std::chrono::floor<std::chrono::seconds>(WhitelistFacts::Time::max());

// Nothing for a folder: its layers come and go, and share entries.
std::optional<std::uint64_t> entries_of_generation_before(const std::string& path) {
  if (is_folder(path)) return std::nullopt;
  try {
    return entries_of(MappedFilter(generation_path(path, 1)).header());
  } catch (const BloomgateError&) {
    return std::nullopt;  // there is no file that could be restored
  }
}

WhitelistFacts facts_of_source(const WhitelistSource& source, std::vector<NamedFilter>& all) {
  WhitelistFacts facts;
  try {
    std::vector<NamedFilter> filters = load_whitelist_files(source, false, FilterCheck::header);
    facts = whitelist_facts(source, filters);
    std::ranges::move(filters, std::back_inserter(all));
  } catch (const BloomgateError& error) {
    facts = whitelist_facts(source, {});
    facts.faults = {error.what()};
  }
  facts.not_remembered = fault_of_memory(source);
  return facts;
}

// Nothing if no such list is configured or published.
std::optional<ExactListFacts> facts_of_list(const DaemonOptions& options, const NamedExactList& list,
                                            const std::vector<NamedFilter>& whitelists) {
  ExactListFacts facts = {.name = list.name, .path = options.*list.path};
  try {
    const std::optional<ReadList> read = read_configured_list(options, list, whitelists);
    if (!read) return std::nullopt;
    if (facts.path.empty()) facts.path = read->texts.front().path;
    for (const ReadList::Text& text : read->texts) {
      facts.left_out += text.bad_line_count;
      if (text.bad_lines.empty() || !facts.first_left_out.empty()) continue;
      const BadLine& first = text.bad_lines.front();
      facts.first_left_out = fmt::format("line {} of {}: {}", first.number, text.path, first.text);
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
  WhitelistFacts facts = {.name = source.name, .path = source.path, .needs_manifest = !source.trusted_keys.empty()};
  for (const NamedFilter& each : filters) {
    if (!each.filter) continue;
    if (each.manifest) {
      facts.published = each.manifest->manifest.made;
      const auto made = std::min(*facts.published, kLastSecond);
      facts.written = std::max(facts.written.value_or(made), WhitelistFacts::Time(made));
      facts.not_remembered = each.not_remembered;
      facts.holds_until = each.manifest->manifest.holds_until;
      facts.used_until = used_until(each.manifest->manifest, source);
    }
    const LoadedFilter& filter = *each.filter;
    facts.entries += entries_of(filter.header());
    if (filter.damage() != Damage::none) {
      facts.faults.push_back(fmt::format("{} {}; it lists no sender until a good file is loaded", filter.path(),
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
  if (!is_loaded) facts.faults.push_back("it is not loaded: it lists no sender");
  struct stat status = {};
  facts.is_gone = is_loaded && stat(source.path.c_str(), &status) != 0 && errno == ENOENT;
  facts.entries_before = entries_of_generation_before(source.path);
  facts.update_faults = update_faults(source.path);
  return facts;
}

HealthFacts facts_of_files(const DaemonCommand& command) {
  HealthFacts facts = {
      .config_path = command.config_path, .options = command.options, .given = command.given, .whitelists = {}};
  std::vector<NamedFilter> filters;
  for (const WhitelistSource& source : command.options.whitelists) {
    facts.whitelists.push_back(facts_of_source(source, filters));
  }
  for (const NamedExactList& each : kExactLists) {
    if (auto found = facts_of_list(command.options, each, filters)) facts.exact_lists.push_back(*std::move(found));
  }
  return facts;
}

}  // namespace bloomgate
