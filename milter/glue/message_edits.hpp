// Applies the result to a message at its end, through libmilter: removes and adds header fields, puts the message into
// quarantine, or refuses it. Used by callbacks.cpp, in the callback for the end of a message.
//
// This is glue.
#pragma once

#include "milter/judge/answer.hpp"

struct smfi_str;

namespace bloomgate {

// Makes the edits. Returns false if the mail server did not accept all of them. Then the message must neither be lost
// nor be accepted, since a forged field may still be on it.
bool carry_out(smfi_str* context, const Edits& edits) noexcept;

// Makes libmilter's answer that refuses the message.
int refuse(smfi_str* context, const Refusal& refusal) noexcept;

}  // namespace bloomgate
