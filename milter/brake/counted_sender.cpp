#include "milter/brake/counted_sender.hpp"

#include "milter/policy/look_up.hpp"
#include "milter/policy/look_up_recipients.hpp"
#include "milter/policy/senders.hpp"
#include "milter/policy/signed_route.hpp"

namespace bloomgate {
namespace {

void set(CountedSender::Key& out, const Entry& entry) noexcept {
  if (entry.kind() == EntryKind::address) out.append(entry.key());
}

// The same message can come with the envelope sender that the whole domain's entry lists.
bool is_listed_by_itself(const Facts& facts, const Lists& lists, const Senders& senders) noexcept {
  const Listing listing = look_up(lists, facts, senders.from_path(), senders.from(), nullptr);
  return listing.is_listed && listing.entry.view().empty();
}

}  // namespace

CountedSender counted_sender(const Facts& facts, const Decision& decision, const Lists& lists,
                             const Policy& policy) noexcept {
  CountedSender counted;
  const Senders senders(facts, policy);
  const AddressProfile profile = widest_profile(lists);
  const Entry from = canonicalize_path(senders.from().key(), profile);
  if (decision.identity == IdentityKind::mailing_list) {
    const Entry list = mailing_list_of(facts);
    counted.is_shared = true;
    counted.key = decision.entry;
    CountedSender::Key& own = decision.entry.view().empty() ? counted.key : counted.address;
    if (decision.entry.view() != list.key()) own.append(list.key());
    set(counted.from, from);
    return counted;
  }
  const bool is_of_envelope = decision.identity == IdentityKind::envelope && decision.proof != ProofOf::covered_from;
  const Entry& sender = is_of_envelope ? senders.identity() : senders.from();
  const Entry address = canonicalize_path(sender.key(), profile);
  set(counted.tagged, canonicalize_path(sender.key(), {.tag_separators = kUsualTagSeparators}));
  if (is_of_envelope && from.key() != address.key()) set(counted.from, from);
  const bool is_shared = !decision.entry.view().empty() &&
                         !(decision.proof == ProofOf::covered_from && is_listed_by_itself(facts, lists, senders));
  if (!is_shared) {
    counted.key.append(address.key());
    return counted;
  }
  counted.key = decision.entry;
  counted.is_shared = true;
  counted.address.append(address.key());
  return counted;
}

CountedUsers users_of(std::span<const std::string_view> recipients, bool are_too_many, TagSeparators delimiter) {
  CountedUsers users = {.names = {}, .are_all_known = !are_too_many};
  for (const std::string_view path : recipients) {
    const Entry user = canonicalize_path(path, {.tag_separators = delimiter});
    users.are_all_known = users.are_all_known && names_one_recipient(user);
    if (user.kind() != EntryKind::address) continue;
    users.names.emplace_back(user.key());
    // The mail server may have a delimiter that it was not told here.
    std::string untagged = counted_recipient(path, delimiter);
    if (untagged != users.names.back()) users.names.push_back(std::move(untagged));
  }
  return users;
}

std::string counted_recipient(std::string_view path, TagSeparators delimiter) {
  const Entry user = canonicalize_path(path, {.tag_separators = delimiter | kUsualTagSeparators});
  return std::string(user.kind() == EntryKind::address ? user.key() : path);
}

}  // namespace bloomgate
