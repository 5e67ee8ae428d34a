// The messages that `--doctor --send` sends: a saved genuine one, the same forged, and one of an unlisted sender. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

struct Probe {
  std::string sender;   // the envelope sender, without brackets
  std::string content;  // with CRLF line ends
};

// A message as a mail program or a mailbox has saved it. The fields that the delivery has put in are left out
// (Return-Path, Delivered-To, X-Original-To, X-Bloomgate, Authentication-Results), and all that may be signed stays.
// The sender is that of Return-Path, else that of the From field; empty if there is none.
Probe genuine_probe(std::string_view saved);

// The same with another body, which no signature covers, and with fields that say it is genuine all the same, in the
// name of `server`, the mail server's own.
Probe forged_probe(const Probe& genuine, std::string_view server);

// From a made-up sender. `word` makes it another one each time.
Probe unlisted_probe(std::string_view word, std::string_view recipient);

// The queue ID in a mail server's reply to a message (Postfix and Sendmail); empty if there is none.
std::string queue_id_of(std::string_view reply);

// What logs say of a message; members that nothing was found of are empty.
struct MessageFate {
  std::string decision;
  std::string reason;
  std::string delivery;  // "relay=… status=…" of Postfix
};

// What the last line of the log says in which Postfix could not reach a milter: `unix:/run/bloomgate/milter.sock:
// Connection refused`. Empty if there is none.
std::string unreached_milter(std::string_view log);

// From all lines of `log` that have the queue ID.
MessageFate fate_of(std::string_view log, std::string_view queue_id);

}  // namespace bloomgate
