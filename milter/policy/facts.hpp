// What is known about a message when it is decided. Collected by the daemon's recorder, or by `explain` from a given
// message; a plain value, used by one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/ip_network.hpp"
#include "milter/fields/authentication.hpp"
#include "milter/fields/grounds.hpp"
#include "milter/fields/header_from.hpp"
#include "milter/fields/signatures.hpp"
#include "milter/policy/confirmation.hpp"
#include "milter/policy/hold.hpp"

namespace bloomgate {

// Where the message arrived. The views must outlive the decision.
struct Origin {
  std::optional<IpAddress> client = {};  // nothing: unknown, or not over IP
  std::string_view daemon_name = {};     // the mail server's listener, its macro {daemon_name}; empty: not reported
  bool logged_in = false;                // with SASL: its macro {auth_authen} is not empty
};

// With more recipients, none of them is looked up. A mail server has to accept this many (RFC 5321, section 4.5.3.1.8),
// and each costs at most 2 senders times 324 look-ups in a whitelist.
inline constexpr std::size_t kMostPairRecipients = 100;

// The recipients of the message, as far as the daemon knows them. Pairs and opt-outs depend on them. The views must
// outlive this object.
//
// Pairs list a sender only if all recipients are known: an unknown recipient may have no pair with the sender.
struct Recipients {
  enum class State : std::uint8_t {
    unknown,   // the daemon has not asked for them
    all,       // `paths` has all of them
    too_many,  // more than could be kept, or one too long
  };

  State state = State::unknown;
  // As in the RCPT commands, without angle brackets, in their order. A later step of the mail server may have refused
  // some of them.
  std::span<const std::string_view> paths = {};

  bool are_known() const noexcept { return state == State::all && !paths.empty(); }
};

struct Facts {
  // The path of the MAIL command, as the mail server passed it: `<joe@example.org>`. Nothing: there was no command.
  // Must outlive the decision.
  std::optional<std::string_view> envelope_sender = {};
  HeaderFrom header_from = {};
  Authentication authentication = {};
  Origin origin = {};
  // A program or a mailing list has sent it, according to its Auto-Submitted, Precedence or List-Id field.
  bool is_automatic = false;
  // It is a bounce by its content, whatever its envelope sender: a report (RFC 6522), an automatic answer, or from a
  // MAILER-DAEMON. It may have text that its sender did not write.
  bool is_bounce = false;
  // A field holds a control character, at which some program may end a line.
  bool is_header_ambiguous = false;
  // What the message's own signatures claim; null if unknown. Must outlive the decision.
  const Grounds* grounds = nullptr;
  // What our own verifier found; nothing if it was not asked.
  std::optional<Signatures> signatures = {};
  // The stores' answers. At most one for each sender and whitelist, and with pairs one more for each recipient.
  std::vector<StoreReply> replies = {};
  // For pairs, for recipients who have opted out, and for the brake.
  Recipients recipients = {};
  // Of the first Message-ID field, without white space; empty: there is none. Must outlive the decision.
  std::string_view message_id = {};
  // What the brake says. It is asked after a decision to deliver, which tells it the sender to count.
  Hold hold = Hold::none;

  // Nothing if the question was not asked.
  std::optional<Confirmation> reply_to(const StoreQuestion& question) const noexcept {
    const auto reply = std::ranges::find(replies, question, &StoreReply::question);
    return reply == replies.end() ? std::nullopt : std::optional(reply->confirmation);
  }
};

}  // namespace bloomgate
