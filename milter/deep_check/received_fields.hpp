// What SpamAssassin is told of the client and the envelope: its protocol has no place for them, so they stand as header
// fields before the message, as a mail server would have written them. Pure; safe from any thread.
#pragma once

#include <ctime>
#include <string>

#include "milter/message/envelope.hpp"

namespace bloomgate {

// Return-Path, and, where the client has an address, Received: the latter in the form in which SpamAssassin knows
// Sendmail's, with "with ESMTPA" for a client that has logged in (RFC 3848), and the sender in a comment. Every line
// ends with CR LF. Nothing of the client's can pass for another part of the field. Throws std::bad_alloc.
std::string received_fields(const Envelope& envelope, std::time_t now);

}  // namespace bloomgate
