// Reads what SpamAssassin's spamd answers (its PROTOCOL, version 1.5):
//
//     SPAMD/1.1 0 EX_OK
//     Content-length: 14
//     Spam: True ; 15.0 / 5.0
//
//     BAYES_99,GTUBE
//
// Accepts any bytes. Pure; safe from any thread.
#pragma once

#include <string_view>

#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// `reply` is the whole answer to SYMBOLS. Leaves `server` and `failures` empty. Throws CheckerError if the answer is
// unreliable (a refusal, a partial answer, an invalid one), and std::bad_alloc.
DeepResult parse_spamd_reply(std::string_view reply);

// Checks the answer to PING. Throws CheckerError if it is anything else.
void require_pong(std::string_view reply);

}  // namespace bloomgate
