#include "filter/foreign/foreign_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/ingest/postfix_map_format.hpp"

namespace bloomgate {
namespace {

constexpr std::array<std::string_view, kForeignKinds> kNames = {"spamassassin", "rspamd", "postfix",  "amavis",
                                                                "exim",         "ldif",   "microsoft"};

// access(5), by the reader that `bloomgate build --format postfix-map` has.
void read_postfix(std::string_view text, ForeignList& list) {
  const PostfixMapFormat format;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    const ListLine read = format.read({}, line, {});
    if (read.entry.kind() == EntryKind::blank) continue;
    if (read.entry.kind() == EntryKind::rejected) {
      list.leave_out(number, line, read.fault.name);
    } else {
      list.take(number, line, {.text = entry_text(read.entry.key())}, true);
    }
  }
}

constexpr std::array kFirstWords = {
    std::pair{std::string_view("dn:"), ForeignKind::ldif},
    std::pair{std::string_view("version: 1"), ForeignKind::ldif},
    std::pair{std::string_view("@whitelist_sender_maps"), ForeignKind::amavis},
    std::pair{std::string_view("@score_sender_maps"), ForeignKind::amavis},
    std::pair{std::string_view("@author_to_policy_bank_maps"), ForeignKind::amavis},
};

bool is_of_spamassassin(std::string_view line) noexcept {
  for (const std::string_view start : {"un", "def_"}) {
    if (line.starts_with(start)) line.remove_prefix(start.size());
  }
  return std::ranges::any_of(std::array<std::string_view, 4>{"welcomelist_", "whitelist_", "blocklist_", "blacklist_"},
                             [&](std::string_view word) { return line.starts_with(word); });
}

bool is_of_tenant(std::string_view line) noexcept {
  return line.find("Value") != std::string_view::npos && line.find("Action") != std::string_view::npos &&
         line.find(',') != std::string_view::npos;
}

}  // namespace

std::string_view name_of(ForeignKind kind) noexcept {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<ForeignKind> foreign_kind_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ForeignKind>(found - kNames.begin());
}

std::optional<ForeignKind> recognise(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::string_view line = ascii::trimmed(take_line(text), " \t");
    if (is_of_spamassassin(line)) return ForeignKind::spamassassin;
    if (is_of_tenant(line)) return ForeignKind::microsoft;
    for (const auto& [word, kind] : kFirstWords) {
      if (line.starts_with(word)) return kind;
    }
  }
  return std::nullopt;
}

void ForeignList::take(std::uint64_t line, std::string_view item, SenderEntry entry, bool was_unproven) {
  if (entry.text.empty()) return leave_out(line, item, entry.fault);
  taken_.push_back({line, std::string(item), std::move(entry.text), entry.width, was_unproven});
}

void ForeignList::leave_out(std::uint64_t line, std::string_view item, std::string_view reason) {
  left_out_.push_back({line, std::string(item), reason});
}

void ForeignList::take_back(std::uint64_t line, std::string_view item, const SenderEntry& entry) {
  if (entry.text.empty()) return leave_out(line, item, entry.fault);
  const auto removed = std::erase_if(taken_, [&](const Taken& taken) { return taken.item == item; });
  if (removed == 0) leave_out(line, item, "it takes back what no line before it lists");
}

void read_foreign(ForeignKind kind, std::string_view text, ForeignList& list) {
  text = ascii::without_byte_order_mark(text);
  switch (kind) {
    case ForeignKind::spamassassin:
      return read_spamassassin(text, list);
    case ForeignKind::rspamd:
      return read_rspamd(text, list);
    case ForeignKind::postfix:
      return read_postfix(text, list);
    case ForeignKind::amavis:
      return read_amavis(text, list);
    case ForeignKind::exim:
      return read_exim(text, list);
    case ForeignKind::ldif:
      return read_directory(text, list);
    case ForeignKind::microsoft:
      return read_tenant(text, list);
  }
}

}  // namespace bloomgate
