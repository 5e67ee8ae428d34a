#include "milter/policy/look_up.hpp"

#include <algorithm>

#include "filter/address/tag_separators.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kExcluded = "excluded";  // in the trace

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
    case Match::mailing_list:
    case Match::mailing_list_tree:
      return Reason::listed_mailing_list;
    case Match::with_signer:
      return Reason::listed_with_signer;
  }
  return Reason::internal_error;
}

// A whitelist has the address in its bits; `sender` is the address in the whitelist's own form.
Listing confirmed(const NamedWhitelist& named, const Facts& facts, const Entry& sender, Trace* trace) noexcept {
  Listing listing = {.is_listed = true, .reason = Reason::listed, .list = named.name};
  const std::optional<StoreQuestion> question = named.whitelist->question_about(sender.key());
  if (!question) return listing;
  const std::optional<Confirmation> confirmation = listing.confirmation = facts.reply_to(*question);
  if (trace != nullptr) {
    const std::string_view outcome = confirmation ? confirmation_name(*confirmation) : "not-asked";
    trace->add("confirm", named.name, sender.key(), outcome);
  }
  if (!confirmation) listing.question = question;
  if (!confirmation || *confirmation == Confirmation::yes) return listing;
  // A domain entry is exact, and lists the address whatever the result for the address itself.
  const FoundEntry by_domain = named.whitelist->view().find_by_domain(sender.key().substr(sender.local_part().size()));
  if (by_domain.is_listed()) {
    const FixedText<kMaxKeyBytes> entry = by_domain.domain_entry();
    if (trace != nullptr)
      trace->add("whitelist", named.name, sender.key(), match_name(by_domain.match), {.entry = entry.view()});
    return {true, reason_of(by_domain.match), named.name, entry};
  }
  listing.is_listed = false;
  listing.reason = reason_of(*confirmation);
  if (*confirmation == Confirmation::no) listing.list = {};
  return listing;
}

Listing look_up(const NamedWhitelist& named, const Facts& facts, std::string_view path, Trace* trace) noexcept {
  const auto note = [&](std::string_view key, std::string_view outcome, std::string_view entry = {}) {
    if (trace != nullptr) trace->add("whitelist", named.name, key, outcome, {.entry = entry});
  };
  if (named.whitelist == nullptr) {
    note({}, reason_name(Reason::no_whitelist));
    return {false, Reason::no_whitelist, named.name};
  }
  // The key is made as the file requires: its builder made the entries that way.
  const FilterView& filter = named.whitelist->view();
  const Entry sender = canonicalize_path(path, filter.shape().profile);
  const FoundEntry found = filter.find(sender);
  // This look-up may itself have found the damage.
  if (named.whitelist->damaged()) {
    note(sender.key(), reason_name(Reason::whitelist_damaged));
    return {false, Reason::whitelist_damaged, named.name};
  }
  Listing listing = {found.is_listed(), reason_of(found.match), found.is_listed() ? named.name : std::string_view(),
                     found.domain_entry()};
  // All its bits are set, but the builder was told that it is a non-member.
  const bool is_known_stranger = found.is_excluded && !found.is_listed();
  note(sender.key(), is_known_stranger ? kExcluded : match_name(found.match), listing.entry.view());
  const bool is_hit = found.match == Match::address;
  if (is_hit) listing = confirmed(named, facts, sender, trace);
  listing.draws = {.look_ups = 1, .hits = is_hit ? 1U : 0U};
  listing.profile = filter.shape().profile;
  return listing;
}

}  // namespace

Reason reason_of(Confirmation confirmation) noexcept {
  switch (confirmation) {
    case Confirmation::yes:
      return Reason::listed;
    case Confirmation::no:
      return Reason::not_listed;
    case Confirmation::timeout:
      return Reason::confirm_timeout;
    case Confirmation::busy:
      return Reason::confirm_busy;
    case Confirmation::damaged:
      return Reason::confirm_damaged;
    case Confirmation::unreadable:
      break;
  }
  return Reason::confirm_unreadable;
}

Listing look_up(const Lists& lists, const Facts& facts, std::string_view path, const Entry& entry,
                Trace* trace) noexcept {
  if (lists.extra != nullptr && lists.extra->size() != 0) {
    const FoundEntry found = lists.extra->find(entry, separators_of_extra(lists));
    Listing listing = {true, Reason::listed_extra, kExtraName, found.domain_entry()};
    listing.profile.tag_separators = separators_of_extra(lists);
    if (trace != nullptr)
      trace->add("extra", {}, entry.key(), match_name(found.match), {.entry = listing.entry.view()});
    if (found.is_listed()) return listing;
  }
  Listing result;
  Draws draws;
  for (const NamedWhitelist& each : lists.whitelists) {
    Listing listing = look_up(each, facts, path, trace);
    listing.draws = draws += listing.draws;
    if (listing.is_listed) return listing;
    result.draws = draws;
    if (result.reason != Reason::not_listed) continue;
    const std::optional<Confirmation> before = result.confirmation;
    result = listing;
    if (!result.confirmation) result.confirmation = before;
  }
  return result;
}

