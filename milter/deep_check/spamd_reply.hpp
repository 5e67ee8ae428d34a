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

// The whole answer to SYMBOLS. Leaves `server` and `failures` empty. Throws CheckerError if the answer cannot be relied
// upon (a refusal, a partial answer, nonsense), and std::bad_alloc.
DeepResult parse_spamd_reply(std::string_view reply);

// The answer to PING. Throws CheckerError if it is something else.
void require_pong(std::string_view reply);

}  // namespace bloomgate
