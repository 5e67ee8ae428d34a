// The lists in which a decision looks senders up, as the daemon has loaded them. These are views: the lists must
// outlive the decision. Everything is immutable except the damage of a whitelist; safe from any thread.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "filter/layout/filter_view.hpp"
#include "milter/policy/confirmation.hpp"
#include "milter/policy/exact_list.hpp"

namespace bloomgate {

// What a decision needs from a loaded whitelist. Implementations are immutable except for the damage, which a look-up
// in any thread may find at any moment; once true, damaged() stays true.
class Whitelist {
 public:
  virtual ~Whitelist() = default;
  virtual const FilterView& view() const noexcept = 0;
  virtual bool damaged() const noexcept = 0;

  // The question to the store about the key of an address that the bits have. Nothing: there is no store, and the hit
  // counts unconfirmed.
  virtual std::optional<StoreQuestion> question_about(std::string_view /*key*/) const noexcept { return std::nullopt; }

  // Whether any entry has that neighbours key (filter/domains/neighbours.hpp). False if the whitelist does not keep
  // these keys.
  virtual bool has_neighbours(std::string_view /*neighbours_key*/) const noexcept { return false; }
};

struct NamedWhitelist {
  std::string_view
      name;  // for header fields and logs: letters, digits, dots, hyphens, underscores; with layers a slash
  const Whitelist* whitelist = nullptr;  // null: configured, but not loaded
};

// What a decision needs from the senders that were learned from outgoing mail. Learner (milter/learning) implements it,
// and so does `explain`, from the file. Look-ups are in memory. What is learned or forgotten meanwhile may become
// visible at any moment.
class LearnedSenders {
 public:
  virtual ~LearnedSenders() = default;

  // Whether the user has written to the sender within the retention time. Both are keys of addresses, with case folded;
  // the user's is without a tag.
  virtual bool is_learned(std::string_view user, std::string_view sender) const noexcept = 0;

  // Whether any user has written to an address of that canonical domain within the retention time.
  virtual bool has_sender_domain(std::string_view domain) const noexcept = 0;
};

// A sender is listed if one whitelist, or `extra`, has it. A whitelist that is missing or damaged lists no sender, and
// the others still count; a missing `extra` lists no sender. Without `revoked` the daemon does not know which senders
// to hold back, and without `opt-out` for which recipients. So if one of the two is configured but missing, the daemon
// delivers nothing.
struct Lists {
  std::span<const NamedWhitelist> whitelists = {};  // in the order in which they are asked
  const ExactList* revoked = nullptr;
  const ExactList* extra = nullptr;
  bool revoked_is_configured = false;
  const LearnedSenders* learned = nullptr;  // null: nothing is learned
  const ExactList* opt_out = nullptr;       // of recipients
  bool opt_out_is_configured = false;

  // Whether a recipient may have opted out: some have, or the list that records it is missing.
  bool has_opt_outs() const noexcept { return opt_out != nullptr ? opt_out->size() != 0 : opt_out_is_configured; }

  // Whether a sender may be listed for one recipient only.
  bool list_by_pairs() const noexcept {
    return (extra != nullptr && extra->holds_pairs()) ||
           std::ranges::any_of(whitelists, [](const NamedWhitelist& each) {
             return each.whitelist != nullptr && each.whitelist->view().holds_pairs();
           });
  }

  // Whether a sender may be listed with a signer.
  bool list_with_signers() const noexcept {
    return (extra != nullptr && extra->holds_signers()) ||
           std::ranges::any_of(whitelists, [](const NamedWhitelist& each) {
             return each.whitelist != nullptr && each.whitelist->view().holds_signers();
           });
  }

  // Whether a sender may be listed or revoked for one recipient only.
  bool hold_pairs() const noexcept { return list_by_pairs() || (revoked != nullptr && revoked->holds_pairs()); }

  // Whether a decision may depend on the recipients.
  bool ask_for_recipients() const noexcept { return hold_pairs() || has_opt_outs(); }
};

}  // namespace bloomgate
