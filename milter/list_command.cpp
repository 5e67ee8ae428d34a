#include "milter/list_command.hpp"

#include <sysexits.h>

#include <algorithm>

#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "milter/lists/list_file_edit.hpp"

namespace bloomgate {
namespace {

const std::string& option_of(ListName list, const DaemonOptions& options) {
  switch (list) {
    case ListName::extra:
      return options.extra;
    case ListName::opt_out:
      return options.opt_out;
    case ListName::revoked:
      break;
  }
  return options.revoked;
}

const std::string& path_of(const DaemonCommand& command) {
  const ListName list = command.list.spec->list;
  const std::string& path = option_of(list, command.options);
  if (!path.empty()) return path;
  const std::string name(list_option(list));
  throw config_error({command.config_path}, name,
                     "no file is set for this list; write '" + name + " = /etc/bloomgate/" + name +
                         ".txt' there, make the file (install -m 644 /dev/null /etc/bloomgate/" + name +
                         ".txt), and restart the daemon");
}

std::string sentence(const ListCommand& command, const EditedEntry& edited) {
  const std::string list(list_option(command.spec->list));
  std::string text = edited.entry;
  if (!command.spec->takes_out) {
    text += edited.has_changed ? ": is in the list " + list + " now" : ": was in the list " + list + " already";
  } else {
    text += edited.has_changed ? ": is no longer in the list " + list : ": was not in the list " + list;
  }
  if (!edited.covered_by.empty()) text += ", but " + edited.covered_by + " is, and covers it";
  return printable(text);
}

std::string json_of(const ListCommand& command, const std::string& path, const EditedList& edited) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < edited.entries.size(); ++i) {
    const EditedEntry& entry = edited.entries[i];
    entries.push_back({{"given", printable(command.entries[i])},
                       {"entry", entry.entry},
                       {"changed", entry.has_changed},
                       {"covered_by", entry.covered_by}});
  }
  const Json all = {{"command", command.spec->name},
                    {"list", list_option(command.spec->list)},
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
  const std::string& path = path_of(command);
  const ListOf of = asked.spec->list == ListName::opt_out ? ListOf::recipients : ListOf::senders;
  const std::vector<Entry> entries = entries_of_words(asked.entries, of);
  const EditedList edited =
      edit_list_file(path, entries, asked.spec->takes_out ? ListChange::take_out : ListChange::put_in,
                     separators_of(asked.spec->list, command.options), of);
  if (asked.json) {
    out << json_of(asked, path, edited) << '\n';
  } else {
    for (const EditedEntry& each : edited.entries) out << sentence(asked, each) << '\n';
    out << printable(path) << ": " << edited.size << (edited.size == 1 ? " entry\n" : " entries\n");
  }
  const bool some_stay =
      std::ranges::any_of(edited.entries, [](const EditedEntry& each) { return !each.covered_by.empty(); });
  return some_stay ? 1 : EX_OK;
}

}  // namespace bloomgate
