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

struct MilterRequest {
  unsigned long actions = 0;
  unsigned long steps = 0;
  bool choose_macros = false;  // the mail server lets us name the macros that we want
  bool may_skip_body = false;  // it can be told that no more of a body is wanted
  std::string missing;         // what we cannot do without and the mail server does not offer, in words; else empty
};

// What is done with messages, beside looking at their senders.
struct MilterUse {
  Mode mode = Mode::enforce;
  bool deep_check = false;  // the whole message is wanted, with its recipients. Never while observing.
  bool quarantine = false;  // messages may be put into the mail server's quarantine
};

// No more than is needed: the client's address and greeting, MAIL and the headers, without a reply to any of them, and
// the end of the message; for a deeper check the recipients and the body, too, whose parts are replied to, so that the
// rest of it can be done without. Actions only where the mode is enforce.
MilterRequest milter_request(const MilterOffer& offer, const MilterUse& use);

}  // namespace bloomgate
