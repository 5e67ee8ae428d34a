// Reads what SpamAssassin's spamd answers (its PROTOCOL, version 1.5):
//
//     SPAMD/1.1 0 EX_OK
//     Content-length: 14
//     Spam: True ; 15.0 / 5.0
//
//     BAYES_99,GTUBE
//
// Any bytes may come. Pure; safe from any thread.
#pragma once

#include <string_view>

#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// The answer to SYMBOLS, whole. Leaves `server` and `failures` empty. Throws CheckerError where it is not an answer to
// be relied upon: a refusal, a part of one, nonsense; std::bad_alloc.
DeepResult parse_spamd_reply(std::string_view reply);

// The answer to PING. Throws CheckerError where it is something else.
void require_pong(std::string_view reply);

}  // namespace bloomgate
