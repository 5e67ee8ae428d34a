#include "milter/policy/senders.hpp"

#include <algorithm>

namespace bloomgate {

Senders::Senders(const Facts& facts, const Policy& policy) noexcept
    : envelope_path_(*facts.envelope_sender),
      from_path_(facts.header_from.address),
      from_kind_(facts.header_from.kind),
      envelope_(canonicalize_path(envelope_path_)),
      rewritten_(undo_rewriting(envelope_path_, policy.trusted_forwarders)) {
  if (rewritten_.is_undone()) behind_ = canonicalize_path(rewritten_.path());
  is_replaced_ = behind_.kind() == EntryKind::address &&
                 (policy.undo_batv || std::ranges::count(rewritten_.layers(), Rewriting::batv) == 0);
  if (from_kind_ == HeaderFromKind::one_mailbox) from_ = canonicalize_path(from_path_);
}

Reason Senders::from_fault() const noexcept {
  switch (from_kind_) {
    case HeaderFromKind::absent:
      return Reason::no_header_from;
    case HeaderFromKind::several_fields:
      return Reason::several_from_fields;
    case HeaderFromKind::several_mailboxes:
      return Reason::several_from_mailboxes;
    case HeaderFromKind::no_mailbox:
      return Reason::no_from_mailbox;
    case HeaderFromKind::one_mailbox:  // folding made it too long
    case HeaderFromKind::malformed:
      break;
  }
  return Reason::malformed_from;
}

}  // namespace bloomgate
