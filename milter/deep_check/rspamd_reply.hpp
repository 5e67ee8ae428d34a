// Reads rspamd's answer to /checkv2 (docs.rspamd.com/developers/protocol). Any bytes may come. Pure; safe from any
// thread.
#pragma once

#include <string_view>

#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// Leaves `server` and `failures` empty. For an action that is not rspamd's own, the score decides. Throws CheckerError
// if the answer cannot be relied upon, and std::bad_alloc. At worst it takes some fifty times the text's memory.
DeepResult parse_rspamd_reply(std::string_view json);

}  // namespace bloomgate
