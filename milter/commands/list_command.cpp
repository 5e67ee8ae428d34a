#include <spdlog/fmt/fmt.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/tag_separators.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/broad/broad_domains.hpp"
#include "milter/commands/commands.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/list_file_edit.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/lists/published_lists.hpp"

namespace bloomgate {
namespace {

const std::string& path_of(const NamedExactList& list, const DaemonCommand& command) {
  const std::string& path = command.options.*list.path;
  if (!path.empty()) return path;
  const std::string name(list.name);
  throw config_error({command.config_path}, name,
                     "no file is set for this list; write '" + name + " = /etc/bloomgate/" + name +
                         ".txt' there, make the file (install -m 644 /dev/null /etc/bloomgate/" + name +
                         ".txt), and restart the daemon");
}

// The daemon would refuse the edited file, and `bloomgate pull` would put the published one back.
void require_own_list(const NamedExactList& list, const std::string& path, const DaemonCommand& command) {
  const WhitelistSource* const source = named_with(command.options, path);
  if (source == nullptr) return;
  const std::string name(list.name);
  const bool counts_beside = list.part == &ListParts::revoked;
  throw config_error(
      {command.config_path}, name,
      path + " is published with whitelist " + source->name +
          ", and the daemon uses it only as the manifest there says. Nothing was changed; change it where "
          "it is published (edit it, then bloomgate sign --key KEYFILE FOLDER), or name a list of your "
          "own here: " +
          name + " = /etc/bloomgate/" + name + ".txt" +
          (counts_beside ? ", which counts beside what is published" : ""));
}

// What to do about an entry that a list does not have.
std::string where_else(const ListCommand& command) {
  if (command.spec->list != ListName::extra) return {};
  return "; if a whitelist lists it, 'bloomgate-milter revoke' stops it";
}

// Whether another entry of the list still counts for what was removed.
bool stays(const EditedEntry& edited) {
  return !edited.covered_by.empty() || !edited.conditional.empty();
}

std::string sentence(const ListCommand& command, const EditedEntry& edited) {
  const std::string list(word_of(command.spec->list));
  std::string text = edited.entry;
  if (command.spec->change == ListChange::put_in) {
    text += edited.has_changed ? ": is in the list " + list + " now" : ": was in the list " + list + " already";
  } else {
    text += (edited.has_changed ? ": is no longer in the list " : ": was not in the list ") + list;
    if (!stays(edited) && !edited.has_changed) text += where_else(command);
  }
  if (!edited.covered_by.empty()) text += ", but " + edited.covered_by + " is, and covers it";
  if (!edited.conditional.empty()) {
    text += fmt::format(", but {} {}; to undo that, too: bloomgate-milter {}", fmt::join(edited.conditional, " and "),
                        edited.conditional.size() == 1 ? "is" : "are", command.spec->name);
    for (const std::string& entry : edited.conditional) text += ' ' + shell_word(entry, "ENTRY");
  }
  return printable(text);
}

// The files of the mailbox providers and of the services that sign for anybody: those beside the configuration, or the
// usual ones.
BroadDomains broad_domains_beside(const std::string& config_path) {
  const std::filesystem::path folder = std::filesystem::path(config_path).parent_path();
  const auto beside = [&](const char* name) {
    const std::string path = folder / name;
    return access(path.c_str(), F_OK) == 0 ? path : std::string();
  };
  return usual_broad_domains({beside("free-mail-domains.txt"), beside("shared-signers.txt")},
                             [](std::string_view line) { std::cerr << printable(line) << '\n'; });
}

Breadth breadth_of(const Entry& entry, const BroadDomains& domains) {
  const bool is_address = entry.kind() == EntryKind::address || entry.kind() == EntryKind::pair;
  return is_address ? BroadDomains::of_address(entry.kind(), entry.key()) : domains.of(entry);
}

// As the daemon looks an address up (exact_list.hpp). What the separators of the filters are is not known here.
TagSeparators separators_of(ListName list, const DaemonOptions& options) {
  if (list == ListName::extra) return {};
  if (list == ListName::revoked) return kUsualTagSeparators;
  return kUsualTagSeparators | TagSeparators::parse(options.recipient_delimiter).value_or(TagSeparators());
}

// What `revoked` says of senders that are put into `extra`: it comes first. Throws what load_exact_list() throws.
void note_revoked(const DaemonCommand& command, std::span<const Entry> entries, std::vector<std::string>& warnings) {
  if (command.options.revoked.empty() || access(command.options.revoked.c_str(), F_OK) != 0) return;
  const ExactList revoked = load_exact_list(command.options.revoked).list;
  const TagSeparators separators = separators_of(ListName::revoked, command.options);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind() != EntryKind::address || !revoked.find(entries[i], separators).is_listed()) continue;
    const std::string key(entries[i].key());
    warnings[i] += (warnings[i].empty() ? "" : "; ") + printable(key) +
                   " is on the list revoked, so its mail is still checked. To undo that: bloomgate-milter unrevoke " +
                   shell_word(key, "ENTRY");
  }
}

