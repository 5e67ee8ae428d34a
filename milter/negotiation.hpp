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
  std::string missing;         // what we cannot do without and the mail server does not offer, in words; else empty
};

// No more than is needed: the client's address and greeting, MAIL and the headers, without a reply to any of them, and
// the end of the message. Actions only where `mode` is enforce.
MilterRequest milter_request(const MilterOffer& offer, Mode mode);

}  // namespace bloomgate
