#include "milter/policy/look_up_learned.hpp"

#include "filter/address/address.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kListName = "learned";

}  // namespace

std::optional<Listing> look_up_learned(const Lists& lists, const Facts& facts, TagSeparators recipient_delimiter,
                                       const Entry& sender, Trace* trace) noexcept {
  if (lists.learned == nullptr || sender.kind() != EntryKind::address || !facts.recipients.are_known()) return {};
  const std::span<const std::string_view> paths = facts.recipients.paths;
  if (paths.size() > kMostPairRecipients) return {};
  ForRecipients found = {.recipients = static_cast<std::uint16_t>(paths.size())};
  RecipientSet listed_for;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string_view path = paths[i];
    const Entry user = canonicalize_path(path, {.tag_separators = recipient_delimiter});
    const bool is_learned = user.kind() == EntryKind::address && lists.learned->is_learned(user.key(), sender.key());
    listed_for.set(i, is_learned);
    found.listed = static_cast<std::uint16_t>(found.listed + (is_learned ? 1 : 0));
    if (trace != nullptr) trace->add("learned", path, sender.key(), is_learned ? "yes" : "no");
  }
  if (found.listed == 0) return {};
  const bool for_all = found.listed == found.recipients;
  return Listing{.is_listed = for_all,
                 .reason = for_all ? Reason::learned : Reason::not_listed_for_all,
                 .list = kListName,
                 .for_recipients = found,
                 .listed_for = listed_for};
}

}  // namespace bloomgate