// What each entry that was put in may mean otherwise than it was meant, as `bloomgate build` warns; empty: nothing. Who
// is revoked or has opted out may be many.
std::vector<std::string> warnings_of(const DaemonCommand& command, std::span<const Entry> entries) {
  std::vector<std::string> warnings(entries.size());
  const ListCommandSpec& asked = *command.list.spec;
  if (asked.change != ListChange::put_in) return warnings;
  const bool lists = asked.list == ListName::extra;
  const BroadDomains domains = lists ? broad_domains_beside(command.config_path) : BroadDomains();
  std::ranges::transform(entries, warnings.begin(), [&](const Entry& entry) {
    const Breadth breadth = breadth_of(entry, domains);
    const bool warns = lists ? breadth != Breadth::usual : breadth == Breadth::dotless;
    return warns ? printable(breadth_text(breadth, entry.key())) : std::string();
  });
  if (lists) note_revoked(command, entries, warnings);
  return warnings;
}

std::string json_of(const ListCommand& command, const std::string& path, std::span<const std::string> warnings,
                    const EditedList& edited) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < edited.entries.size(); ++i) {
    const EditedEntry& entry = edited.entries[i];
    Json conditional = Json::array();
    for (const std::string& each : entry.conditional) conditional.push_back(printable(each));
    entries.push_back({{"given", printable(command.entries[i])},
                       {"entry", entry.entry},
                       {"changed", entry.has_changed},
                       {"covered_by", entry.covered_by},
                       {"conditional", conditional},
                       {"warning", warnings[i]}});
  }
  const Json all = {{"command", command.spec->name},
                    {"list", word_of(command.spec->list)},
                    {"file", path},
                    {"size", edited.size},
                    {"entries", entries}};
  return all.dump(2);
}

}  // namespace

int edit_list(const DaemonCommand& command, std::ostream& out) {
  const ListCommand& asked = command.list;
  const NamedExactList& list = *std::ranges::find(kExactLists, word_of(asked.spec->list), &NamedExactList::name);
  const std::string& path = path_of(list, command);
  const std::vector<Entry> entries = entries_of_words(asked.entries, list.of);
  require_own_list(list, path, command);
  const std::vector<std::string> warnings = warnings_of(command, entries);
  const EditedList edited =
      edit_list_file(path, entries, asked.spec->change, separators_of(asked.spec->list, command.options), list.of);
  if (asked.json) {
    out << json_of(asked, path, warnings, edited) << '\n';
  } else {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      out << sentence(asked, edited.entries[i]) << '\n';
      if (!warnings[i].empty()) out << "  warning: " << warnings[i] << '\n';
    }
    out << printable(path) << ": " << format_counted(edited.size, "entry", "entries") << '\n';
  }
  return std::ranges::any_of(edited.entries, stays) ? 1 : EX_OK;
}

}  // namespace bloomgate
