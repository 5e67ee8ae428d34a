// Reads rspamd's answer to /checkv2 (docs.rspamd.com/developers/protocol). Any bytes may come. Pure; safe from any
// thread.
#pragma once

#include <string_view>

#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"

namespace bloomgate {

// Leaves `server` and `failures` empty. An action that is not rspamd's own counts by the score. Throws CheckerError
// where it is not an answer to be relied upon, std::bad_alloc. Memory is some fifty times the text's, at worst.
DeepResult parse_rspamd_reply(std::string_view json);

}  // namespace bloomgate
