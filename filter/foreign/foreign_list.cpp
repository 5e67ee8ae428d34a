#include "filter/foreign/foreign_list.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "filter/address/address.hpp"
#include "filter/address/domain_tree.hpp"
#include "filter/base/ascii.hpp"
#include "filter/foreign/foreign_lines.hpp"
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
  LogicalLines lines(text);
  while (const auto line = lines.next()) {
    const std::string_view key = std::string_view(line->text).substr(0, line->text.find_first_of(kBlanks));
    const ListLine read = format.read({}, line->text, {});
    const SenderEntry entry = entry_of_access_key(key);
    if (entry.text.empty() && is_network(key)) {
      list.leave_out(line->number, line->text, entry.fault);
    } else if (read.entry.kind() == EntryKind::blank) {
      list.block(line->number, line->text, entry, "its value does not accept mail");
    } else if (read.entry.kind() != EntryKind::rejected) {
      list.take(line->number, line->text, entry, true);
    } else {
      const bool has_value = !ascii::trimmed(std::string_view(line->text).substr(key.size()), kBlanks).empty();
      list.block(line->number, line->text, entry,
                 has_value ? "its value says more than that mail is accepted"
                           : "it has no value (bloomgate build reads a list of addresses as it is)");
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

// What an entry lists, without its signer: its canonical key, and the domain of that key.
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
    const std::string_view line = ascii::trimmed(take_foreign_line(text), " \t");
    if (line.starts_with('#')) continue;
    if (is_of_spamassassin(line)) return ForeignKind::spamassassin;
    if (has_field(line, "Value") && has_field(line, "Action")) return ForeignKind::microsoft;
    if (line.starts_with("amavis\t")) return ForeignKind::amavis;
    if (line.starts_with("dn:") || line == "version: 1") return ForeignKind::ldif;
  }
  return std::nullopt;
}

void ForeignList::begin_file() noexcept {
  ++files_;
}

void ForeignList::take(std::uint64_t line, std::string_view item, SenderEntry entry, bool was_unproven,
                       std::string_view form) {
  if (entry.text.empty()) return leave_out(line, item, entry.fault);
  if (!form.empty()) {
    taken_by_item_[std::string(form) + ' ' + ascii::lower_case(item)].push_back(taken_.size());
    taken_by_form_[std::string(form)].push_back(taken_.size());
  }
  taken_.push_back({files_ - 1, line, std::string(item), std::move(entry.text), entry.width, was_unproven});
}

void ForeignList::leave_out(std::uint64_t line, std::string_view item, std::string_view reason) {
  left_out_.push_back({files_ - 1, line, std::string(item), reason});
}

void ForeignList::block(std::uint64_t line, std::string_view item, const SenderEntry& entry, std::string_view reason) {
  if (entry.text.empty()) return block_unknown(line, item, reason);
  leave_out(line, item, reason);
  blocked_.push_back(entry.text);
}

void ForeignList::block_glob(std::uint64_t line, std::string_view item, std::string_view pattern,
                             std::string_view reason) {
  const SenderEntry entry = entry_of_glob(pattern);
  if (!entry.text.empty() && entry.width != Width::narrower) return block(line, item, entry, reason);
  PatternReach reach = reach_of_glob(pattern);
  if (reach.domain.empty()) return block_unknown(line, item, reason);
  leave_out(line, item, reason);
  constexpr std::size_t kLongestDomain = 253;  // RFC 1035, section 2.3.4; no sender has a longer one
  if (reach.domain.size() <= kLongestDomain) blocked_widely_.push_back(std::move(reach));
}

void ForeignList::block_unknown(std::uint64_t line, std::string_view item, std::string_view reason) {
  leave_out(line, item, reason);
  left_out_.back().may_block_entries = true;
}

