// Asks one spamd, the server of SpamAssassin, for its verdict on a message. Uses the command SYMBOLS of the protocol
// SPAMC 1.5: its answer names the tests that hit, and does not depend on the site's own report template. Called by
// Checkers; safe from any thread.
#pragma once

#include "config/deep_check_options.hpp"
#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/message/envelope.hpp"
#include "milter/message/message_text.hpp"

namespace bloomgate {

// The most bytes of an answer; usual answers have some hundred.
inline constexpr std::size_t kMaxSpamdReplyBytes = std::size_t{64} << 10;

// Throws CheckerError, MessageTextError, std::bad_alloc.
DeepResult ask_spamd(const DeepCheckServer& server, const Envelope& envelope, const MessageText& message,
                     Deadline deadline);

// Returns if the server answers at all. Throws CheckerError, std::bad_alloc.
void ping_spamd(const DeepCheckServer& server, Deadline deadline);

}  // namespace bloomgate
