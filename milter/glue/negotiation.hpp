// What to request from the mail server when it connects: the bits of the milter protocol's option negotiation. Pure;
// used by callbacks.cpp.
#pragma once

#include <string>

#include "config/daemon_options.hpp"

namespace bloomgate {

// The bits are SMFIF_* (actions) and SMFIP_* (steps) of libmilter.
struct MilterOffer {
  unsigned long actions = 0;
  unsigned long steps = 0;
};

// What was negotiated for the messages of a connection.
struct Conversation {
  bool may_skip_body = false;      // the mail server can skip the rest of a body if told so
  bool tells_recipients = false;   // RCPT commands are sent, and get no reply
  bool tells_body = false;         // the end of the header is sent, and gets no reply; the body is sent
  bool has_leading_space = false;  // values of header fields include the space after the colon, in both directions
};

struct MilterRequest : Conversation {
  unsigned long actions = 0;
  unsigned long steps = 0;
  bool choose_macros = false;  // the mail server lets us choose the macros that we need
  std::string missing;         // what we need but the mail server does not offer, in words; else empty
};

// What the daemon does with messages, besides looking at their senders.
struct MilterUse {
  Mode mode = Mode::enforce;
  bool deep_check = false;  // needs the whole message, with its recipients; never while observing
  bool recipients = false;  // looks at the recipients of messages
  bool verify = false;      // may verify signatures: needs the header as it was sent, and the body
  bool learn = false;       // may look at the first bytes of a body
  bool quarantine = false;  // may put messages into the mail server's quarantine
};

// Requests no more than is needed: the client's address and greeting, MAIL and the headers, without a reply to any of
// them, and the end of the message. A deeper check also needs the recipients and the body, lists with pairs need the
// recipients, signatures and learning need the body. Parts of the body get a reply, so that the rest can be skipped.
// Actions are requested only in mode enforce.
MilterRequest milter_request(const MilterOffer& offer, const MilterUse& use);

}  // namespace bloomgate