void ForeignList::take_back(std::uint64_t line, std::string_view item, std::string_view form) {
  const auto found = taken_by_item_.find(std::string(form) + ' ' + ascii::lower_case(item));
  if (found == taken_by_item_.end()) return leave_out(line, item, "it takes back what no line before it lists");
  for (const std::size_t index : found->second) taken_[index].entry.clear();
  taken_by_item_.erase(found);
}

void ForeignList::take_back_all(std::string_view form) {
  const auto found = taken_by_form_.find(std::string(form));
  if (found == taken_by_form_.end()) return;
  for (const std::size_t index : found->second) taken_[index].entry.clear();
  taken_by_form_.erase(found);
}

namespace {

// The entries that list a blocked sender.
class Blocked {
 public:
  void add(const std::string& entry) {
    const Reach blocked(entry);
    covering_.insert(blocked.key);
    cover(blocked.domain);
    if (blocked.key.starts_with('@')) domains_.insert(blocked.key);
  }

  void add(const PatternReach& reach) {
    cover(reach.domain.substr(std::min(reach.domain.find_first_not_of('.'), reach.domain.size())));
    if (reach.is_suffix) {
      suffixes_.insert(reach.domain);
      return;
    }
    // In A-labels, like the keys.
    const Entry whole = canonicalize_list_line('@' + reach.domain);
    const bool is_domain = whole.kind() == EntryKind::domain;
    whole_domains_.insert(is_domain ? std::string(whole.key().substr(1)) : reach.domain);
    if (is_domain) cover(whole.key().substr(1));
  }

  bool has(const std::string& entry) const {
    const Reach reach(entry);
    if (covering_.contains(reach.key) || whole_domains_.contains(reach.domain)) return true;
    const auto is_blocked = [&](std::string_view key) { return domains_.contains(key); };
    if (is_blocked('@' + reach.domain) || !find_domain_tree(reach.domain, is_blocked).empty()) return true;
    // `joe+news@example.org` is also an address of joe.
    const std::size_t tag = reach.key.find('+');
    if (tag != std::string::npos && tag > 0 && covering_.contains(reach.key.substr(0, tag) + '@' + reach.domain))
      return true;
    if (suffixes_.empty()) return false;
    for (std::size_t start = 0; start < reach.domain.size(); ++start) {
      if (suffixes_.contains(std::string_view(reach.domain).substr(start))) return true;
    }
    return false;
  }

 private:
  // Covers the domain, and all trees that it is in.
  void cover(std::string_view domain) {
    covering_.insert('@' + std::string(domain));
    find_domain_tree(domain, [&](std::string_view tree) {
      covering_.emplace(tree);
      return false;
    });
  }

  using Set = std::set<std::string, std::less<>>;
  Set covering_;       // keys
  Set domains_;        // keys of blocked domains and trees: no entry at a domain in them may be listed
  Set whole_domains_;  // domains that a pattern blocks: no entry at them may be listed
  Set suffixes_;       // of domains
};

}  // namespace

void ForeignList::settle() {
  std::erase_if(taken_, [](const Taken& taken) { return taken.entry.empty(); });
  taken_by_item_.clear();
  taken_by_form_.clear();
  if (blocked_.empty() && blocked_widely_.empty()) return;
  Blocked blocked;
  for (const std::string& entry : blocked_) blocked.add(entry);
  for (const PatternReach& reach : blocked_widely_) blocked.add(reach);
  std::erase_if(taken_, [&](const Taken& taken) {
    if (!blocked.has(taken.entry)) return false;
    left_out_.push_back(
        {taken.file, taken.line, taken.item, "it may also list a sender that is blocked or excepted there"});
    return true;
  });
}

void read_foreign(ForeignKind kind, std::string_view text, ForeignList& list) {
  constexpr std::array<void (*)(std::string_view, ForeignList&), kForeignKinds> kReaders = {
      read_spamassassin, read_rspamd, read_postfix, read_exim, read_directory, read_tenant, read_amavis};
  list.begin_file();
  kReaders[static_cast<std::size_t>(kind)](ascii::without_byte_order_mark(text), list);
}

}  // namespace bloomgate
