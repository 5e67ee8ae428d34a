// Who a message claims to be from, in canonical form: its envelope sender as it arrived, the original sender behind
// BATV and SRS, and the mailbox of its From field. The first step of decide(); pure, noexcept. Safe from any thread.
#pragma once

#include <string_view>

#include "filter/address/address.hpp"
#include "milter/fields/rewritten_sender.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

// Canonical in the form of the exact lists: case folded, tags kept. Whitelists have their own profiles, so the paths
// are kept, too.
class Senders {
 public:
  // The facts must outlive the object, and have an envelope sender.
  Senders(const Facts& facts, const Policy& policy) noexcept;
  Senders(const Senders&) = delete;
  Senders& operator=(const Senders&) = delete;

  // The envelope sender as it arrived; any kind that canonicalize_path() returns.
  const Entry& envelope() const noexcept { return envelope_; }
  std::string_view envelope_path() const noexcept { return envelope_path_; }

  // What was rewritten, and the original sender behind it. The original sender is not an address if nothing was
  // rewritten, or if the result is invalid.
  const RewrittenSender& rewritten() const noexcept { return rewritten_; }
  const Entry& behind() const noexcept { return behind_; }
  // Whether the original sender replaces the envelope sender as identity. It does not if BATV was undone and the policy
  // does not allow that. Steps that forbid delivery examine the original sender in any case.
  bool is_replaced() const noexcept { return is_replaced_; }

  // The envelope sender that is an identity: the original sender, if it replaces the envelope sender.
  const Entry& identity() const noexcept { return is_replaced_ ? behind_ : envelope_; }

  // The From mailbox; not an address if there is not exactly one, and then from_fault() says why.
  const Entry& from() const noexcept { return from_; }
  std::string_view from_path() const noexcept { return from_path_; }
  bool has_from() const noexcept { return from_.kind() == EntryKind::address; }
  Reason from_fault() const noexcept;

 private:
  std::string_view envelope_path_;
  std::string_view from_path_;
  HeaderFromKind from_kind_;
  Entry envelope_;
  RewrittenSender rewritten_;
  Entry behind_;
  bool is_replaced_ = false;
  Entry from_;
};

}  // namespace bloomgate
