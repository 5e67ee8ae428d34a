#include "milter/commands/conditional_entries.hpp"

#include <string>
#include <vector>

#include "filter/base/printable.hpp"
#include "milter/policy/look_up.hpp"

namespace bloomgate {
namespace {

std::vector<std::string> entries_of_extra(const std::string& sender, const LoadedLists& lists) {
  const ExactList* const extra = lists.parts().extra.list.get();
  if (extra == nullptr) return {};
  std::vector<std::string> entries = extra->conditional_entries(mailbox_of(sender), separators_of_extra(lists.lists()));
  for (std::string& each : entries) each = printable(each);
  return entries;
}

// A whitelist that is a folder has one filter for each layer, named "whitelist/layer".
bool is_of(const WhitelistSource& source, const NamedFilter& named) {
  return named.name.substr(0, named.name.find('/')) == source.name;
}

}  // namespace

void add_conditional_entries(KnownDecision& known, const DaemonOptions& options, const LoadedLists& lists) {
  if (known.reason != Reason::not_listed) return;
  known.conditional.sender = known.header_from.empty() ? known.sender : known.header_from;
  known.conditional.of_extra = entries_of_extra(known.conditional.sender, lists);
  for (const WhitelistSource& source : options.whitelists) {
    ConditionalEntries::Whitelist whitelist = {.path = printable(source.path)};
    for (const NamedFilter& each : lists.parts().whitelists) {
      if (each.filter == nullptr || !is_of(source, each)) continue;
      whitelist.has_signers = whitelist.has_signers || each.filter->view().holds_signers();
      whitelist.has_pairs = whitelist.has_pairs || each.filter->view().holds_pairs();
    }
    if (whitelist.has_signers || whitelist.has_pairs) known.conditional.whitelists.push_back(whitelist);
  }
}

}  // namespace bloomgate
