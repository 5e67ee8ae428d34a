#include "milter/brake/counted_sender.hpp"

#include "milter/policy/look_up.hpp"
#include "milter/policy/senders.hpp"

namespace bloomgate {

CountedSender counted_sender(const Facts& facts, const Decision& decision, const Lists& lists,
                             const Policy& policy) noexcept {
  CountedSender counted;
  if (!decision.entry.view().empty()) {
    counted.key = decision.entry;
    counted.is_shared = true;
    return counted;
  }
  const Senders senders(facts, policy);
  const Entry& sender = decision.identity == IdentityKind::envelope ? senders.identity() : senders.from();
  counted.key.append(canonicalize_path(sender.key(), widest_profile(lists)).key());
  return counted;
}

}  // namespace bloomgate
