// Passes the client and the envelope to SpamAssassin. Its protocol has no fields for them, so they become header fields
// before the message, as a mail server would have written them. Pure; safe from any thread.
#pragma once

#include <ctime>
#include <string>

#include "milter/message/envelope.hpp"

namespace bloomgate {

// Returns Return-Path and, if the client has an address, Received. The latter has the form that SpamAssassin knows from
// Sendmail, with "with ESMTPA" for a client that has logged in (RFC 3848), and the sender in a comment. Every line ends
// with CR LF. No text from the client can look like another part of the field. Throws std::bad_alloc.
std::string received_fields(const Envelope& envelope, std::time_t now);

}  // namespace bloomgate
