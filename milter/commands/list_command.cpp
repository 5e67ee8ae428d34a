#include <sysexits.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "filter/address/list_id.hpp"
#include "filter/address/pair.hpp"
#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "milter/commands/commands.hpp"
#include "milter/fields/alignment.hpp"
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

std::string sentence(const ListCommand& command, const EditedEntry& edited) {
  const std::string list(word_of(command.spec->list));
  std::string text = edited.entry;
  if (command.spec->change == ListChange::put_in) {
    text += edited.has_changed ? ": is in the list " + list + " now" : ": was in the list " + list + " already";
  } else {
    text += edited.has_changed ? ": is no longer in the list " + list
                               : ": was not in the list " + list + where_else(command);
  }
  if (!edited.covered_by.empty()) text += ", but " + edited.covered_by + " is, and covers it";
  return printable(text);
}

// What an entry that was put in may mean otherwise than it was meant; empty: nothing. `bloomgate build` warns of more.
std::string warning_of(const Entry& entry, ListName list) {
  std::string_view key = entry.key();
  if (is_mailing_list_key(key)) return {};
  if (entry.is_pair()) key = sides_of_pair(key).sender;
  if (entry.kind() == EntryKind::with_signer) key = sides_of_signer_key(key).entry;
  std::string_view domain = key.substr(key.rfind('@') + 1);
  if (domain.starts_with('.')) domain.remove_prefix(1);
  if (domain.starts_with('[')) return {};
  if (domain.find('.') == std::string_view::npos) {
    return "its domain has no dot, which is right for a name of your own network only";
  }
  const bool lists_domain = list == ListName::extra && key.starts_with('@');
  if (lists_domain && organizational_domain(domain).empty()) {
    return "it is a public suffix: anybody can have a domain below it; list single domains";
  }
  return {};
}

std::string warning_of(const ListCommand& command, const Entry& entry) {
  return command.spec->change == ListChange::put_in ? warning_of(entry, command.spec->list) : std::string();
}

std::string json_of(const ListCommand& command, const std::string& path, std::span<const Entry> given,
                    const EditedList& edited) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < edited.entries.size(); ++i) {
    const EditedEntry& entry = edited.entries[i];
    entries.push_back({{"given", printable(command.entries[i])},
                       {"entry", entry.entry},
                       {"changed", entry.has_changed},
                       {"covered_by", entry.covered_by},
                       {"warning", warning_of(command, given[i])}});
  }
  const Json all = {{"command", command.spec->name},
                    {"list", word_of(command.spec->list)},
                    {"file", path},
                    {"size", edited.size},
                    {"entries", entries}};
  return all.dump(2);
}

// As the daemon looks an address up (exact_list.hpp). What the separators of the filters are is not known here.
TagSeparators separators_of(ListName list, const DaemonOptions& options) {
  if (list == ListName::extra) return {};
  const TagSeparators plus = *TagSeparators::parse("+");
  if (list == ListName::revoked) return plus;
  return plus | TagSeparators::parse(options.recipient_delimiter).value_or(TagSeparators());
}

}  // namespace

int edit_list(const DaemonCommand& command, std::ostream& out) {
  const ListCommand& asked = command.list;
  const NamedExactList& list = *std::ranges::find(kExactLists, word_of(asked.spec->list), &NamedExactList::name);
  const std::string& path = path_of(list, command);
  const std::vector<Entry> entries = entries_of_words(asked.entries, list.of);
  require_own_list(list, path, command);
  const EditedList edited =
      edit_list_file(path, entries, asked.spec->change, separators_of(asked.spec->list, command.options), list.of);
  if (asked.json) {
    out << json_of(asked, path, entries, edited) << '\n';
  } else {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      out << sentence(asked, edited.entries[i]) << '\n';
      if (const std::string warning = warning_of(asked, entries[i]); !warning.empty()) {
        out << "  warning: " << warning << '\n';
      }
    }
    out << printable(path) << ": " << edited.size << (edited.size == 1 ? " entry\n" : " entries\n");
  }
  const bool some_stay =
      std::ranges::any_of(edited.entries, [](const EditedEntry& each) { return !each.covered_by.empty(); });
  return some_stay ? 1 : EX_OK;
}

}  // namespace bloomgate
