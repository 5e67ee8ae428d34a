#include "milter/policy/look_up.hpp"

#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kExtraName = "extra";

Reason reason_of(Match match) noexcept {
  switch (match) {
    case Match::none:
      return Reason::not_listed;
    case Match::address:
      return Reason::listed;
    case Match::domain:
      return Reason::listed_domain;
    case Match::domain_tree:
      return Reason::listed_domain_tree;
  }
  return Reason::internal_error;
}

// The separators that all whitelists have.
TagSeparators common_separators(const Lists& lists) noexcept {
  std::uint32_t bits = TagSeparators::kAllBits;
  bool any = false;
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr) continue;
    bits &= each.whitelist->view().shape().profile.tag_separators.bits();
    any = true;
  }
  return TagSeparators::from_bits(any ? bits : 0);
}

Listing look_up(const NamedWhitelist& named, std::string_view path, Trace* trace) noexcept {
  const auto note = [&](std::string_view key, std::string_view outcome, std::string_view entry = {}) {
    if (trace != nullptr) trace->add("whitelist", named.name, key, outcome, entry);
  };
  if (named.whitelist == nullptr) {
    note({}, reason_name(Reason::no_whitelist));
    return {false, Reason::no_whitelist, named.name};
  }
  // The key is made as the file says: its builder made the entries that way.
  const FilterView& filter = named.whitelist->view();
  const Entry sender = canonicalize_path(path, filter.shape().profile);
  const FoundEntry found = filter.find(sender);
  // This look-up may itself have met the damage.
  if (named.whitelist->damaged()) {
    note(sender.key(), reason_name(Reason::whitelist_damaged));
    return {false, Reason::whitelist_damaged, named.name};
  }
  const Listing listing = {found.is_listed(), reason_of(found.match),
                           found.is_listed() ? named.name : std::string_view(), found.domain_entry()};
  note(sender.key(), match_name(found.match), listing.entry.view());
  return listing;
}

}  // namespace

Listing look_up(const Lists& lists, std::string_view path, const Entry& entry, Trace* trace) noexcept {
  if (lists.extra != nullptr && lists.extra->size() != 0) {
    const FoundEntry found = lists.extra->find(entry, common_separators(lists));
    const Listing listing = {true, Reason::listed_extra, kExtraName, found.domain_entry()};
    if (trace != nullptr) trace->add("extra", {}, entry.key(), match_name(found.match), listing.entry.view());
    if (found.is_listed()) return listing;
  }
  Listing result;
  for (const NamedWhitelist& each : lists.whitelists) {
    const Listing listing = look_up(each, path, trace);
    if (listing.is_listed) return listing;
    if (result.reason == Reason::not_listed) result = listing;
  }
  return result;
}

std::optional<Listing> find_fault(const Lists& lists) noexcept {
  if (lists.revoked_is_configured && lists.revoked == nullptr) return Listing{false, Reason::no_revoked_list};
  if (lists.extra != nullptr && lists.extra->size() != 0) return std::nullopt;
  Listing fault = {false, Reason::no_whitelist};
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr) continue;
    if (!each.whitelist->damaged()) return std::nullopt;
    if (fault.reason == Reason::no_whitelist) fault = {false, Reason::whitelist_damaged, each.name};
  }
  return fault;
}

TagSeparators all_separators(const Lists& lists) noexcept {
  TagSeparators all;
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist != nullptr) all = all | each.whitelist->view().shape().profile.tag_separators;
  }
  return all;
}

}  // namespace bloomgate
