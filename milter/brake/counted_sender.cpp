#include "milter/brake/counted_sender.hpp"

#include "milter/policy/look_up.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {

CountedSender counted_sender(const Facts& facts, const Decision& decision, const Lists& lists,
                             const Policy& policy) noexcept {
  CountedSender counted;
  const Senders senders(facts, policy);
  const Entry& sender = decision.identity == IdentityKind::envelope ? senders.identity() : senders.from();
  const Entry address = canonicalize_path(sender.key(), widest_profile(lists));
  if (decision.entry.view().empty()) {
    counted.key.append(address.key());
    return counted;
  }
  counted.key = decision.entry;
  counted.is_shared = true;
  if (decision.identity != IdentityKind::mailing_list) counted.address.append(address.key());
  return counted;
}

}  // namespace bloomgate
