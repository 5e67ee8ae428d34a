// Asks one rspamd for its verdict on a message, by HTTP: POST /checkv2 to its normal worker
// (docs.rspamd.com/developers/protocol). Called by Checkers; safe from any thread.
#pragma once

#include "config/deep_check_options.hpp"
#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/message/envelope.hpp"
#include "milter/message/message_text.hpp"

namespace bloomgate {

// Throws CheckerError, MessageTextError, std::bad_alloc.
DeepResult ask_rspamd(const DeepCheckServer& server, const Envelope& envelope, const MessageText& message,
                      Deadline deadline);

// Returns if the server answers at all. Throws CheckerError, std::bad_alloc.
void ping_rspamd(const DeepCheckServer& server, Deadline deadline);

}  // namespace bloomgate
