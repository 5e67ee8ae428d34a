// What to ask of the mail server when it connects: the bits of the milter protocol's option negotiation. Pure; used by
// callbacks.cpp.
#pragma once

#include <string>

#include "config/daemon_options.hpp"

namespace bloomgate {

// The bits are SMFIF_* (actions) and SMFIP_* (steps) of libmilter.
struct MilterOffer {
  unsigned long actions = 0;
  unsigned long steps = 0;
};

// What is agreed for the messages of a connection.
struct Conversation {
  bool may_skip_body = false;      // the mail server can skip the rest of a body if told so
  bool tells_recipients = false;   // RCPT commands come, and get no reply
  bool tells_body = false;         // the end of the header comes, and gets no reply; the body comes
  bool has_leading_space = false;  // values of header fields come and go with the space after the colon
};

struct MilterRequest : Conversation {
  unsigned long actions = 0;
  unsigned long steps = 0;
  bool choose_macros = false;  // the mail server lets us name the macros that we need
  std::string missing;         // what we need and the mail server does not offer, in words; else empty
};

// What the daemon does with messages, besides looking at their senders.
struct MilterUse {
  Mode mode = Mode::enforce;
  bool deep_check = false;  // it needs the whole message, with its recipients; never while observing
  bool recipients = false;  // it looks at whom messages are for
  bool verify = false;      // it may need a message's signatures verified: the header as it was sent, and the body
  bool learn = false;       // it may look at the first bytes of a body
  bool quarantine = false;  // it may put messages into the mail server's quarantine
};

// Asks for no more than is needed: the client's address and greeting, MAIL and the headers, without a reply to any of
// them, and the end of the message. A deeper check also needs the recipients and the body, lists with pairs need the
// recipients, signatures and learning the body; parts of the body get a reply, so that the rest can be skipped. Actions
// only if the mode is enforce.
MilterRequest milter_request(const MilterOffer& offer, const MilterUse& use);

}  // namespace bloomgate
