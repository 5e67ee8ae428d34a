#include "milter/policy/opt_out.hpp"

#include <string_view>

#include "milter/policy/look_up.hpp"
#include "milter/policy/look_up_recipients.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

bool has_opted_out(const Lists& lists, const Entry& address, TagSeparators delimiter) noexcept {
  if (lists.opt_out == nullptr) return lists.opt_out_is_configured;
  return lists.opt_out->find(address, separators_of_revoked(lists) | delimiter).is_listed();
}

std::optional<Reason> find_opt_out(const Facts& facts, const Lists& lists, TagSeparators delimiter,
                                   Trace* trace) noexcept {
  if (!lists.has_opt_outs()) return std::nullopt;
  if (lists.opt_out == nullptr) return Reason::no_opt_out_list;
  const Recipients& recipients = facts.recipients;
  const TagSeparators separators = separators_of_revoked(lists) | delimiter;
  bool are_all_known = recipients.are_known();
  for (const std::string_view path : recipients.paths) {
    const Entry recipient = canonicalize_path(path);
    const bool is_one = names_one_recipient(recipient);
    const FoundEntry found = is_one ? lists.opt_out->find(recipient, separators) : FoundEntry();
    if (trace != nullptr) {
      trace->add("opt-out", path, recipient.key(),
                 found.is_listed() ? match_name(found.match)
                 : is_one          ? "no"
                                   : reason_name(Reason::recipients_unknown),
                 {.entry = found.domain_entry().view()});
    }
    if (found.is_listed()) return Reason::opted_out;
    are_all_known = are_all_known && is_one;
  }
  if (are_all_known) return std::nullopt;
  return recipients.state == Recipients::State::too_many ? Reason::too_many_recipients : Reason::recipients_unknown;
}

}  // namespace bloomgate
