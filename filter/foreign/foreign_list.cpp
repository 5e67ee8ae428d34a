#include "filter/foreign/foreign_list.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "filter/address/address.hpp"
#include "filter/address/domain_tree.hpp"
#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/ingest/postfix_map_format.hpp"

namespace bloomgate {
namespace {

constexpr std::array<std::string_view, kForeignKinds> kNames = {"spamassassin", "rspamd",    "postfix", "exim",
                                                                "ldif",         "microsoft", "amavis"};

// access(5): `.domain` matches the subdomains. `domain` matches the domain, and by default its subdomains too; the
// entry lists the domain alone.
SenderEntry entry_of_access_key(std::string_view key) {
  if (key.find('@') != std::string_view::npos) return entry_of_text(std::string(key));
  if (!key.starts_with('.')) return entry_of_domain(key, false);
  SenderEntry entry = entry_of_domain(key.substr(1), true);
  if (!entry.text.empty()) entry.width = Width::with_domain;
  return entry;
}

// Uses the reader of `bloomgate build --format postfix-map`. For a key whose value does not accept mail, that reader
// returns a blank line.
void read_postfix(std::string_view text, ForeignList& list) {
  const PostfixMapFormat format;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    // A line that begins with white space continues the value before it.
    if (line.empty() || line.front() == '#' || kBlanks.find(line.front()) != std::string_view::npos) continue;
    const std::string_view key = line.substr(0, line.find_first_of(kBlanks));
    const ListLine read = format.read({}, line, {});
    if (read.entry.kind() == EntryKind::blank) {
      list.block(number, line, entry_of_access_key(key), "its value does not accept mail");
    } else if (read.entry.kind() == EntryKind::rejected) {
      list.leave_out(number, line, read.fault.name);
    } else {
      list.take(number, line, entry_of_access_key(key), true);
    }
  }
}

bool is_of_spamassassin(std::string_view line) noexcept {
  for (const std::string_view start : {"un", "def_"}) {
    if (line.starts_with(start)) line.remove_prefix(start.size());
  }
  return std::ranges::any_of(std::array<std::string_view, 4>{"welcomelist_", "whitelist_", "blocklist_", "blacklist_"},
                             [&](std::string_view word) { return line.starts_with(word); });
}

bool has_field(std::string_view line, std::string_view name) noexcept {
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find_first_of(",;\t"));
    if (ascii::trimmed(field, " \"") == name) return true;
    line.remove_prefix(std::min(field.size() + 1, line.size()));
  }
  return false;
}

// What an entry lists, without its signer: its canonical key, and the domain in it.
struct Reach {
  std::string key;
  std::string domain;

  explicit Reach(std::string_view text)
      : key(canonicalize_list_line(text.substr(0, text.find(" signed-by "))).key()),
        domain(key.substr(key.rfind('@') + 1)) {
    if (domain.starts_with('.')) domain.erase(0, 1);
  }
};

}  // namespace

std::string_view name_of(ForeignKind kind) noexcept {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<ForeignKind> foreign_kind_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ForeignKind>(found - kNames.begin());
}

std::optional<ForeignKind> recognise(std::string_view text) noexcept {
  text = ascii::without_byte_order_mark(text);
  while (!text.empty()) {
    const std::string_view line = ascii::trimmed(take_line(text), " \t");
    if (line.starts_with('#')) continue;
    if (is_of_spamassassin(line)) return ForeignKind::spamassassin;
    if (has_field(line, "Value") && has_field(line, "Action")) return ForeignKind::microsoft;
    if (line.starts_with("amavis\t")) return ForeignKind::amavis;
    if (line.starts_with("dn:") || line == "version: 1") return ForeignKind::ldif;
  }
  return std::nullopt;
}

void ForeignList::take(std::uint64_t line, std::string_view item, SenderEntry entry, bool was_unproven,
                       std::string_view form) {
  if (entry.text.empty()) return leave_out(line, item, entry.fault);
  taken_by_item_[std::string(form) + ' ' + ascii::lower_case(item)].push_back(taken_.size());
  taken_.push_back({line, std::string(item), std::move(entry.text), entry.width, was_unproven});
}

void ForeignList::leave_out(std::uint64_t line, std::string_view item, std::string_view reason) {
  left_out_.push_back({line, std::string(item), reason});
}

void ForeignList::block(std::uint64_t line, std::string_view item, const SenderEntry& entry, std::string_view reason) {
  leave_out(line, item, reason);
  if (!entry.text.empty()) blocked_.push_back(entry.text);
}

void ForeignList::take_back(std::uint64_t line, std::string_view item, std::string_view form) {
  const auto found = taken_by_item_.find(std::string(form) + ' ' + ascii::lower_case(item));
  if (found == taken_by_item_.end()) return leave_out(line, item, "it takes back what no line before it lists");
  for (const std::size_t index : found->second) taken_[index].entry.clear();
  taken_by_item_.erase(found);
}

void ForeignList::settle() {
  std::erase_if(taken_, [](const Taken& taken) { return taken.entry.empty(); });
  taken_by_item_.clear();
  if (blocked_.empty()) return;
  // Keys: of every entry that lists a blocked sender, and of the blocked domains, below which others may be listed.
  std::set<std::string, std::less<>> covering;
  std::set<std::string, std::less<>> blocked_domains;
  for (const std::string& text : blocked_) {
    const Reach blocked(text);
    covering.insert(blocked.key);
    covering.insert('@' + blocked.domain);
    find_domain_tree(blocked.domain, [&](std::string_view tree) {
      covering.emplace(tree);
      return false;
    });
    if (blocked.key.starts_with('@')) blocked_domains.insert(blocked.key);
  }
  const auto is_blocked = [&](std::string_view key) { return blocked_domains.contains(key); };
  const auto is_covering = [&](const Taken& taken) {
    const Reach reach(taken.entry);
    return covering.contains(reach.key) || is_blocked('@' + reach.domain) ||
           !find_domain_tree(reach.domain, is_blocked).empty();
  };
  for (const Taken& taken : taken_) {
    if (is_covering(taken))
      leave_out(taken.line, taken.item, "it would also list a sender that is blocked or excepted there");
  }
  std::erase_if(taken_, is_covering);
}

void read_foreign(ForeignKind kind, std::string_view text, ForeignList& list) {
  constexpr std::array<void (*)(std::string_view, ForeignList&), kForeignKinds> kReaders = {
      read_spamassassin, read_rspamd, read_postfix, read_exim, read_directory, read_tenant, read_amavis};
  kReaders[static_cast<std::size_t>(kind)](ascii::without_byte_order_mark(text), list);
  list.settle();
}

}  // namespace bloomgate