Listing look_up_domain(const Lists& lists, const Entry& address, Trace* trace) noexcept {
  const auto listing_of = [&](std::string_view list, const FoundEntry& found) {
    const Listing listing = {true, list == kExtraName ? Reason::listed_extra : reason_of(found.match), list,
                             found.domain_entry()};
    if (trace != nullptr)
      trace->add("domain", list, address.domain(), match_name(found.match), {.entry = listing.entry.view()});
    return listing;
  };
  if (lists.extra != nullptr) {
    const FoundEntry found = lists.extra->find_by_domain(address);
    if (found.is_listed()) return listing_of(kExtraName, found);
  }
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr) continue;
    const std::string_view domain_key = address.key().substr(address.local_part().size());
    const FoundEntry found = each.whitelist->view().find_by_domain(domain_key);
    if (found.is_listed() && !each.whitelist->damaged()) return listing_of(each.name, found);
  }
  return {};
}

Listing look_up_mailing_list(const Lists& lists, const Entry& list, Trace* trace) noexcept {
  const auto listing_of = [&](std::string_view name, const FoundEntry& found) {
    if (trace != nullptr) {
      trace->add("mailing-list", name, list.key(), match_name(found.match), {.entry = found.domain_entry().view()});
    }
    return Listing{found.is_listed(), found.is_listed() ? Reason::listed_mailing_list : Reason::not_listed, name,
                   found.domain_entry()};
  };
  if (lists.extra != nullptr && lists.extra->size() != 0) {
    if (const Listing listing = listing_of(kExtraName, lists.extra->find(list)); listing.is_listed) return listing;
  }
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr || each.whitelist->view().domains().empty()) continue;
    const Listing listing = listing_of(each.name, each.whitelist->view().find(list));
    if (listing.is_listed && !each.whitelist->damaged()) return listing;
  }
  return {};
}

Listing look_up_with_signer(const Lists& lists, std::string_view path, const Entry& entry, std::string_view signer,
                            Trace* trace) noexcept {
  const auto listing_of = [&](std::string_view name, std::string_view key, const SignerKey& found) {
    Listing listing = {!found.view().empty(), Reason::listed_with_signer, name};
    if (listing.is_listed) {
      const std::string_view listed = sides_of_signer_key(found.view()).entry;
      if (listed.starts_with('@') || is_mailing_list_key(listed)) listing.entry.append(listed);
    }
    if (trace != nullptr) {
      trace->add("with-signer", signer, key,
                 listing.is_listed ? match_name(Match::with_signer) : match_name(Match::none), {.entry = found.view()});
    }
    return listing;
  };
  if (lists.extra != nullptr && lists.extra->holds_signers()) {
    const SignerKey found = lists.extra->find_with_signer(entry, signer, separators_of_extra(lists));
    if (const Listing listing = listing_of(kExtraName, entry.key(), found); listing.is_listed) return listing;
  }
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr || !each.whitelist->view().holds_signers()) continue;
    const FilterView& filter = each.whitelist->view();
    const Entry own = entry.kind() == EntryKind::address ? canonicalize_path(path, filter.shape().profile) : entry;
    const Listing listing = listing_of(each.name, own.key(), filter.find_with_signer(own.key(), signer));
    if (listing.is_listed && !each.whitelist->damaged()) return listing;
  }
  return {};
}

std::optional<Listing> find_fault(const Lists& lists) noexcept {
  if (lists.revoked_is_configured && lists.revoked == nullptr) return Listing{false, Reason::no_revoked_list};
  if (lists.extra != nullptr && lists.extra->size() != 0) return std::nullopt;
  if (lists.learned != nullptr) return std::nullopt;
  Listing fault = {false, Reason::no_whitelist};
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr) continue;
    if (!each.whitelist->damaged()) return std::nullopt;
    if (fault.reason == Reason::no_whitelist) fault = {false, Reason::whitelist_damaged, each.name};
  }
  return fault;
}

TagSeparators separators_of_extra(const Lists& lists) noexcept {
  std::uint32_t bits = TagSeparators::kAllBits;
  bool any = false;
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist == nullptr) continue;
    bits &= each.whitelist->view().shape().profile.tag_separators.bits();
    any = true;
  }
  return TagSeparators::from_bits(any ? bits : 0);
}

AddressProfile common_profile(const Lists& lists) noexcept {
  const bool keeps_case = std::ranges::any_of(lists.whitelists, [](const NamedWhitelist& each) {
    return each.whitelist != nullptr && each.whitelist->view().shape().profile.keep_local_part_case;
  });
  return {.keep_local_part_case = keeps_case, .tag_separators = separators_of_extra(lists)};
}

AddressProfile widest_profile(const Lists& lists) noexcept {
  return {.keep_local_part_case = false, .tag_separators = separators_of_revoked(lists)};
}

TagSeparators separators_of_revoked(const Lists& lists) noexcept {
  TagSeparators all = kUsualTagSeparators;
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist != nullptr) all = all | each.whitelist->view().shape().profile.tag_separators;
  }
  return all;
}

}  // namespace bloomgate
