// Reads rspamd's answer to /checkv2 (docs.rspamd.com/developers/protocol). Accepts any bytes. Pure; safe from any
// thread.
#pragma once

#include <string_view>

#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// Leaves `server` and `failures` empty. If the action is not one of rspamd's own, the score decides. Throws
// CheckerError if the answer is unreliable, and std::bad_alloc. At worst it takes about fifty times the memory of the
// text.
DeepResult parse_rspamd_reply(std::string_view json);

}  // namespace bloomgate
