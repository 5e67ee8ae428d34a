// The messages that `doctor --send` sends: a genuine one that was saved, a forged copy of it, and one of an unlisted
// sender. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

struct Probe {
  std::string sender;   // the envelope sender, without brackets
  std::string content;  // with CRLF line ends
};

// A message as a mail program or a mailbox has saved it. The fields that the delivery has added are removed
// (Return-Path, Delivered-To, X-Original-To, X-Bloomgate, Authentication-Results); everything that may be signed stays.
// The sender is that of Return-Path, or else that of the From field; empty if there is none.
Probe genuine_probe(std::string_view saved);

// The same message with another body, which no signature covers, and with forged fields that call it genuine in the
// name of `server`, the mail server's own name.
Probe forged_probe(const Probe& genuine, std::string_view server);

// A message from an invented sender. `word` makes that sender different each time.
Probe unlisted_probe(std::string_view word, std::string_view recipient);

// The queue ID in a mail server's reply to a message (Postfix and Sendmail); empty if there is none.
std::string queue_id_of(std::string_view reply);

// What logs say about a message; members for which they say nothing are empty.
struct MessageFate {
  std::string decision;
  std::string reason;
  std::string delivery;  // "relay=… status=…" of Postfix
};

// The milter in the last log line that says Postfix could not reach one, with the reason:
// `unix:/run/bloomgate/milter.sock: Connection refused`. Empty if there is no such line.
std::string unreached_milter(std::string_view log);

// Uses all lines of `log` that have the queue ID.
MessageFate fate_of(std::string_view log, std::string_view queue_id);

}  // namespace bloomgate
